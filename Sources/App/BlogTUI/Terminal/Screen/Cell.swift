/// One cell of a screen: a whole narrow cluster, or the left or right half of a wide one.
package struct Cell: Hashable, Sendable {
  /// An empty cell in the terminal's own colours.
  package static let blank = Cell(cluster: .space, style: .plain)

  let cluster: Cluster
  /// The colours and attributes.
  package let style: Style

  /// What the cell shows; empty for the right half of a wide cluster.
  package var text: String { cluster.text }
  /// The number of cells that the text covers: 1, 2, or 0 for the right half of a wide cluster.
  package var width: Int { cluster.width }

  /// Whether this is the right half of the cluster in the cell before.
  package var isContinuation: Bool { width == 0 }

  /// What the cell shows on a terminal that has only ASCII; as many characters as it covers cells.
  package var asciiText: String {
    isContinuation ? "" : cluster.asciiForms.map(\.text).joined()
  }

  /// Whether some terminals give the text another width than the table does.
  ///
  /// The rest of such a row may have to be drawn again.
  package var mayBeMisplaced: Bool {
    guard let base = cluster.base, !cluster.hasMarks else { return cluster.hasMarks }
    return base.value >= 0x1F000 || (0x0590..<0x1100).contains(base.value)
  }

  /// Makes the cell in which the cluster begins.
  init(cluster: Cluster, style: Style) {
    self.cluster = cluster
    self.style = style
  }

  /// Makes the right half of a wide cluster.
  static func continuation(style: Style) -> Cell { Cell(cluster: .continuation, style: style) }

  /// The same cell with other colours and attributes.
  func restyled(_ style: Style) -> Cell { Cell(cluster: cluster, style: style) }
}
