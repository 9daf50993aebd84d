/// A person who writes.
public struct Author: Hashable, Sendable {
  /// The identifier, a legal key.
  public let uid: String
  /// The name that others see.
  public let name: String

  /// Makes an author.
  public init(uid: String, name: String) {
    self.uid = uid
    self.name = name
  }
}
