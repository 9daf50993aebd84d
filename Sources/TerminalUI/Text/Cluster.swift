/// The smallest piece of text that a terminal places: one spacing character and its marks.
///
/// Only the sanitiser makes clusters, so their text is always harmless to a terminal.
package struct Cluster: Hashable, Sendable {
  /// A single blank cell.
  package static let space = Cluster(text: " ", width: 1)

  /// The characters: a base and at most ``SafeText/markLimit`` combining marks.
  package let text: String
  /// The number of cells it covers, 1 or 2.
  package let width: Int

  /// Makes a cluster of text that the sanitiser has checked.
  init(text: String, width: Int) {
    self.text = text
    self.width = width
  }

  /// Whether this is a blank at which a line may be broken.
  package var isSpace: Bool { text == " " || text == "\u{3000}" }
}
