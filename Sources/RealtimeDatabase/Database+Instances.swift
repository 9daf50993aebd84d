internal import NIOConcurrencyHelpers

/// The databases that are found by name, as programs written for the original expect.
extension Database {
  private struct Instances {
    var defaultURL: String?
    var options = DatabaseOptions()
    var opened: [String: Database] = [:]
  }

  // The original finds its databases without a context, so that one table per process is needed.
  private static let instances = NIOLockedValueBox(Instances())

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
    _ = try Database(url: url, options: options)
    instances.withLockedValue {
      $0.defaultURL = url
      $0.options = options
    }
  }

  /// The database of ``configure(url:options:)``, the same one at each call.
  ///
  /// It is a programmer error to call it before: it traps. A database that was found by this or by
  /// ``database(url:)`` stays open until the process ends.
  public static func database() -> Database {
    guard let url = instances.withLockedValue(\.defaultURL) else {
      preconditionFailure("call Database.configure(url:) before Database.database()")
    }
    return database(url: url)
  }

  /// The database at a URL, the same one at each call.
  ///
  /// It is a programmer error to pass what is not the URL of a database: it traps. For text that
  /// comes from outside there is ``init(url:options:logger:)``, which throws.
  public static func database(url: String) -> Database {
    instances.withLockedValue { instances in
      if let database = instances.opened[url] { return database }
      do {
        let database = try Database(url: url, options: instances.options)
        instances.opened[url] = database
        return database
      } catch {
        preconditionFailure("\(error)")
      }
    }
  }

  /// The URL of ``configure(url:options:)``, or nil before.
  package static var configuredURL: String? { instances.withLockedValue(\.defaultURL) }

  /// All databases that were found by name.
  static var opened: [Database] {
    instances.withLockedValue { Array($0.opened.values) }
  }

  /// Has databases without a logger of their own write to standard error what their connections tell.
  public static func setLoggingEnabled(_ isEnabled: Bool) {
    DefaultLog.isEnabled.withLockedValue { $0 = isEnabled }
  }

  /// The version of this library.
  public static func sdkVersion() -> String { SDKVersion.current }
}
