import BlogModel
import RealtimeDatabase

extension CommonOptions {
  /// Has a database that is about to be opened used by who I am.
  ///
  /// - Parameter configuration: How the database is opened.
  /// - Returns: Who is signed in, or else the user of this system.
  /// - Throws: ``CommandFailure`` or `AuthError` when that cannot be found out.
  func signIn(_ configuration: inout DatabaseOptions) throws -> Author {
    configuration.trustRoots = trustRoots
    let auth = try signedIn()
    configuration.tokenProvider = auth
    return try author(auth)
  }
}
