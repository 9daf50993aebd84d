internal import Foundation
internal import NIOCore
public import RealtimeDatabase
internal import RealtimeTransport

/// Where people of a program sign in, and where their credentials rest.
public struct AuthConfiguration: Sendable {
  /// Where credentials rest between runs of the program.
  public enum Persistence: Hashable, Sendable {
    /// In a file that only its owner can read, which the programs of a person share.
    case file(String)
    /// Nowhere: they end with the process.
    case memory
  }

  /// The URL of the database, whose server answers for the accounts as well.
  ///
  /// For a database of the hosted service, the hosted service does.
  public var databaseURL: String
  /// The key of the project; the hosted service needs it, emulators and our server do not.
  public var apiKey: String?
  /// Whose certificates are believed, as in the options of the database.
  public var trustRoots = DatabaseOptions.TrustRoots.system
  /// Where credentials rest; `credentials.json` in `$XDG_STATE_HOME/hearth` unless set.
  public var persistence: Persistence = .file(Self.defaultFile())
  /// Who is signed in at the start if several are kept; nil is the one who signed in last.
  ///
  /// It is an identifier, an email address or a display name.
  public var account: String?
  /// How long a request to the server may take.
  public var timeout: Duration = .seconds(30)

  /// Makes a configuration.
  public init(databaseURL: String, apiKey: String? = nil) {
    self.databaseURL = databaseURL
    self.apiKey = apiKey
  }
}

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
  /// The users who are signed in to this database on this machine, the latest first.
  ///
  /// - Throws: ``AuthError`` when the credential file cannot be used, or the URL is none.
  package func keptAccounts() throws -> [KeptAccount] {
    guard case .file(let path) = persistence else { return [] }
    let server = try target().identity
    return try Self.keptAccounts(path).filter { $0.server == server }
  }

  /// The users who are signed in to any database according to a credential file.
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
