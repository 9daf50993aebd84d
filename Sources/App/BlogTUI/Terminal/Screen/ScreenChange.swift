/// A run of neighbouring cells of one row that have to be drawn again.
package struct ScreenChange: Hashable, Sendable {
  /// The row of the run.
  package let row: Int
  /// The column of its first cell, which is never the right half of a wide cluster.
  package let column: Int
  /// The new cells.
  package let cells: [Cell]
}
