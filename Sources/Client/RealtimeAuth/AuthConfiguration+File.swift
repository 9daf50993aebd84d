internal import Foundation
internal import NIOCore
internal import RealtimeDatabase
internal import RealtimeTransport

extension AuthConfiguration {
  /// The credential file of this user, by the rules of the XDG base directories.
  ///
  /// - Parameter environment: The variables of the process.
  /// - Returns: Its path, which need not exist.
  package static func defaultFile(
    _ environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String {
    // A relative path is invalid by the specification and counts as not set.
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
      return "\(state)/hearth/\(fileName)"
    }
    return "\(environment["HOME"] ?? NSHomeDirectory())/.local/state/hearth/\(fileName)"
  }

  /// The name of a credential file.
  package static let fileName = "credentials.json"
}

extension AuthConfiguration {
  /// The same as the transport takes it.
  var trust: TrustRoots {
    var options = DatabaseOptions()
    options.trustRoots = trustRoots
    return options.trust
  }
}

extension AuthConfiguration {
  /// Who is signed in to this database on this machine, the last one to sign in first.
  ///
  /// - Throws: ``AuthError`` when the credential file cannot be used, or the URL is none.
  package func keptAccounts() throws -> [KeptAccount] {
    guard case .file(let path) = persistence else { return [] }
    let server = try target().identity
    return try Self.keptAccounts(path).filter { $0.server == server }
  }

  /// Who is signed in to any database according to a credential file.
  ///
  /// - Throws: ``AuthError`` when the file cannot be used.
  package static func keptAccounts(_ path: String) throws(AuthError) -> [KeptAccount] {
    try CredentialFile(path: path, eventLoop: Repo.group.next()).read().entries.map { entry in
      KeptAccount(
        server: entry.server,
        uid: entry.account.uid,
        email: entry.account.profile.email,
        displayName: entry.account.profile.displayName
      )
    }
  }

  /// The address and the name of the database.
  ///
  /// - Throws: ``AuthError`` of code `internalError` when the URL is not that of a database.
  func target() throws(AuthError) -> ConnectionTarget {
    do throws(DatabaseURLError) {
      return try DatabaseURL(databaseURL).target
    } catch {
      throw AuthError(.internalError, message: "\(error)")
    }
  }
}
