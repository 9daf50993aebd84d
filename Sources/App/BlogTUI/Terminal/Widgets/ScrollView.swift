/// A movement through something longer than the screen.
package enum Motion: CaseIterable, Hashable, Sendable {
  case down
  case up
  case halfPageDown
  case halfPageUp
  case pageDown
  case pageUp
  case top
  case bottom

  private static let keys: [KeyEvent: Motion] = [
    .down: .down, .character("j"): .down, .control("n"): .down,
    .up: .up, .character("k"): .up, .control("p"): .up,
    .control("d"): .halfPageDown, .control("u"): .halfPageUp,
    .pageDown: .pageDown, .character(" "): .pageDown, .control("f"): .pageDown,
    .pageUp: .pageUp, .control("b"): .pageUp,
    .home: .top, .character("g"): .top, .end: .bottom, .character("G"): .bottom,
  ]

  /// The motion of a key that usually has one where no configuration says otherwise.
  init?(_ key: KeyEvent) {
    guard let motion = Self.keys[key] else { return nil }
    self = motion
  }

  /// The index of the row to which the motion leads; it may be before the first or after the last.
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
  /// Moves the selection; a page is as long as the part in view.
  mutating func move(_ motion: Motion) {
    move(to: motion.target(from: selectedIndex ?? 0, page: pageLength, count: ids.count))
  }
}

extension ScrollView {
  /// Scrolls by a motion, keeping the text in view.
  mutating func move(_ motion: Motion) {
    scroll(to: motion.target(from: top, page: capacity, count: lines.count))
  }
}

/// The scroll position of a text that is longer than the space for it.
package struct ScrollView: Hashable, Sendable {
  /// The lines of the text, already wrapped to the width of the view.
  package private(set) var lines: [SafeText] = []
  /// The number of lines above the first visible one.
  package private(set) var top = 0
  /// The number of lines that fit in view.
  package private(set) var capacity = 1

  package var visibleRange: Range<Int> { top..<min(lines.count, top + capacity) }

  /// Replaces the lines; the number of lines above the view stays the same if possible.
  package mutating func update(lines new: [SafeText]) {
    lines = new
    scroll(to: top)
  }

  package mutating func resize(to size: Size) {
    capacity = max(1, size.height)
    scroll(to: top)
  }

  /// Scrolls the line with that index to the top, or as near to it as the text allows.
  package mutating func scroll(to line: Int) {
    top = max(0, min(line, lines.count - capacity))
  }
}
