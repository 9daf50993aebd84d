/// A cell of the screen, counted from zero at the top left.
package struct Position: Hashable, Sendable, Codable {
  /// The row, growing downwards.
  package var row: Int
  /// The column in cells, growing to the right.
  package var column: Int

  /// Makes a position; it may lie outside any screen.
  package init(row: Int, column: Int) {
    self.row = row
    self.column = column
  }
}
