/// The state of a text that is longer than the room for it: how far it is scrolled.
package struct ScrollView: Hashable, Sendable {
  /// What a key did to the view.
  package enum Outcome: Hashable, Sendable {
    /// The view does not use the key.
    case ignored
    /// The view moved, or the key had no further to go.
    case moved
  }

  /// The lines of the text, already as narrow as the room.
  package private(set) var lines: [SafeText] = []
  /// The number of lines above the first visible one.
  package private(set) var top = 0
  /// The number of lines that fit in view.
  package private(set) var capacity = 1

  /// Makes a view of lines, at its top.
  package init(lines: [SafeText] = []) {
    self.lines = lines
  }

  /// Whether the last line is in view.
  package var isAtEnd: Bool { top >= lines.count - capacity }
  /// The numbers of the lines in view.
  package var visibleRange: Range<Int> { top..<min(lines.count, top + capacity) }

  /// Replaces the lines; the number of lines above the view stays if possible.
  package mutating func update(lines new: [SafeText]) {
    lines = new
    scroll(to: top)
  }

  /// Tells the view how much room it has.
  package mutating func resize(to size: Size) {
    capacity = max(1, size.height)
    scroll(to: top)
  }

  /// Brings the line of that number to the top, or as near to it as the text allows.
  package mutating func scroll(to line: Int) {
    top = max(0, min(line, lines.count - capacity))
  }

  /// Scrolls as little as needed to have the line of that number in view.
  package mutating func reveal(_ line: Int) {
    if line < top { scroll(to: line) }
    if line >= top + capacity { scroll(to: line - capacity + 1) }
  }

  /// Scrolls by the usual keys: arrows, `j k g G`, half pages and pages, the wheel.
  package mutating func handle(_ key: KeyEvent) -> Outcome {
    switch key {
    case .down, .character("j"), .control("n"), .enter: scroll(to: top + 1)
    case .up, .character("k"), .control("p"): scroll(to: top - 1)
    case .pageDown, .character(" "), .control("f"): scroll(to: top + capacity)
    case .pageUp, .control("b"): scroll(to: top - capacity)
    case .control("d"): scroll(to: top + max(1, capacity / 2))
    case .control("u"): scroll(to: top - max(1, capacity / 2))
    case .home, .character("g"): scroll(to: 0)
    case .end, .character("G"): scroll(to: lines.count)
    case .mouse(let event):
      switch event.kind {
      case .wheelDown: scroll(to: top + 1)
      case .wheelUp: scroll(to: top - 1)
      case .press, .release: return .ignored
      }
    case .character, .control, .alt, .left, .right, .controlLeft, .controlRight, .insert, .delete,
      .backspace, .tab, .backTab, .escape, .function, .paste, .resize:
      return .ignored
    }
    return .moved
  }

  /// Draws the lines in view from the top of the rectangle.
  package func draw(on screen: inout Screen, in rect: Rect, style: Style = .plain) {
    screen.put(lines: lines[visibleRange], in: rect, style: style)
  }
}
