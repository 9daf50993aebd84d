/// Where the credentials of people rest between runs of a program, by server.
///
/// The calls read and write files, and are made on any thread.
protocol CredentialStore: Sendable {
  /// The accounts of a server, the one that signed in last first.
  ///
  /// - Throws: ``AuthError`` of code `keychainError`.
  func accounts(of server: String) throws(AuthError) -> [Account]

  /// Keeps an account, in place of what was kept of it.
  ///
  /// - Parameters:
  ///   - account: The account.
  ///   - server: Whose it is.
  ///   - isNew: Whether the user signed in just now; others that are not kept any more are ignored.
  /// - Throws: ``AuthError`` of code `keychainError`.
  func save(_ account: Account, of server: String, isNew: Bool) throws(AuthError)

  /// Forgets an account.
  ///
  /// - Throws: ``AuthError`` of code `keychainError`.
  func remove(uid: String, of server: String) throws(AuthError)

  /// Waits until no other process refreshes the tokens of an account, or has taken too long for it.
  ///
  /// - Returns: What ends the turn of this process when nobody holds it any more.
  func refreshTurn(uid: String, of server: String) async -> RefreshTurn

  /// Whether other processes may change what is kept.
  var isShared: Bool { get }
}
