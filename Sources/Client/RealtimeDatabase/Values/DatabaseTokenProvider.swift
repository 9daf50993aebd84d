/// Identifies a database's user with proof, as `Auth` does for the databases of its project.
///
/// A database asks for a token before each connection attempt. It presents new tokens on the open
/// connection; observers do not notice.
public protocol DatabaseTokenProvider: Sendable {
  /// The identifier of the user who is signed in, or nil.
  var userID: String? { get }

  /// A token that remains valid for some time.
  ///
  /// - Parameter isForced: Whether the server rejected the last token, so that a new one is needed
  ///   even if the last one seems to be valid.
  /// - Returns: The token, or nil if no user is signed in.
  /// - Throws: When no token is available; the database asks again when it next connects.
  func token(forcingRefresh isForced: Bool) async throws -> DatabaseToken?

  /// Calls a block with each new token, and with nil when the user has signed out.
  ///
  /// The block must be called in the order of the changes.
  ///
  /// - Parameter block: The block to call, on any thread.
  /// - Returns: The observation, which ends when it is released.
  func observeTokens(
    _ block: @escaping @Sendable (DatabaseToken?) -> Void
  ) -> DatabaseTokenObservation
}

/// A short-lived proof of who uses a database.
public struct DatabaseToken: Hashable, Sendable {
  /// The identifier of the user; that user's pending writes are sent under no other.
  public let userID: String
  /// The proof, as the server expects it; it must not be logged or shown.
  public let text: String

  /// Makes a token from its text, as the issuer returned it.
  public init(userID: String, text: String) {
    self.userID = userID
    self.text = text
  }
}

extension DatabaseToken: CustomStringConvertible {
  /// The user that the token belongs to, without the proof.
  public var description: String { "a token of \(userID)" }
}

/// An observation of a provider's tokens, which ends when this object is released.
public final class DatabaseTokenObservation: Sendable {
  private let end: @Sendable () -> Void

  /// Makes an observation.
  ///
  /// - Parameter end: Ends the observation; called on release.
  public init(_ end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  deinit { end() }
}

/// An error of a ``DatabaseTokenProvider`` that says whether a retry may help.
///
/// The database assumes that a retry may help for all other errors.
package protocol DatabaseTokenFailure: Error {
  /// Whether a retry may succeed without any intervention.
  var isTemporary: Bool { get }
}
