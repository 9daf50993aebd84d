/// Something that the user or the terminal did: a key, a paste, the mouse, a new size.
package enum KeyEvent: Hashable, Sendable {
  /// A character that can be typed, including a blank.
  case character(Character)
  /// The control key with a lower-case letter or one of `@ [ \ ] ^ _`.
  case control(Character)
  /// The Alt (Meta) key with another key.
  indirect case alt(KeyEvent)
  case up
  case down
  case left
  case right
  case controlLeft
  case controlRight
  case home
  case end
  case pageUp
  case pageDown
  case insert
  /// Delete, which removes the character after the cursor.
  case delete
  /// Backspace, which removes the character before the cursor.
  case backspace
  case tab
  case backTab
  case enter
  case escape
  /// A function key, counted from 1.
  case function(Int)
  /// Text pasted from the clipboard, exactly as the terminal sent it.
  case paste(String)
  case mouse(MouseEvent)
  case resize(Size)
}

/// An action of the mouse over a cell.
package struct MouseEvent: Hashable, Sendable, Codable {
  package enum Kind: Hashable, Sendable, Codable {
    /// The left button went down.
    case press
    /// The left button went up.
    case release
    /// The wheel turned away from the user.
    case wheelUp
    /// The wheel turned towards the user.
    case wheelDown
  }

  package let kind: Kind
  /// The cell under the pointer.
  package let position: Position
}

/// Why something that was typed or pasted cannot be read.
package enum UnreadableInput: Hashable, Sendable, CaseIterable {
  /// It is beyond ASCII, and the locale is not UTF-8.
  case notASCII
  /// It is not UTF-8, but the locale is.
  case notUTF8
}

/// What a terminal reports: keys, and whether the program still owns the terminal.
package enum TerminalEvent: Hashable, Sendable {
  /// A key, a paste, the mouse or a new size.
  case key(KeyEvent)
  /// Escape with a key right behind it: Alt with that key where this is bound, or else both keys.
  case escaped(KeyEvent)
  /// Something was typed or pasted that cannot be read; what can be read of a paste follows.
  case unreadable(UnreadableInput)
  /// The process was stopped and continues; everything has to be drawn again.
  case resumed
  /// Another thread called the waker, because it has left work for the program.
  case woken
  /// The terminal was closed; the program should save and exit.
  case hangUp
  /// The program received that signal and should exit.
  case terminate(signal: Int32)
}

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

  /// Makes the key with that name; nil if no key has it.
  ///
  /// Pastes, mouse events and sizes have no name that can be read back.
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

extension KeyEvent: Codable {
  private enum CodingKeys: String, CodingKey {
    case character, control, alt, function, paste, mouse, resize
  }

  /// Decodes a key: a string with its name, or an object if it has no name.
  ///
  /// - Throws: `DecodingError` if there is no such key.
  package init(from decoder: any Decoder) throws {
    if let name = try? decoder.singleValueContainer().decode(String.self) {
      guard let key = KeyEvent(description: name) else {
        throw Self.corrupted(decoder, because: "\"\(name)\" is not a key")
      }
      self = key
      return
    }
    let members = try decoder.container(keyedBy: CodingKeys.self)
    switch members.allKeys.first {
    case .character: self = .character(try Self.character(members, at: .character, from: decoder))
    case .control: self = .control(try Self.character(members, at: .control, from: decoder))
    case .alt: self = .alt(try members.decode(KeyEvent.self, forKey: .alt))
    case .function: self = .function(try members.decode(Int.self, forKey: .function))
    case .paste: self = .paste(try members.decode(String.self, forKey: .paste))
    case .mouse: self = .mouse(try members.decode(MouseEvent.self, forKey: .mouse))
    case .resize: self = .resize(try members.decode(Size.self, forKey: .resize))
    case nil: throw Self.corrupted(decoder, because: "there is no such kind of key")
    }
  }

  private static func character(
    _ members: KeyedDecodingContainer<CodingKeys>,
    at key: CodingKeys,
    from decoder: any Decoder
  ) throws -> Character {
    let text = try members.decode(String.self, forKey: key)
    guard let character = text.first, text.count == 1 else {
      throw corrupted(decoder, because: "\"\(text)\" is not one character")
    }
    return character
  }

  private static func corrupted(_ decoder: any Decoder, because reason: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: reason))
  }

  /// Encodes the key in the format that ``init(from:)`` decodes.
  package func encode(to encoder: any Encoder) throws {
    let name = description
    if KeyEvent(description: name) == self {
      var container = encoder.singleValueContainer()
      return try container.encode(name)
    }
    var members = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .character(let character): try members.encode(String(character), forKey: .character)
    case .control(let character): try members.encode(String(character), forKey: .control)
    case .alt(let key): try members.encode(key, forKey: .alt)
    case .function(let number): try members.encode(number, forKey: .function)
    case .paste(let text): try members.encode(text, forKey: .paste)
    case .mouse(let event): try members.encode(event, forKey: .mouse)
    case .resize(let size): try members.encode(size, forKey: .resize)
    case .up, .down, .left, .right, .controlLeft, .controlRight, .home, .end, .pageUp, .pageDown,
      .insert, .delete, .backspace, .tab, .backTab, .enter, .escape:
      // Each of them has a name.
      break
    }
  }
}
