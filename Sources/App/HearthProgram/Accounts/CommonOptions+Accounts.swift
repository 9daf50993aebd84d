import BlogModel
import Foundation
import RealtimeAuth
import RealtimeDatabase

extension CommonOptions {
  /// Where people sign in to the database; nil where the system says who they are.
  ///
  /// - Throws: ``CommandFailure`` when there is no home directory.
  func accounts() throws(CommandFailure) -> AuthConfiguration? {
    guard let database, !database.hasPrefix("unix:") else { return nil }
    var configuration = AuthConfiguration(databaseURL: database, apiKey: apiKey)
    configuration.trustRoots = trustRoots
    configuration.persistence = .file("\(try places().state)/\(AuthConfiguration.fileName)")
    configuration.account = account
    return configuration
  }

  /// Whose certificates are believed.
  var trustRoots: DatabaseOptions.TrustRoots {
    caFile.map { DatabaseOptions.TrustRoots.file($0) } ?? .system
  }

  /// Who is signed in to the database; nil when nobody is, and the system says who I am.
  ///
  /// - Throws: ``CommandFailure`` when `--account` names someone who is not signed in.
  func signedIn() throws -> Auth? {
    guard let configuration = try accounts() else {
      if let account {
        throw CommandFailure(
          .usage,
          "the local database has no accounts; --account \(account) needs --database or --profile"
        )
      }
      return nil
    }
    guard user == nil else { return nil }
    let auth = try Auth(configuration)
    if auth.currentUser != nil { return auth }
    if let account {
      throw CommandFailure(
        .notPermitted,
        "nobody is signed in as \(account) at \(configuration.databaseURL); see hearth accounts"
      )
    }
    return nil
  }

  /// Who I am: who is signed in, or else the user of this system.
  ///
  /// - Throws: ``CommandFailure`` or `Author.NameError` when that is no usable name.
  func author(_ auth: Auth?) throws -> Author {
    guard let user = auth?.currentUser else { return try author() }
    let suggestion = AccountDesk.suggestion(for: user)
    return Author(uid: user.uid, name: suggestion.isEmpty ? user.uid : suggestion)
  }
}
