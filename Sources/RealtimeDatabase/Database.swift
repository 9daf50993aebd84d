public import Dispatch
public import Logging
internal import RealtimeTransport
internal import RealtimeTree

/// A database: where references come from, and the connection that they share.
///
/// ```swift
/// let database = try Database(url: "http://127.0.0.1:9000?ns=hearth")
/// let posts = database.reference(withPath: "posts")
/// posts.queryLimited(toLast: 10).observe(.childAdded) { print($0.key) }
/// ```
///
/// A connection is made at the first use and made again whenever it is lost. Everything may be called
/// from any thread; calls from one thread take effect in their order. Callbacks run on
/// ``callbackQueue``, in the order of what they tell.
public final class Database: Sendable {
  package let repo: Repo

  /// Opens a database; nothing is connected yet.
  ///
  /// - Parameters:
  ///   - url: `http://HOST:PORT?ns=NAME`, or `unix:/path/of/socket?ns=NAME`.
  ///   - options: How it connects.
  ///   - logger: Takes what the connection has to tell; silent by default.
  /// - Throws: ``DatabaseError`` of code `invalid_data` that says what is wrong with the URL.
  public init(
    url: String,
    options: DatabaseOptions = DatabaseOptions(),
    logger: Logger? = nil
  ) throws {
    let parsed: DatabaseURL
    do throws(DatabaseURLError) {
      parsed = try DatabaseURL(url)
    } catch {
      throw DatabaseError(.invalidData, reason: "\(error)")
    }
    guard parsed.path.isEmpty else {
      throw DatabaseError(.invalidData, reason: "the URL of a database ends at its root: \(url)")
    }
    let silent = Logger(label: "hearth.database") { _ in SwiftLogNoOpLogHandler() }
    repo = Repo(target: parsed.target, options: options, logger: logger ?? silent)
  }

  /// The root of the database.
  public func reference() -> DatabaseReference { DatabaseReference(repo: repo, path: .root) }

  /// The location at a path, whose parts are separated by slashes.
  public func reference(withPath path: String) -> DatabaseReference { reference().child(path) }

  /// Where callbacks run; the main queue unless set.
  ///
  /// It is a programmer error to set it after the database has been used.
  public var callbackQueue: DispatchQueue {
    get { repo.callbackQueue }
    set { repo.callbackQueue = newValue }
  }

  /// Cuts the connection and makes no other until ``goOnline()``.
  public func goOffline() { repo.setOffline(true) }

  /// Connects again after ``goOffline()``.
  public func goOnline() { repo.setOffline(false) }

  /// Gives up all writes that are not yet acknowledged, transactions excepted.
  public func purgeOutstandingWrites() { repo.purgeOutstandingWrites() }

  /// The time by the server's clock as far as it is known here, in milliseconds since 1970.
  public var serverTime: Int64 { repo.serverTime }

  /// Tells the state of the connection now and after each change, on ``callbackQueue``.
  public func observeConnection(_ block: @escaping @Sendable (ConnectionStatus) -> Void) {
    repo.observeStatus(block)
  }
}

/// How a database connects.
public struct DatabaseOptions: Sendable {
  /// The longest pause between attempts to connect.
  public var maximumReconnectDelay: Duration = .seconds(30)
  /// How long a read waits for a connection before it fails; nil for ever.
  public var readDeadline: Duration? = .seconds(10)
  /// Called on a thread of its own before each attempt to connect, which waits for its end.
  ///
  /// It may start the server that is about to be connected to.
  public var willConnect: (@Sendable () -> Void)?

  /// Makes the default options.
  public init() {}
}
