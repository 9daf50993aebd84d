/// A proof of who uses a database, for a short time.
public struct DatabaseToken: Hashable, Sendable {
  /// The identifier of the user; writes that are not acknowledged are sent under no other.
  public let userID: String
  /// The proof, as the server expects it; it must not be logged or shown.
  public let text: String

  /// Makes a token.
  public init(userID: String, text: String) {
    self.userID = userID
    self.text = text
  }
}

extension DatabaseToken: CustomStringConvertible {
  /// Whose token it is, without the proof.
  public var description: String { "a token of \(userID)" }
}
