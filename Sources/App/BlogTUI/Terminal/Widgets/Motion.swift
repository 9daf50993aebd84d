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
