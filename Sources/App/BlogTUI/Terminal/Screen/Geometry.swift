/// A cell of the screen, counted from zero at the top left.
package struct Position: Hashable, Sendable, Codable {
  package var row: Int
  package var column: Int

  /// Makes a position; it may lie outside any screen.
  package init(row: Int, column: Int) {
    self.row = row
    self.column = column
  }
}

/// A width and a height in cells, neither of them negative.
package struct Size: Hashable, Sendable, Codable {
  package let width: Int
  package let height: Int

  /// Makes a size; negative numbers count as zero.
  package init(width: Int, height: Int) {
    self.width = max(0, width)
    self.height = max(0, height)
  }

  /// Decodes a size from a recording, which anybody may have made: what is too large to be drawn
  /// counts as the largest window that is.
  ///
  /// - Throws: `DecodingError` if there is no width or height.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let largest = 2_000
    self.init(
      width: min(largest, try values.decode(Int.self, forKey: .width)),
      height: min(largest, try values.decode(Int.self, forKey: .height))
    )
  }
}

/// A rectangle of cells, possibly empty and possibly partly outside the screen.
package struct Rect: Hashable, Sendable {
  package static let zero = Rect(row: 0, column: 0, width: 0, height: 0)

  package let row: Int
  package let column: Int
  package let width: Int
  package let height: Int

  /// Makes a rectangle; a negative width or height counts as zero.
  package init(row: Int, column: Int, width: Int, height: Int) {
    self.row = row
    self.column = column
    self.width = max(0, width)
    self.height = max(0, height)
  }

  /// Makes a rectangle of that size at the top left of the screen.
  package init(size: Size) {
    self.init(row: 0, column: 0, width: size.width, height: size.height)
  }

  /// The row below the last one.
  package var endRow: Int { row + height }
  package var endColumn: Int { column + width }
  package var size: Size { Size(width: width, height: height) }
  package var isEmpty: Bool { width == 0 || height == 0 }
  package var origin: Position { Position(row: row, column: column) }

  package func contains(_ position: Position) -> Bool {
    position.row >= row && position.row < endRow && position.column >= column
      && position.column < endColumn
  }

  /// The part that both rectangles share; empty if they share nothing.
  package func intersection(_ other: Rect) -> Rect {
    let top = max(row, other.row)
    let left = max(column, other.column)
    return Rect(
      row: top,
      column: left,
      width: min(endColumn, other.endColumn) - left,
      height: min(endRow, other.endRow) - top
    )
  }

  /// The rectangle without a margin of the given rows and columns on every side.
  package func inset(rows: Int, columns: Int) -> Rect {
    Rect(
      row: row + min(rows, height),
      column: column + min(columns, width),
      width: width - 2 * columns,
      height: height - 2 * rows
    )
  }

  /// The rectangle without some columns at its left and right and some rows at its top.
  package func cut(left: Int = 0, right: Int = 0, top: Int = 0) -> Rect {
    Rect(
      row: row + top,
      column: column + left,
      width: width - left - right,
      height: height - top
    )
  }

  /// The rectangle with another number of columns, from its left on.
  package func with(width: Int) -> Rect {
    Rect(row: row, column: column, width: width, height: height)
  }

  /// One row of the rectangle, counted from its top; empty if there is no such row.
  package func line(_ index: Int) -> Rect {
    Rect(
      row: row + index,
      column: column,
      width: width,
      height: index >= 0 && index < height ? 1 : 0
    )
  }

  /// A rectangle of at most that size, centred in this one.
  package func centered(_ size: Size) -> Rect {
    let width = min(size.width, self.width)
    let height = min(size.height, self.height)
    return Rect(
      row: row + (self.height - height) / 2,
      column: column + (self.width - width) / 2,
      width: width,
      height: height
    )
  }
}

/// How much of a rectangle one of its parts takes along the axis of the division.
package enum Length: Hashable, Sendable {
  /// Exactly that many cells, or fewer if the rectangle is too small.
  case fixed(Int)
  /// An equal share of what the fixed parts leave.
  case flexible
}

/// Divides rectangles into rows and columns.
package enum Layout {
  /// Stacks parts from top to bottom; the result has one rectangle for each part.
  package static func rows(_ parts: [Length], in rect: Rect) -> [Rect] {
    var row = rect.row
    return lengths(parts, total: rect.height).map { height in
      defer { row += height }
      return Rect(row: row, column: rect.column, width: rect.width, height: height)
    }
  }

  /// Places parts side by side from left to right; the result has one rectangle for each part.
  package static func columns(_ parts: [Length], in rect: Rect) -> [Rect] {
    var column = rect.column
    return lengths(parts, total: rect.width).map { width in
      defer { column += width }
      return Rect(row: rect.row, column: column, width: width, height: rect.height)
    }
  }

  /// The length of each part; their sum never exceeds the total.
  package static func lengths(_ parts: [Length], total: Int) -> [Int] {
    var left = max(0, total)
    var result = [Int](repeating: 0, count: parts.count)
    var shares = 0
    for (index, part) in parts.enumerated() {
      switch part {
      case .fixed(let length):
        result[index] = min(max(0, length), left)
        left -= result[index]
      case .flexible:
        shares += 1
      }
    }
    for (index, part) in parts.enumerated() where part == .flexible {
      result[index] = left / shares
      left -= result[index]
      shares -= 1
    }
    return result
  }
}
