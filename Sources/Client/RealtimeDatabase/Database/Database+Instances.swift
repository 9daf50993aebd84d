package import Logging
internal import NIOConcurrencyHelpers
package import RealtimeTransport

/// The databases that are found by name, as programs written for the original expect.
extension Database {
  /// The name of the app that is meant where none is named.
  package static let defaultAppName = "[DEFAULT]"

  /// What the databases of an app have in common.
  package struct Project: Sendable {
    /// The database that is meant where none is named; nil when it is only known where it runs.
    package var databaseURL: String?
    /// The key with which people sign in at the hosted service.
    package var apiKey: String?
    /// How the databases connect that are opened from now on.
    package var options: DatabaseOptions

    /// Makes a project.
    package init(
      databaseURL: String? = nil,
      apiKey: String? = nil,
      options: DatabaseOptions = DatabaseOptions()
    ) {
      self.databaseURL = databaseURL
      self.apiKey = apiKey
      self.options = options
    }
  }

  private struct Key: Hashable {
    let app: String
    /// The address and the name of the database; nil for the one whose URL nobody has said.
    let identity: String?
  }

  private struct Instances {
    var projects: [String: Project] = [:]
    var opened: [Key: Database] = [:]
  }

  // The original finds its databases without a context, so that one table per process is needed.
  private static let instances = NIOLockedValueBox(Instances())

  static let notConfigured = """
    it is not known where the database is: call Database.configure(url:), useEmulator(withHost:port:) \
    or FirebaseApp.configure() with a project first
    """

  // MARK: Finding

  /// Says which database ``database()`` opens, and how databases are opened by ``database(url:)``.
  ///
  /// Call it once, early, where the original would configure its app.
  ///
  /// - Parameters:
  ///   - url: `http://HOST:PORT?ns=NAME`, or `unix:/path/of/socket?ns=NAME`.
  ///   - options: How the databases connect that are opened from now on.
  /// - Throws: ``DatabaseError`` of code `invalid_data` that says what is wrong with the URL.
  public static func configure(
    url: String,
    options: DatabaseOptions = DatabaseOptions()
  ) throws {
    _ = try target(of: url)
    configure(Project(databaseURL: url, options: options), app: defaultAppName)
  }

  /// The database of ``configure(url:options:)``, the same one at each call.
  ///
  /// Without that, it is the one that ``useEmulator(withHost:port:)`` chooses, whose name is left to
  /// the server. It is a programmer error to use it before either is called: it traps. A database that
  /// was found by this or by ``database(url:)`` stays open until the process ends.
  public static func database() -> Database { database(ofApp: defaultAppName) }

  /// The database at a URL, the same one for all URLs of one database.
  ///
  /// It is a programmer error to pass what is not the URL of a database: it traps. For text that
  /// comes from outside there is ``init(url:options:logger:)``, which throws.
  public static func database(url: String) -> Database {
    database(ofApp: defaultAppName, url: url)
  }

  /// A database of an app, the same one for all URLs of one database.
  ///
  /// It is a programmer error to pass what is not the URL of a database: it traps.
  ///
  /// - Parameters:
  ///   - app: The name of the app.
  ///   - url: The URL; nil is that of the app's project.
  /// - Returns: The database.
  package static func database(ofApp app: String, url: String? = nil) -> Database {
    instances.withLockedValue { instances in
      let project = instances.projects[app] ?? Project()
      do {
        let known = try (url ?? project.databaseURL).map { try target(of: $0) }
        let key = Key(app: app, identity: known?.identity)
        if let database = instances.opened[key] { return database }
        let database = Database(
          known ?? unknownTarget,
          options: project.options,
          appName: app
        )
        if known == nil { database.repo.forgetTarget() }
        instances.opened[key] = database
        return database
      } catch {
        preconditionFailure("\(error)")
      }
    }
  }

  // MARK: Apps

  /// Says what the databases of an app have in common; those that are open already stay as they are.
  package static func configure(_ project: Project, app: String) {
    instances.withLockedValue { $0.projects[app] = project }
  }

  /// What is configured for an app, or nil.
  package static func project(ofApp app: String) -> Project? {
    instances.withLockedValue { $0.projects[app] }
  }

  /// Forgets an app and its databases.
  ///
  /// - Parameter app: The name of the app.
  /// - Returns: The databases, which nobody finds any more.
  package static func forget(app: String) -> [Database] {
    instances.withLockedValue { instances in
      instances.projects[app] = nil
      let databases = instances.opened.filter { $0.key.app == app }
      for key in databases.keys { instances.opened[key] = nil }
      return Array(databases.values)
    }
  }

  /// The address of a database before anyone has said where it is; it cannot be used until then.
  ///
  /// Accounts are found by the address of their database, so that there must be one.
  package static let unknownTarget = ConnectionTarget(host: "localhost", port: 9_000)

  /// All databases that were found by name.
  static var opened: [Database] {
    instances.withLockedValue { Array($0.opened.values) }
  }

  // MARK: The library

  /// Has databases without a logger of their own write to standard error what their connections tell.
  public static func setLoggingEnabled(_ isEnabled: Bool) {
    DefaultLog.isEnabled.withLockedValue { $0 = isEnabled }
  }

  /// The version of this library.
  public static func sdkVersion() -> String { SDKVersion.current }
}

/// The version of this library, which it reports to servers.
package enum SDKVersion {
  /// The version, three numbers with dots.
  package static let current = "0.1.0"
}

/// What databases and accounts log to without a logger: standard error, once it is switched on.
package struct DefaultLog: LogHandler {
  static let isEnabled = NIOLockedValueBox(false)

  static var logger: Logger { logger("hearth.database") }

  /// A logger of this kind for a part of the library.
  package static func logger(_ label: String) -> Logger {
    Logger(label: label) { DefaultLog(output: .standardError(label: $0)) }
  }

  private var output: StreamLogHandler

  private init(output: StreamLogHandler) {
    self.output = output
    self.output.logLevel = .debug
  }

  /// The least severe level that is written.
  package var logLevel: Logger.Level {
    get { Self.isEnabled.withLockedValue { $0 } ? output.logLevel : .critical }
    set { output.logLevel = newValue }
  }

  /// What is added to each line.
  package var metadata: Logger.Metadata {
    get { output.metadata }
    set { output.metadata = newValue }
  }

  /// A value that is added to each line.
  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { output[metadataKey: key] }
    set { output[metadataKey: key] = newValue }
  }

  /// Writes a line.
  package func log(event: LogEvent) {
    output.log(event: event)
  }
}
