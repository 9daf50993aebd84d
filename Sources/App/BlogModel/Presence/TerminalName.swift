/// How the others know a terminal.
package struct TerminalName: Hashable, Sendable {
  /// A key of its own, which stays when the connection is made again.
  package let key: String
  /// What it is called, such as the name of its device.
  package let text: String

  /// Makes a name.
  ///
  /// - Parameters:
  ///   - key: A legal key of a child.
  ///   - text: What it is called.
  package init(key: String, text: String) {
    self.key = key
    self.text = text
  }
}
