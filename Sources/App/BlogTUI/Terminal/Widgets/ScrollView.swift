/// A step through something longer than the screen.
package enum Motion: CaseIterable, Hashable, Sendable {
  /// One row down.
  case down
  /// One row up.
  case up
  /// Half a screenful down.
  case halfPageDown
  /// Half a screenful up.
  case halfPageUp
  /// One screenful down.
  case pageDown
  /// One screenful up.
  case pageUp
  /// To the first row.
  case top
  /// To the last row.
  case bottom

  /// The number of the row that the motion leads to; it can be before the first or behind the last.
  ///
  /// - Parameters:
  ///   - row: The number of the present row.
  ///   - page: The number of rows of a page.
  ///   - count: The number of all rows.
  /// - Returns: The number of the row.
  func target(from row: Int, page: Int, count: Int) -> Int {
    switch self {
    case .down: row + 1
    case .up: row - 1
    case .halfPageDown: row + max(1, page / 2)
    case .halfPageUp: row - max(1, page / 2)
    case .pageDown: row + page
    case .pageUp: row - page
    case .top: 0
    case .bottom: count
    }
  }
}

extension ListView {
  /// Moves the selection; a page is as long as what is in view.
  mutating func move(_ motion: Motion) {
    move(to: motion.target(from: selectedIndex ?? 0, page: pageLength, count: ids.count))
  }
}

extension ScrollView {
  /// Scrolls.
  mutating func move(_ motion: Motion) {
    scroll(to: motion.target(from: top, page: capacity, count: lines.count))
  }
}

/// The scroll position of a text that is longer than the space for it.
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
