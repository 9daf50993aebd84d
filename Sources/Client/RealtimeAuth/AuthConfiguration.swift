public import RealtimeDatabase

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
