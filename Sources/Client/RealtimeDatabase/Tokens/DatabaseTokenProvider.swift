/// Says who uses a database, and proves it: what `Auth` is to the databases of its project.
///
/// A database asks for a token before each attempt to connect, and presents the tokens that it is
/// told of on the connection that stands, whose observers do not notice.
public protocol DatabaseTokenProvider: Sendable {
  /// The identifier of the user who is signed in, or nil.
  var userID: String? { get }

  /// A token that is still valid for a while.
  ///
  /// - Parameter isForced: Whether the server has refused the last one, so that another is needed
  ///   although that one seems to be valid.
  /// - Returns: The token, or nil when nobody is signed in.
  /// - Throws: When none can be got now; the database tries again when it next connects.
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
