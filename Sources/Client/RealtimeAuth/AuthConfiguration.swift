internal import DurableFiles
internal import NIOCore
public import RealtimeDatabase
internal import RealtimeTransport

/// Where a program's users sign in, and where their credentials are stored.
public struct AuthConfiguration: Sendable {
  /// Where credentials are stored between runs of the program.
  public enum Persistence: Hashable, Sendable {
    /// In a file that only its owner can read, shared by all of that person's programs.
    case file(String)
    /// In memory: they are lost when the process ends.
    case memory
  }

  /// The URL of the database, whose server also manages the accounts.
  ///
  /// For a database of the hosted service, the hosted account service does.
  public var databaseURL: String
  /// The project's key; the hosted service needs it, emulators and this package's server do not.
  public var apiKey: String?
  /// The trusted certificate authorities, as in the options of a database.
  public var trustRoots = DatabaseOptions.TrustRoots.system
  /// Where credentials are stored; `credentials.json` in `$XDG_STATE_HOME/hearth` by default.
  public var persistence: Persistence = .file(
    "\(FilePath.stateDirectory())/hearth/\(fileName)"
  )
  /// The user to start with if several are stored; nil means the one who signed in last.
  ///
  /// It may be an identifier, an email address or a display name.
  public var account: String?
  /// The time limit of a request to the server.
  public var timeout: Duration = .seconds(30)

  /// Makes a configuration.
  public init(databaseURL: String, apiKey: String? = nil) {
    self.databaseURL = databaseURL
    self.apiKey = apiKey
  }
}

extension AuthConfiguration {
  package static let fileName = "credentials.json"

  func makeStore(on eventLoop: any EventLoop) -> any CredentialStore {
    switch persistence {
    case .memory: MemoryCredentials()
    case .file(let path): CredentialFile(path: path, eventLoop: eventLoop)
    }
  }

  /// The users who are signed in to this database on this machine, most recent sign-in first.
  ///
  /// - Throws: ``AuthError`` when the credential file cannot be used or the URL is invalid.
  package func keptAccounts() throws -> [KeptAccount] {
    guard case .file(let path) = persistence else { return [] }
    let server = try target().identity
    return try Self.keptAccounts(path).filter { $0.server == server }
  }

  /// The users in a credential file, signed in to any database.
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
  /// - Throws: ``AuthError`` of kind `internalError` when the URL is not that of a database.
  func target() throws(AuthError) -> ConnectionTarget {
    do throws(DatabaseURLError) {
      return try DatabaseURL(databaseURL).target
    } catch {
      throw AuthError(.internalError, message: "\(error)")
    }
  }
}
