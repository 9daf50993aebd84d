/// Says who uses a database, and proves it: what `Auth` is to the databases of its project.
///
/// A database asks for a token before each attempt to connect. New tokens are presented on the open
/// connection, without observers noticing.
public protocol DatabaseTokenProvider: Sendable {
  /// The identifier of the user who is signed in, or nil.
  var userID: String? { get }

  /// A token that is still valid for a while.
  ///
  /// - Parameter isForced: Whether the server rejected the last one, so that another is needed even if
  ///   that one seems to be valid.
  /// - Returns: The token, or nil if nobody is signed in.
  /// - Throws: If none is available now; the database tries again when it next connects.
  func token(forcingRefresh isForced: Bool) async throws -> DatabaseToken?

  /// Calls a block with each new token, and with nil when the user has signed out.
  ///
  /// The block must be called in the order of the changes.
  ///
  /// - Parameter block: What to call, on any thread.
  /// - Returns: What ends it.
  func observeTokens(
    _ block: @escaping @Sendable (DatabaseToken?) -> Void
  ) -> DatabaseTokenObservation
}

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

/// The observation of a provider's tokens, which ends when this is released.
public final class DatabaseTokenObservation: Sendable {
  private let end: @Sendable () -> Void

  /// Makes an observation.
  ///
  /// - Parameter end: What ends it.
  public init(_ end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  deinit { end() }
}

/// An error of a ``DatabaseTokenProvider`` that says whether trying again may help.
///
/// For other errors the database assumes that it may.
package protocol DatabaseTokenFailure: Error {
  /// Whether the same attempt may go well later, without anybody doing anything.
  var isTemporary: Bool { get }
}
