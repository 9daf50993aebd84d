/// A width and a height in cells, neither of them negative.
package struct Size: Hashable, Sendable, Codable {
  /// A size without any cell.
  package static let zero = Size(width: 0, height: 0)

  /// The number of columns.
  package let width: Int
  /// The number of rows.
  package let height: Int

  /// Makes a size; negative numbers count as zero.
  package init(width: Int, height: Int) {
    self.width = max(0, width)
    self.height = max(0, height)
  }
}
