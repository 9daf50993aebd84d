/// A grid of cells in memory: what a terminal is meant to show, and where its cursor is.
///
/// Every drawing function clips at the edges and works on a screen of any size. A wide cluster
/// always has both its halves: what overwrites one half blanks the other.
package struct Screen: Hashable, Sendable {
  /// The number of columns and rows.
  package let size: Size
  /// Where the cursor is shown; nil hides it.
  package var cursor: Position?
  /// All the cells, row after row.
  private(set) var cells: [Cell]

  /// Makes a screen of blank cells.
  package init(size: Size) {
    self.size = size
    cells = Array(repeating: .blank, count: size.width * size.height)
  }

  /// The whole screen as a rectangle.
  package var bounds: Rect { Rect(size: size) }

  /// The cell at the position, or nil outside the screen.
  package subscript(position: Position) -> Cell? {
    bounds.contains(position) ? cells[index(position)] : nil
  }

  /// The cells of one row; empty outside the screen.
  package func row(_ row: Int) -> ArraySlice<Cell> {
    guard row >= 0 && row < size.height else { return [] }
    return cells[(row * size.width)..<((row + 1) * size.width)]
  }

  /// Draws the first line of the text and returns the number of columns it took.
  ///
  /// - Parameters:
  ///   - text: The text; what follows its first line break is not drawn.
  ///   - position: Where the text begins, possibly outside the clip.
  ///   - style: The colours and attributes.
  ///   - clip: Cells outside are left alone; the whole screen if nil.
  /// - Returns: The number of columns from the position to the end of what was drawn. Drawing stops
  ///   at the right edge, and a wide cluster that would cross it is drawn as a blank.
  @discardableResult
  package mutating func put(
    _ text: SafeText,
    at position: Position,
    style: Style = .plain,
    clip: Rect? = nil
  ) -> Int {
    let area = clip.map { bounds.intersection($0) } ?? bounds
    guard position.row >= area.row && position.row < area.endRow else { return 0 }
    let start = position.row * size.width
    var column = position.column
    for cluster in text.clusters[..<(text.lineBreaks.first ?? text.clusters.count)] {
      guard column < area.endColumn else { break }
      let end = column + cluster.width
      if column >= area.column && end <= area.endColumn {
        set(cluster, at: start + column, style: style)
      } else {
        for half in max(column, area.column)..<max(min(end, area.endColumn), area.column) {
          set(.space, at: start + half, style: style)
        }
      }
      column = min(end, area.endColumn)
    }
    return column - position.column
  }

  /// Draws the first line of the text into the first row of the rectangle, cut with the ellipsis.
  ///
  /// - Returns: The number of cells drawn.
  @discardableResult
  package mutating func put(
    _ text: SafeText,
    in rect: Rect,
    style: Style = .plain,
    aligned alignment: Alignment = .leading,
    ellipsis: SafeText = .ellipsis
  ) -> Int {
    guard !rect.isEmpty else { return 0 }
    let line = text.truncated(to: rect.width, ellipsis: ellipsis)
    guard alignment != .leading else { return put(line, at: rect.origin, style: style, clip: rect) }
    fill(rect.line(0), style: style)
    let missing = max(0, rect.width - line.width)
    let start = Position(
      row: rect.row,
      column: rect.column + (alignment == .center ? missing / 2 : missing)
    )
    put(line, at: start, style: style, clip: rect)
    let drawn = bounds.intersection(rect.line(0))
    return drawn.isEmpty ? 0 : drawn.endColumn - rect.column
  }

  /// Draws lines below each other from the top of the rectangle, as many as it has rows.
  package mutating func put(lines: some Sequence<SafeText>, in rect: Rect, style: Style = .plain) {
    for (index, line) in zip(0..<rect.height, lines) {
      put(line, at: Position(row: rect.row + index, column: rect.column), style: style, clip: rect)
    }
  }

  /// Draws another screen into the rectangle, cut at its edges; the cursor stays where it was.
  package mutating func put(_ other: Screen, in rect: Rect) {
    let area = bounds.intersection(rect)
    if rect.column >= 0, rect.endColumn <= size.width, other.size.width == rect.width {
      return copy(other, to: rect, in: area)
    }
    for row in area.row..<area.endRow {
      for column in area.column..<area.endColumn {
        let source = Position(row: row - rect.row, column: column - rect.column)
        guard let cell = other[source] else { continue }
        if cell.isContinuation, column > area.column { continue }
        let fits = cell.width == 1 || cell.width == 2 && column + 1 < area.endColumn
        let cluster = fits ? cell.cluster : .space
        set(cluster, at: row * size.width + column, style: cell.style)
      }
    }
  }

  /// Copies whole rows of a screen that is as wide as the rectangle.
  private mutating func copy(_ other: Screen, to rect: Rect, in area: Rect) {
    guard !area.isEmpty else { return }
    for row in area.row..<min(area.endRow, rect.row + other.size.height) {
      let start = row * size.width + rect.column
      // What is left of wide clusters on both sides of the edges goes, as the other screen has none.
      set(.space, at: start, style: cells[start].style)
      set(.space, at: start + rect.width - 1, style: cells[start + rect.width - 1].style)
      let source = (row - rect.row) * rect.width
      cells.withUnsafeMutableBufferPointer { cells in
        for index in 0..<rect.width { cells[start + index] = other.cells[source + index] }
      }
    }
  }

  /// Makes every cell of the rectangle a blank (or the given narrow cluster) of the style.
  package mutating func fill(_ rect: Rect, with cluster: Cluster = .space, style: Style = .plain) {
    let area = bounds.intersection(rect)
    let filler = cluster.width == 1 ? cluster : .space
    for row in area.row..<area.endRow {
      for column in area.column..<area.endColumn {
        set(filler, at: row * size.width + column, style: style)
      }
    }
  }

  /// Changes the style of every cell of the rectangle and keeps what the cells show.
  package mutating func restyle(_ rect: Rect, _ change: (Style) -> Style) {
    let area = bounds.intersection(rect)
    for row in area.row..<area.endRow {
      for column in area.column..<area.endColumn {
        let index = index(Position(row: row, column: column))
        cells[index] = cells[index].restyled(change(cells[index].style))
      }
    }
  }

  private func index(_ position: Position) -> Int {
    position.row * size.width + position.column
  }

  private mutating func set(_ cluster: Cluster, at index: Int, style: Style) {
    if cells[index].isContinuation {
      cells[index - 1] = Cell(cluster: .space, style: cells[index - 1].style)
    }
    let last = index + cluster.width - 1
    if cells[last].width == 2 {
      cells[last + 1] = Cell(cluster: .space, style: cells[last + 1].style)
    }
    cells[index] = Cell(cluster: cluster, style: style)
    if cluster.width == 2 { cells[last] = .continuation(style: style) }
  }
}
