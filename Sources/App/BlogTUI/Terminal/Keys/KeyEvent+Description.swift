extension KeyEvent: CustomStringConvertible {
  private static let names: [(KeyEvent, String)] = [
    (.up, "Up"), (.down, "Down"), (.left, "Left"), (.right, "Right"),
    (.controlLeft, "^Left"), (.controlRight, "^Right"), (.home, "Home"), (.end, "End"),
    (.pageUp, "PgUp"), (.pageDown, "PgDn"), (.insert, "Ins"), (.delete, "Del"),
    (.backspace, "Backspace"), (.tab, "Tab"), (.backTab, "S-Tab"), (.enter, "Enter"),
    (.escape, "Esc"), (.character(" "), "Space"),
  ]

  /// The key as the help screen names it: `j`, `^L`, `Esc`, `PgDn`, `F1`, `Alt-f`.
  package var description: String {
    if let name = Self.names.first(where: { $0.0 == self })?.1 { return name }
    switch self {
    case .character(let character): return String(character)
    case .control(let character): return "^" + character.uppercased()
    case .alt(let key): return "Alt-" + key.description
    case .function(let number): return "F\(number)"
    case .paste: return "Paste"
    case .mouse(let event):
      switch event.kind {
      case .press, .release: return "Click"
      case .wheelUp: return "WheelUp"
      case .wheelDown: return "WheelDown"
      }
    case .resize: return "Resize"
    case .up, .down, .left, .right, .controlLeft, .controlRight, .home, .end, .pageUp, .pageDown,
      .insert, .delete, .backspace, .tab, .backTab, .enter, .escape:
      return ""
    }
  }

  /// Makes the key of that name, or nil if no key has it.
  ///
  /// Pastes, the mouse and sizes have no name that can be read back.
  package init?(description: String) {
    if let key = Self.names.first(where: { $0.1 == description })?.0 {
      self = key
    } else if description.count == 1, let character = description.first {
      guard !character.isWhitespace else { return nil }
      self = .character(character)
    } else if description.hasPrefix("Alt-") {
      guard let key = KeyEvent(description: String(description.dropFirst(4))) else { return nil }
      self = .alt(key)
    } else if description.hasPrefix("^"), description.count == 2, let last = description.last {
      guard last.isASCII, last.isLetter || "@[\\]^_".contains(last) else { return nil }
      self = .control(Character(last.lowercased()))
    } else if description.hasPrefix("F"), let number = Int(description.dropFirst()) {
      guard (1...63).contains(number) else { return nil }
      self = .function(number)
    } else {
      return nil
    }
  }
}
