/// A person who writes.
package struct Author: Hashable, Sendable, Codable {
  /// The identifier, a legal key.
  package let uid: String
  /// The name that others see.
  package let name: String

  /// Makes an author.
  package init(uid: String, name: String) {
    self.uid = uid
    self.name = name
  }
}
