package import Logging
internal import NIOConcurrencyHelpers
package import RealtimeTransport

/// Databases that are looked up by app and URL, as programs written for the original expect.
extension Database {
  package static let defaultAppName = "[DEFAULT]"

  /// The settings that all databases of an app share.
  package struct Project: Sendable {
    /// The URL of the app's default database; nil if only its server is known, from `useEmulator`.
    package var databaseURL: String?
    /// The key that the hosted service requires for signing in.
    package var apiKey: String?
    /// The options for databases that are opened from now on.
    package var options: DatabaseOptions

    /// Makes a project; without a URL, `useEmulator` must name the server.
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
    /// The address and the name of the database; nil for a default database without a URL.
    let identity: String?
  }

  private struct Instances {
    var projects: [String: Project] = [:]
    var opened: [Key: Database] = [:]
  }

  // Programs written for the original look databases up globally: one table serves the process.
  private static let instances = NIOLockedValueBox(Instances())

  static let notConfigured = """
    no database is configured: first call Database.configure(url:), useEmulator(withHost:port:) or \
    FirebaseApp.configure() with a project
    """

  // MARK: Finding

  /// Sets the database that ``database()`` opens, and the options for ``database(url:)``.
  ///
  /// Call it once, early, where a program for the original configures its app.
  ///
  /// - Parameters:
  ///   - url: `http://HOST:PORT?ns=NAME`, or `unix:/path/of/socket?ns=NAME`.
  ///   - options: The options for databases that are opened from now on.
  /// - Throws: ``DatabaseError`` of kind `invalid_data` that says what is wrong with the URL.
  public static func configure(
    url: String,
    options: DatabaseOptions = DatabaseOptions()
  ) throws {
    _ = try target(of: url)
    configure(Project(databaseURL: url, options: options), app: defaultAppName)
  }

  /// The database of ``configure(url:options:)``; every call returns the same one.
  ///
  /// Without that call, it is the database that ``useEmulator(withHost:port:)`` chooses, whose name
  /// is up to the server. Using the database before either has been called is a programmer error
  /// and traps. A database that was found by this method or by ``database(url:)`` stays open until
  /// the process ends.
  public static func database() -> Database { database(ofApp: defaultAppName) }

  /// The database at a URL; all URLs of one database give the same instance.
  ///
  /// Passing anything other than the URL of a database is a programmer error and traps. For text
  /// from outside the program, use ``init(url:options:logger:)``, which throws.
  public static func database(url: String) -> Database {
    database(ofApp: defaultAppName, url: url)
  }

  /// A database of an app, by default that of its project; all of its URLs give the same instance.
  ///
  /// Passing anything other than the URL of a database is a programmer error and traps.
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
        if known == nil { database.repo.shared.withLockedValue { $0.isTargetChosen = false } }
        instances.opened[key] = database
        return database
      } catch {
        CallerContract.fail("\(error); for text from outside, use Database(url:)")
      }
    }
  }

  // MARK: Apps

  /// Sets an app's project; databases that are already open keep their options.
  package static func configure(_ project: Project, app: String) {
    instances.withLockedValue { $0.projects[app] = project }
  }

  /// The project of an app, or nil if the app is not configured.
  package static func project(ofApp app: String) -> Project? {
    instances.withLockedValue { $0.projects[app] }
  }

  /// Removes an app and its databases from the table.
  ///
  /// - Returns: The databases that were removed; lookups no longer find them.
  package static func forget(app: String) -> [Database] {
    instances.withLockedValue { instances in
      instances.projects[app] = nil
      let databases = instances.opened.filter { $0.key.app == app }
      for key in databases.keys { instances.opened[key] = nil }
      return Array(databases.values)
    }
  }

  /// The placeholder address of a database until the program says where it is.
  ///
  /// The database cannot be used until then. Accounts are looked up by the address of their
  /// database, so it needs one from the start.
  package static let unknownTarget = ConnectionTarget(host: "localhost", port: 9_000)

  /// All databases that were looked up by app or URL.
  static var opened: [Database] {
    instances.withLockedValue { Array($0.opened.values) }
  }

  // MARK: The library

  /// Turns logging to standard error on or off for databases and accounts without their own logger.
  public static func setLoggingEnabled(_ isEnabled: Bool) {
    DefaultLog.threshold.withLockedValue { $0 = isEnabled ? .debug : .critical }
  }

  /// The version of this library.
  public static func sdkVersion() -> String { SDKVersion.current }
}

/// The version of this library, as reported to servers.
package enum SDKVersion {
  /// The version: three numbers separated by dots.
  package static let current = "0.1.0"
}

/// The default log of databases and accounts: standard error, once logging is enabled.
package struct DefaultLog: LogHandler {
  static let threshold = NIOLockedValueBox(Logger.Level.critical)

  static var logger: Logger { logger("hearth.database") }

  package static func logger(_ label: String) -> Logger {
    Logger(label: label) { DefaultLog(output: .standardError(label: $0)) }
  }

  private var output: StreamLogHandler

  private init(output: StreamLogHandler) {
    self.output = output
    self.output.logLevel = .debug
  }

  /// Writes messages of this level and more severe ones from now on, for all databases.
  package static func setThreshold(_ name: String) {
    if let level = Logger.Level(rawValue: name) { threshold.withLockedValue { $0 = level } }
  }

  /// The least severe level that is written; `critical` while logging is disabled.
  package var logLevel: Logger.Level {
    get { max(output.logLevel, Self.threshold.withLockedValue { $0 }) }
    set { output.logLevel = newValue }
  }

  package var metadata: Logger.Metadata {
    get { output.metadata }
    set { output.metadata = newValue }
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { output[metadataKey: key] }
    set { output[metadataKey: key] = newValue }
  }

  package func log(event: LogEvent) {
    output.log(event: event)
  }
}
