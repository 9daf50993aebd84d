/// The state of a list: which row is selected, and which rows are in view.
///
/// Both are kept by identifier and never by number, so rows that come and go elsewhere do not move
/// what the user reads. All rows have the same height.
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
  /// The number of rows that fit in view.
  package private(set) var capacity = 1
  /// The number of screen lines of each row.
  package private(set) var rowHeight: Int

  private var selected = 0

  /// Makes a list; rows have at least one line.
  package init(ids: [ID] = [], rowHeight: Int = 1) {
    self.rowHeight = max(1, rowHeight)
    update(ids: ids)
  }

  /// The number of the selected row.
  package var selectedIndex: Int? { ids.isEmpty ? nil : selected }
  /// The numbers of the rows in view.
  package var visibleRange: Range<Int> { top..<min(ids.count, top + capacity) }
  /// The identifiers of the rows in view.
  package var visibleIDs: ArraySlice<ID> { ids[visibleRange] }

  /// Gives each row that many lines, at least one; ``resize(to:)`` then tells how many fit.
  package mutating func setRowHeight(_ height: Int) {
    rowHeight = max(1, height)
  }

  /// Tells the list how much room it has; the selection stays in view.
  package mutating func resize(to size: Size) {
    capacity = max(1, size.height / rowHeight)
    reveal()
  }

  /// Replaces the rows; what is selected stays selected and stays on its line of the screen.
  ///
  /// If the selected row is gone, the next one that is left is selected, else the previous one.
  ///
  /// - Complexity: O(n) in the number of rows.
  package mutating func update(ids new: [ID]) {
    guard new != ids else { return }
    let offset = selected - top
    var places: [ID: Int] = [:]
    for (index, id) in new.enumerated() where places[id] == nil { places[id] = index }
    let after = ids.isEmpty ? nil : ids[selected...].lazy.compactMap { places[$0] }.first
    let before =
      ids.isEmpty ? nil : ids[..<selected].reversed().lazy.compactMap { places[$0] }.first
    ids = new
    selected = after ?? before ?? 0
    selection = ids.isEmpty ? nil : ids[selected]
    top = selected - offset
    reveal()
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

  private mutating func reveal() {
    top = min(top, selected)
    top = max(top, selected - capacity + 1)
    top = max(0, min(top, ids.count - capacity))
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

  /// The row under a cell of the screen when the list is drawn in the rectangle.
  package func id(at position: Position, in rect: Rect) -> ID? {
    guard rect.contains(position) else { return nil }
    let index = top + (position.row - rect.row) / rowHeight
    return visibleRange.contains(index) ? ids[index] : nil
  }

  /// Draws the visible rows, each by the closure in a rectangle of its own.
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
    for index in visibleRange {
      let line = rect.row + (index - top) * rowHeight
      let place = Rect(row: line, column: rect.column, width: rect.width, height: rowHeight)
        .intersection(rect)
      guard !place.isEmpty else { continue }
      row(&screen, ids[index], index == selected, place)
      if index == selected { screen.cursor = place.origin }
    }
  }
}
