/// The state of a list: which row is selected, and which rows are in view.
///
/// Both are stored as identifiers rather than indices, so rows that come and go elsewhere do not
/// move what the user reads. Rows have the same height, except those with a height of their own; a
/// row that begins a section has a line above it, unless it is the first in view.
package struct ListView<ID: Hashable & Sendable>: Hashable, Sendable {
  /// The identifiers of the rows, from top to bottom.
  package private(set) var ids: [ID] = []
  /// The selected row; nil only if the list is empty.
  package private(set) var selection: ID?
  /// The number of rows above the first visible one.
  package private(set) var top = 0
  /// The number of rows that fit in view if none of them begins a section.
  package private(set) var capacity = 1
  /// The number of screen lines of each row.
  package private(set) var rowHeight: Int

  private var selected = 0
  private var sectionStarts: Set<ID> = []
  /// The number of screen lines of the rows that have a height of their own.
  private var heights: [ID: Int] = [:]
  /// The number of screen lines of the view.
  private var height = 1

  /// Makes a list; a row height below one counts as one.
  package init(ids: [ID] = [], rowHeight: Int = 1) {
    self.rowHeight = max(1, rowHeight)
    update(ids: ids)
  }

  package var selectedIndex: Int? { ids.isEmpty ? nil : selected }
  /// The indices of the rows in view; with individual row heights, the last row may be cut off.
  ///
  /// - Complexity: O(n) in the number of rows in view
  package var visibleRange: Range<Int> {
    guard !isUniform else { return top..<min(ids.count, top + capacity) }
    guard !ids.isEmpty else { return 0..<0 }
    var end = top + 1
    // The end of the previous row, and how much of the next one has to fit.
    var line = height(of: top)
    while end < ids.count {
      let start = line + (sectionStarts.contains(ids[end]) ? 1 : 0)
      line = start + height(of: end)
      if heights.isEmpty ? line > height : start >= height { break }
      end += 1
    }
    return top..<end
  }
  package var visibleIDs: ArraySlice<ID> { ids[visibleRange] }

  /// Sets the number of lines of each row, at least one; call ``resize(to:)`` afterwards.
  package mutating func setRowHeight(_ height: Int) {
    rowHeight = max(1, height)
  }

  /// Sets the size of the view; the selection stays in view.
  package mutating func resize(to size: Size) {
    height = max(1, size.height)
    capacity = max(1, size.height / rowHeight)
    reveal()
  }

  /// Replaces the rows; the selected row stays selected and stays on its line of the screen.
  ///
  /// If it is gone, the next remaining row is selected, or otherwise the previous one. Only rows
  /// with a height of their own, of at least one line, need one here.
  ///
  /// - Complexity: O(n) in the number of rows
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

  /// The new index of the selected row, or otherwise of the next remaining row, or otherwise of the
  /// previous one.
  private func newIndex(in new: [ID]) -> Int {
    guard !ids.isEmpty else { return 0 }
    // Usually, rows inserted or removed above it have only shifted it.
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

  /// Selects the row and scrolls it into view; returns false if there is no such row.
  @discardableResult
  package mutating func select(_ id: ID) -> Bool {
    guard let index = ids.firstIndex(of: id) else { return false }
    move(to: index)
    return true
  }

  /// Selects the row with that index, or the nearest one.
  package mutating func move(to index: Int) {
    guard !ids.isEmpty else { return }
    selected = min(max(0, index), ids.count - 1)
    selection = ids[selected]
    reveal()
  }

  /// Selects the row that many rows further down, or further up if the number is negative.
  package mutating func move(by count: Int) {
    move(to: selected + count)
  }

  /// The number of rows of a page at the current position.
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

  /// The number of lines of a row, without the section line above it.
  private func height(of index: Int) -> Int { heights[ids[index]] ?? rowHeight }

  /// The number of lines from the start of the previous row to the start of this one.
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
    // Never measures more rows than fit.
    top = max(top, selected - largestCount + 1)
    while top < selected, selectedLine + height(of: selected) > height { top += 1 }
    fillEnd()
  }

  /// Leaves no line empty below the last row while there are rows above the first visible one.
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
  package struct Row {
    package let id: ID
    package let isSelected: Bool
    /// The part of its rectangle that is in view.
    package let rect: Rect
    /// The number of its lines, including those out of view.
    package let height: Int
    /// The line above it, if it begins a section and is not the first in view.
    package let section: Rect?
  }

  /// The rows in view from top to bottom, if the list is drawn in a rectangle of the size given to
  /// ``resize(to:)``; rows are clipped at its end.
  package func rows(in rect: Rect) -> [Row] {
    var line = rect.row
    return visibleRange.compactMap { index in
      let beginsSection = index > top && sectionStarts.contains(ids[index])
      if beginsSection { line += 1 }
      let start = line
      let height = height(of: index)
      line += height
      let full = Rect(row: start, column: rect.column, width: rect.width, height: height)
      let visible = full.intersection(rect)
      guard !visible.isEmpty else { return nil }
      let above = Rect(row: start - 1, column: rect.column, width: rect.width, height: 1)
      return Row(
        id: ids[index],
        isSelected: index == selected,
        rect: visible,
        height: full.height,
        section: beginsSection ? above : nil
      )
    }
  }
}
