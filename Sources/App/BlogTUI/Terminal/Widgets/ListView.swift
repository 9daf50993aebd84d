/// The state of a list: which row is selected, and which rows are in view.
///
/// Both are kept by identifier and never by number, so rows that come and go elsewhere do not move
/// what the user reads. Rows have the same height, except those that are given another; rows that
/// begin a section have a line above them, unless they are the first in view.
package struct ListView<ID: Hashable & Sendable>: Hashable, Sendable {
  /// What a key did to the list.
  package enum Outcome: Hashable, Sendable {
    /// The list does not use the key.
    case ignored
    /// The selection or the view moved, or the key had no further to go.
    case moved
    /// The user opens the selected row.
    case opened(ID)
  }

  /// The identifiers of the rows, from top to bottom.
  package private(set) var ids: [ID] = []
  /// The selected row; nil only if the list is empty.
  package private(set) var selection: ID?
  /// The number of rows above the first visible one.
  package private(set) var top = 0
  /// The number of rows that fit in view where no section begins.
  package private(set) var capacity = 1
  /// The number of screen lines of each row.
  package private(set) var rowHeight: Int

  private var selected = 0
  /// The rows that begin a section.
  private var sectionStarts: Set<ID> = []
  /// The number of screen lines of the rows that have another height than the usual one.
  private var heights: [ID: Int] = [:]
  /// The number of screen lines.
  private var height = 1

  /// Makes a list; rows have at least one line.
  package init(ids: [ID] = [], rowHeight: Int = 1) {
    self.rowHeight = max(1, rowHeight)
    update(ids: ids)
  }

  /// The number of the selected row.
  package var selectedIndex: Int? { ids.isEmpty ? nil : selected }
  /// The numbers of the rows in view; of rows with heights of their own, the last one may be cut.
  ///
  /// - Complexity: O(n) in the number of rows in view.
  package var visibleRange: Range<Int> {
    guard !isUniform else { return top..<min(ids.count, top + capacity) }
    guard !ids.isEmpty else { return 0..<0 }
    var end = top + 1
    // The end of the row before, and how much of the next row has to fit.
    var line = height(of: top)
    while end < ids.count {
      let start = line + (sectionStarts.contains(ids[end]) ? 1 : 0)
      line = start + height(of: end)
      if heights.isEmpty ? line > height : start >= height { break }
      end += 1
    }
    return top..<end
  }
  /// The identifiers of the rows in view.
  package var visibleIDs: ArraySlice<ID> { ids[visibleRange] }

  /// Gives each row that many lines, at least one; ``resize(to:)`` then tells how many fit.
  package mutating func setRowHeight(_ height: Int) {
    rowHeight = max(1, height)
  }

  /// Tells the list how much room it has; the selection stays in view.
  package mutating func resize(to size: Size) {
    height = max(1, size.height)
    capacity = max(1, size.height / rowHeight)
    reveal()
  }

  /// Replaces the rows; what is selected stays selected and stays on its line of the screen.
  ///
  /// If the selected row is gone, the next one that is left is selected, else the previous one.
  ///
  /// - Parameters:
  ///   - new: The identifiers of the rows, from top to bottom.
  ///   - newStarts: The rows that begin a section.
  ///   - newHeights: The number of screen lines, at least one, of rows with a height of their own.
  /// - Complexity: O(n) in the number of rows.
  package mutating func update(
    ids new: [ID],
    sectionStarts newStarts: Set<ID> = [],
    heights newHeights: [ID: Int] = [:]
  ) {
    guard new != ids || newStarts != sectionStarts || newHeights != heights else { return }
    let lines = selectedLine
    selected = newIndex(in: new)
    ids = new
    sectionStarts = newStarts
    heights = newHeights
    selection = ids.isEmpty ? nil : ids[selected]
    putSelection(atLine: lines)
    reveal()
  }

  /// The new index of the selected row, or else of the next remaining row, or else of the previous
  /// one.
  private func newIndex(in new: [ID]) -> Int {
    guard !ids.isEmpty else { return 0 }
    // Usually it has only been shifted by rows inserted or removed above it.
    if let index = Self.index(of: ids[selected], in: new, near: selected) { return index }
    var indices: [ID: Int] = [:]
    for (index, id) in new.enumerated() where indices[id] == nil { indices[id] = index }
    let after = ids[selected...].lazy.compactMap { indices[$0] }.first
    return after ?? ids[..<selected].reversed().lazy.compactMap { indices[$0] }.first ?? 0
  }

  /// Searches for a row in both directions from its old index.
  private static func index(of id: ID, in ids: [ID], near guess: Int) -> Int? {
    var above = min(guess, ids.count) - 1
    var below = above + 1
    while above >= 0 || below < ids.count {
      if below < ids.count, ids[below] == id { return below }
      if above >= 0, ids[above] == id { return above }
      below += 1
      above -= 1
    }
    return nil
  }

  /// Selects the row and brings it into view; false if there is no such row.
  @discardableResult
  package mutating func select(_ id: ID) -> Bool {
    guard let index = ids.firstIndex(of: id) else { return false }
    move(to: index)
    return true
  }

  /// Selects the row of that number, or the nearest there is.
  package mutating func move(to index: Int) {
    guard !ids.isEmpty else { return }
    selected = min(max(0, index), ids.count - 1)
    selection = ids[selected]
    reveal()
  }

  /// Selects the row that many rows further down, or up if negative.
  package mutating func move(by count: Int) {
    move(to: selected + count)
  }

  /// How many rows a page has where the user is.
  package var pageLength: Int {
    guard !isUniform else { return capacity }
    let visible = visibleRange
    guard let last = visible.last, last > top, !heights.isEmpty else { return visible.count }
    let end = (top + 1...last).reduce(height(of: last)) { $0 + step(to: $1) }
    return end > height ? visible.count - 1 : visible.count
  }

  // MARK: Lines

  /// Whether every row takes the same number of lines.
  private var isUniform: Bool { sectionStarts.isEmpty && heights.isEmpty }

  /// The number of lines of a row, without the line of a section above it.
  private func height(of index: Int) -> Int { heights[ids[index]] ?? rowHeight }

  /// The number of lines from the beginning of the row before to the beginning of a row.
  private func step(to index: Int) -> Int {
    height(of: index - 1) + (sectionStarts.contains(ids[index]) ? 1 : 0)
  }

  /// The largest number of rows that can be in view.
  private var largestCount: Int { heights.isEmpty ? capacity : height }

  /// The number of lines above the selected row in view.
  private var selectedLine: Int {
    guard top < selected, !ids.isEmpty else { return 0 }
    guard !isUniform else { return (selected - top) * rowHeight }
    return (top + 1...selected).reduce(0) { $0 + step(to: $1) }
  }

  /// Scrolls so that the given number of lines, or slightly fewer, are above the selected row.
  private mutating func putSelection(atLine line: Int) {
    top = selected
    var above = 0
    while top > 0 {
      above += step(to: top)
      guard above <= line else { return }
      top -= 1
    }
  }

  private mutating func reveal() {
    top = max(0, min(top, selected))
    guard !ids.isEmpty else { return }
    // No more than what fits is ever looked at.
    top = max(top, selected - largestCount + 1)
    while top < selected, selectedLine + height(of: selected) > height { top += 1 }
    fillEnd()
  }

  /// Leaves no line empty below the last row as long as there are rows above the first.
  private mutating func fillEnd() {
    guard top > ids.count - largestCount else { return }
    var used = height(of: ids.count - 1)
    for index in stride(from: ids.count - 1, to: top, by: -1) { used += step(to: index) }
    while top > 0 {
      used += step(to: top)
      guard used <= height else { return }
      top -= 1
    }
  }
}

extension ListView {
  /// Moves the selection by the usual keys: arrows, `j k g G`, half pages and pages, the wheel.
  package mutating func handle(_ key: KeyEvent) -> Outcome {
    switch key {
    case .down, .character("j"), .control("n"): move(by: 1)
    case .up, .character("k"), .control("p"): move(by: -1)
    case .pageDown, .character(" "), .control("f"): move(by: capacity)
    case .pageUp, .control("b"): move(by: -capacity)
    case .control("d"): move(by: max(1, capacity / 2))
    case .control("u"): move(by: -max(1, capacity / 2))
    case .home, .character("g"): move(to: 0)
    case .end, .character("G"): move(to: ids.count - 1)
    case .mouse(let event):
      switch event.kind {
      case .wheelDown: move(by: 1)
      case .wheelUp: move(by: -1)
      case .press, .release: return .ignored
      }
    case .enter, .right, .character("l"):
      return selection.map { .opened($0) } ?? .ignored
    case .character, .control, .alt, .left, .controlLeft, .controlRight, .insert, .delete,
      .backspace, .tab, .backTab, .escape, .function, .paste, .resize:
      return .ignored
    }
    return .moved
  }

  /// A row in view.
  package struct Row {
    /// The row.
    package let id: ID
    package let isSelected: Bool
    /// Where it is, as far as it is in view.
    package let rect: Rect
    /// The number of its lines, in view or not.
    package let height: Int
    /// The line above it, if it begins a section there.
    package let section: Rect?
  }

  /// The rows in view, when the list is drawn in a rectangle.
  ///
  /// - Parameter rect: The room that ``resize(to:)`` was told about; rows are cut at its end.
  /// - Returns: The rows from top to bottom.
  package func rows(in rect: Rect) -> [Row] {
    rects(in: rect).compactMap { index, full in
      let visible = full.intersection(rect)
      guard !visible.isEmpty else { return nil }
      let beginsSection = index > top && sectionStarts.contains(ids[index])
      let line = Rect(row: full.row - 1, column: rect.column, width: rect.width, height: 1)
      return Row(
        id: ids[index],
        isSelected: index == selected,
        rect: visible,
        height: full.height,
        section: beginsSection ? line : nil
      )
    }
  }

  /// The row under a cell of the screen when the list is drawn in the rectangle.
  package func id(at position: Position, in rect: Rect) -> ID? {
    guard rect.contains(position) else { return nil }
    return rects(in: rect).first { $0.rect.contains(position) }.map { ids[$0.index] }
  }

  /// The rows in view and where they are.
  private func rects(in rect: Rect) -> [(index: Int, rect: Rect)] {
    var line = rect.row
    return visibleRange.map { index in
      if index > top, sectionStarts.contains(ids[index]) { line += 1 }
      let height = height(of: index)
      defer { line += height }
      return (index, Rect(row: line, column: rect.column, width: rect.width, height: height))
    }
  }

  /// Draws the rows in view, each by the closure in a rectangle of its own.
  ///
  /// The cursor goes to the selected row, so that screen readers follow it.
  ///
  /// - Parameters:
  ///   - screen: The screen.
  ///   - rect: The room that ``resize(to:)`` was told about.
  ///   - row: Draws one row: its identifier, whether it is selected, and its rectangle.
  package func draw(
    on screen: inout Screen,
    in rect: Rect,
    row: (inout Screen, ID, Bool, Rect) -> Void
  ) {
    for shown in rows(in: rect) {
      row(&screen, shown.id, shown.isSelected, shown.rect)
      if shown.isSelected { screen.cursor = shown.rect.origin }
    }
  }
}
