/// One cell of a screen: a whole narrow cluster, or the left or right half of a wide one.
package struct Cell: Hashable, Sendable {
  /// An empty cell in the terminal's own colours.
  package static let blank = Cell(cluster: .space, style: .plain)

  let cluster: Cluster
  package let style: Style

  /// What the cell shows; empty for the right half of a wide cluster.
  package var text: String { cluster.text }
  /// The number of cells that the text covers: 1, 2, or 0 for the right half of a wide cluster.
  package var width: Int { cluster.width }

  /// Whether this is the right half of the cluster in the previous cell.
  package var isContinuation: Bool { width == 0 }

  /// What the cell shows on an ASCII-only terminal; as many characters as the cells it covers.
  package var asciiText: String {
    isContinuation ? "" : cluster.asciiForms.map(\.text).joined()
  }

  /// Whether some terminals give the text a width other than that in the table.
  ///
  /// The rest of such a row may have to be drawn again.
  package var mayBeMisplaced: Bool {
    guard let base = cluster.base, !cluster.hasMarks else { return cluster.hasMarks }
    return base.value >= 0x1F000 || (0x0590..<0x1100).contains(base.value)
  }

  /// Whether it shows nothing but its background.
  var isEmpty: Bool { cluster == .space && style.attributes.isDisjoint(with: Self.visible) }

  /// The attributes that one sees in an empty cell.
  private static let visible: Style.Attributes = [.underline, .reverse]

  /// Whether another style would change nothing that one sees.
  func looksTheSame(in other: Style) -> Bool {
    isEmpty && style.background == other.background
      && other.attributes.isDisjoint(with: Self.visible)
  }
}

/// A grid of cells in memory: what a terminal should show, and where its cursor is.
///
/// Every drawing function clips at the edges and works on a screen of any size. A wide cluster
/// always has both its halves: overwriting one half blanks the other.
package struct Screen: Hashable, Sendable {
  package let size: Size
  /// Where the cursor is shown; nil hides it.
  package var cursor: Position?
  private(set) var cells: [Cell]
  /// The addresses that cells link to; the link numbers in styles count from 1.
  private(set) var addresses: [String] = []

  package init(size: Size) {
    self.size = size
    cells = Array(repeating: .blank, count: size.width * size.height)
  }

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
  /// The position may be outside the clip, outside which the cells remain unchanged. Drawing stops
  /// at the right edge, and a wide cluster that would cross it is drawn as a blank.
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

  /// Draws the first line of the text into the first row of the rectangle, truncated with the
  /// ellipsis, and returns the number of cells drawn.
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

  /// Draws lines one below another from the top of the rectangle, as many as it has rows.
  package mutating func put(lines: some Sequence<SafeText>, in rect: Rect, style: Style = .plain) {
    for (index, line) in zip(0..<rect.height, lines) {
      put(line, at: Position(row: rect.row + index, column: rect.column), style: style, clip: rect)
    }
  }

  /// The largest number of addresses on one screen; the number takes one byte in each cell.
  private static let addressLimit = 255

  /// Links the cells of the rectangle to an address, on terminals that support it.
  ///
  /// Does nothing if the address is empty or has characters other than printable ASCII, or if the
  /// screen has too many addresses already.
  package mutating func link(_ rect: Rect, to address: String) {
    guard address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !address.isEmpty,
      let number = number(of: address)
    else { return }
    restyle(rect) {
      var style = $0
      style.link = number
      return style
    }
  }

  func address(of cell: Cell) -> String? {
    let number = Int(cell.style.link)
    return number > 0 && number <= addresses.count ? addresses[number - 1] : nil
  }

  private mutating func number(of address: String) -> UInt8? {
    if let index = addresses.firstIndex(of: address) { return UInt8(index + 1) }
    guard addresses.count < Self.addressLimit else { return nil }
    addresses.append(address)
    return UInt8(addresses.count)
  }

  /// The style of another screen's cell, with the number that its address has on this screen.
  private mutating func adopted(_ style: Style, from other: Screen, of cell: Cell) -> Style {
    guard style.link != 0 else { return style }
    var style = style
    style.link = other.address(of: cell).flatMap { number(of: $0) } ?? 0
    return style
  }

  /// Draws another screen into the rectangle, clipped at its edges; the cursor does not move.
  package mutating func put(_ other: Screen, in rect: Rect) {
    let area = bounds.intersection(rect)
    if rect.column >= 0, rect.endColumn <= size.width, other.size.width == rect.width,
      other.addresses.isEmpty
    {
      return copy(other, to: rect, in: area)
    }
    for row in area.row..<area.endRow {
      for column in area.column..<area.endColumn {
        let source = Position(row: row - rect.row, column: column - rect.column)
        guard let cell = other[source] else { continue }
        if cell.isContinuation, column > area.column { continue }
        let fits = cell.width == 1 || cell.width == 2 && column + 1 < area.endColumn
        let cluster = fits ? cell.cluster : .space
        let style = adopted(cell.style, from: other, of: cell)
        set(cluster, at: row * size.width + column, style: style)
      }
    }
  }

  /// Copies whole rows of a screen that is as wide as the rectangle.
  private mutating func copy(_ other: Screen, to rect: Rect, in area: Rect) {
    guard !area.isEmpty else { return }
    for row in area.row..<min(area.endRow, rect.row + other.size.height) {
      let start = row * size.width + rect.column
      // Blanks wide clusters that straddle the edges; the other screen cannot have any there.
      set(.space, at: start, style: cells[start].style)
      set(.space, at: start + rect.width - 1, style: cells[start + rect.width - 1].style)
      let source = (row - rect.row) * rect.width
      cells.withUnsafeMutableBufferPointer { cells in
        for index in 0..<rect.width { cells[start + index] = other.cells[source + index] }
      }
    }
  }

  /// Fills the rectangle with blanks (or the given narrow cluster) in the style.
  package mutating func fill(_ rect: Rect, with cluster: Cluster = .space, style: Style = .plain) {
    let area = bounds.intersection(rect)
    let filler = cluster.width == 1 ? cluster : .space
    for row in area.row..<area.endRow {
      for column in area.column..<area.endColumn {
        set(filler, at: row * size.width + column, style: style)
      }
    }
  }

  /// Changes the style of every cell of the rectangle and keeps the texts of the cells.
  package mutating func restyle(_ rect: Rect, _ change: (Style) -> Style) {
    let area = bounds.intersection(rect)
    for row in area.row..<area.endRow {
      for column in area.column..<area.endColumn {
        let index = index(Position(row: row, column: column))
        cells[index] = Cell(cluster: cells[index].cluster, style: change(cells[index].style))
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
    if cluster.width == 2 { cells[last] = Cell(cluster: .continuation, style: style) }
  }
}

extension Screen {
  /// Draws a horizontal line over the first row of the rectangle.
  package mutating func horizontalLine(in rect: Rect, glyphs: GlyphSet, style: Style = .plain) {
    guard let piece = glyphs.horizontal.clusters.first else { return }
    fill(rect.line(0), with: piece, style: style)
  }

  /// Draws a vertical line over the first column of the rectangle.
  package mutating func verticalLine(in rect: Rect, glyphs: GlyphSet, style: Style = .plain) {
    guard let piece = glyphs.vertical.clusters.first else { return }
    fill(rect.with(width: min(1, rect.width)), with: piece, style: style)
  }

  /// Draws a frame along the inside of the rectangle's edge, with a title in its upper side.
  ///
  /// Returns the rectangle inside the frame, empty if the frame leaves no room.
  @discardableResult
  package mutating func box(
    in rect: Rect,
    glyphs: GlyphSet,
    title: SafeText = .empty,
    style: Style = .plain
  ) -> Rect {
    guard rect.width >= 2 && rect.height >= 2 else { return .zero }
    let right = rect.endColumn - 1
    let bottom = rect.endRow - 1
    horizontalLine(in: rect.line(0), glyphs: glyphs, style: style)
    horizontalLine(in: rect.line(rect.height - 1), glyphs: glyphs, style: style)
    verticalLine(in: rect, glyphs: glyphs, style: style)
    verticalLine(in: rect.cut(left: rect.width - 1), glyphs: glyphs, style: style)
    put(glyphs.topLeft, at: rect.origin, style: style, clip: rect)
    put(glyphs.topRight, at: Position(row: rect.row, column: right), style: style, clip: rect)
    put(glyphs.bottomLeft, at: Position(row: bottom, column: rect.column), style: style, clip: rect)
    put(glyphs.bottomRight, at: Position(row: bottom, column: right), style: style, clip: rect)
    let room = rect.line(0).inset(rows: 0, columns: 2)
    if !title.isEmpty && room.width >= 3 {
      let shown = title.truncated(to: room.width - 2, ellipsis: glyphs.ellipsis)
      put(" " + shown + " ", at: room.origin, style: style, clip: room)
    }
    return rect.inset(rows: 1, columns: 1)
  }
}

/// A run of adjacent cells of one row that have to be drawn again.
package struct ScreenChange: Hashable, Sendable {
  package let row: Int
  /// The column of the first cell, which is never the right half of a wide cluster.
  package let column: Int
  package let cells: [Cell]
}

extension Screen {
  /// The runs of cells that differ from an older screen; all rows if the sizes differ.
  ///
  /// - Complexity: O(n) in the number of cells
  package func diff(from old: Screen) -> [ScreenChange] {
    guard old.size == size else {
      return (0..<size.height).compactMap { number in
        let cells = row(number)
        return cells.isEmpty ? nil : ScreenChange(row: number, column: 0, cells: Array(cells))
      }
    }
    var changes: [ScreenChange] = []
    // If the addresses differ, the same link number can mean another address.
    let keepsAddresses = addresses == old.addresses
    for number in 0..<size.height {
      let (new, before) = (row(number), old.row(number))
      if new == before, keepsAddresses || !new.contains(where: { $0.style.link != 0 }) { continue }
      // Both screens have the same size, so a cell has the same index in both.
      var index = new.startIndex
      while index < new.endIndex {
        func isChanged(_ index: Int) -> Bool {
          new[index] != before[index] || !keepsAddresses && new[index].style.link != 0
        }
        guard isChanged(index) else {
          index += 1
          continue
        }
        let start = new[index].isContinuation ? index - 1 : index
        while index < new.endIndex, isChanged(index) || new[index].isContinuation {
          index += 1
        }
        let change = ScreenChange(
          row: number,
          column: start - new.startIndex,
          cells: Array(new[start..<index])
        )
        changes.append(change)
      }
    }
    return changes
  }

  /// The screen as lines of text without styles, for comparison with a text from a file.
  ///
  /// The rows are separated by newlines.
  package func text(trimsTrailingBlanks: Bool = true) -> String {
    var lines: [String] = []
    for number in 0..<size.height {
      var cells = row(number)
      while trimsTrailingBlanks, let last = cells.last, last.text == " " { cells.removeLast() }
      lines.append(cells.reduce(into: "") { $0 += $1.text })
    }
    return lines.joined(separator: "\n")
  }
}
