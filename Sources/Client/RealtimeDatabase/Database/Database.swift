public import Dispatch
public import Logging
internal import RealtimeCore
package import RealtimeTransport

/// A database: where references come from, and the connection that they share.
///
/// ```swift
/// let database = try Database(url: "http://127.0.0.1:9000?ns=hearth")
/// let posts = database.reference(withPath: "posts")
/// posts.queryLimited(toLast: 10).observe(.childAdded) { print($0.key) }
/// ```
///
/// The first use opens a connection, which is opened again whenever it is lost. It ends when nobody
/// holds the database or a reference, query or snapshot of it, no observer is left and no operation is
/// unfinished. Everything may be called from any thread; calls from one thread take effect in order.
/// Callbacks run on ``callbackQueue``, in the order of the events that they report.
public final class Database: Sendable {
  package let repo: Repo
  /// The address of the URL, even if ``useEmulator(withHost:port:)`` has chosen another server.
  package let address: ConnectionTarget
  /// The name of the app whose database it is, or nil when it was not found by name.
  package let appName: String?

  /// Opens a database; nothing is connected yet.
  ///
  /// - Parameters:
  ///   - url: `https://NAME.firebaseio.com`, `https://NAME.REGION.firebasedatabase.app`,
  ///     `https://HOST:PORT?ns=NAME`, without encryption `http://HOST:PORT?ns=NAME`, or
  ///     `unix:/path/of/socket?ns=NAME`.
  ///   - options: How it connects.
  ///   - logger: Receives log messages of the connection; without one, see ``setLoggingEnabled(_:)``.
  /// - Throws: ``DatabaseError`` of code `invalid_data` that says what is wrong with the URL.
  public convenience init(
    url: String,
    options: DatabaseOptions = DatabaseOptions(),
    logger: Logger? = nil
  ) throws {
    self.init(try Self.target(of: url), options: options, logger: logger, appName: nil)
  }

  init(
    _ target: ConnectionTarget,
    options: DatabaseOptions,
    logger: Logger? = nil,
    appName: String?
  ) {
    repo = Repo(target: target, options: options, logger: logger ?? DefaultLog.logger)
    address = target
    self.appName = appName
    repo.useLocalUser()
    if let provider = options.tokenProvider {
      repo.useTokens(of: provider)
    } else {
      TokenProviders.attach(repo, as: address.identity)
    }
  }

  deinit { repo.shutDown() }

  /// Where the database of a URL is.
  ///
  /// - Throws: ``DatabaseError`` of code `invalid_data` that says what is wrong with the URL.
  static func target(of url: String) throws -> ConnectionTarget {
    let parsed: DatabaseURL
    do throws(DatabaseURLError) {
      parsed = try DatabaseURL(url)
    } catch {
      throw DatabaseError(.invalidData, reason: "\(error)")
    }
    guard parsed.path.isEmpty else {
      throw DatabaseError(.invalidData, reason: "the URL of a database ends at its root: \(url)")
    }
    return parsed.target
  }

  // MARK: Locations

  /// The root of the database.
  public func reference() -> DatabaseReference { DatabaseReference(database: self, path: .root) }

  /// The location at a path, whose parts are separated by slashes.
  ///
  /// It is a programmer error to pass a path that no database can have: it traps.
  public func reference(withPath path: String) -> DatabaseReference { reference().child(path) }

  /// The location that a URL of this database names.
  ///
  /// After ``useEmulator(withHost:port:)`` it has two URLs: that of the emulator, and the one that the
  /// database was opened with.
  ///
  /// It is a programmer error to pass text that is not a URL, or the URL of another database: it traps.
  public func reference(fromURL databaseURL: String) -> DatabaseReference {
    let parsed: DatabaseURL
    do throws(DatabaseURLError) {
      parsed = try DatabaseURL(databaseURL)
    } catch {
      preconditionFailure("\(error)")
    }
    let own = repo.target
    precondition(
      [own.endpoint, address.endpoint].contains(parsed.target.endpoint)
        && (parsed.target.namespace ?? own.namespace) == own.namespace,
      "\(databaseURL) is not a URL of this database, \(own)"
    )
    return reference().child(of: Path(parsed.path.map { ChildKey($0) }))
  }

  // MARK: Connection

  /// Cuts the connection and makes no other until ``goOnline()``.
  ///
  /// Meanwhile, writes are queued, and local observers see them.
  public func goOffline() { repo.setOffline(true) }

  /// Connects again after ``goOffline()``.
  public func goOnline() { repo.setOffline(false) }

  /// Asks the server for a sign of life, unless one has just come.
  ///
  /// What comes of it is in ``ConnectionStatus/silentSince``.
  package func probe() { repo.probe() }

  /// Gives up all writes that are not yet acknowledged, transactions included.
  ///
  /// Local observers see the data as they were before; completions get `write_canceled`.
  public func purgeOutstandingWrites() { repo.purgeOutstandingWrites() }

  /// Connects to a server at another host and port, without encryption, and keeps the name of the database.
  ///
  /// It is a programmer error to call it after the database has been used: it traps.
  public func useEmulator(withHost host: String, port: Int) {
    precondition((1...65_535).contains(port), "\(port) is not a port")
    precondition(
      repo.retarget(host: host, port: port),
      "the server must be chosen before the database is used"
    )
  }

  // MARK: Settings

  /// Where callbacks run; the main queue unless set.
  ///
  /// Set it before the first use: earlier events are delivered on the queue of their time.
  ///
  /// It must be a serial queue: blocks rely on not running at the same time. A program whose main
  /// thread does not serve the main queue (with `dispatchMain()`, a run loop or an `async` `main`) sets
  /// a queue of its own here. Blocks that use what belongs to the main actor need the main queue.
  public var callbackQueue: DispatchQueue {
    get { repo.callbackQueue }
    set { repo.callbackQueue = newValue }
  }

  /// Whether data and writes outlive the process; false unless set.
  ///
  /// Then a file of ``DatabaseOptions/persistenceDirectory`` keeps:
  ///
  /// - Writes that are not acknowledged. The next database that opens the file shows them to its
  ///   observers and sends them before its own, in order. Servers of this package apply each of them
  ///   once; other servers may apply a write twice if its acknowledgement was lost. Their completions
  ///   are no longer called. If a process is killed, a write of its last milliseconds may be missing
  ///   (see ``waitUntilStored()``), but never half of one.
  /// - The data of everything that was observed, kept synced or read. Observers get them at once,
  ///   with ``SnapshotMetadata/isFromCache``, and then any changes from the server.
  ///
  /// Transactions and what is scheduled for the end of the connection are not kept. Keep one file for
  /// each person who signs in: writes are sent with whatever credential the database has then.
  ///
  /// Only one process uses a file at a time. A second one works without it and reports that to
  /// ``DatabaseOptions/onPersistenceProblem``.
  /// It is a programmer error to set it after the database has been used: it traps.
  public var isPersistenceEnabled: Bool {
    get { repo.settings.isPersistenceEnabled }
    set { repo.change { $0.isPersistenceEnabled = newValue } }
  }

  /// How large the file of ``isPersistenceEnabled`` may be, 10 MB unless set.
  ///
  /// When it grows larger, the data that were not used for longest are dropped from it, except pending
  /// writes and whatever is observed or kept synced now.
  /// It is a programmer error to set less than 1 MB or more than 100 MB, or to set it after the
  /// database has been used: it traps.
  public var persistenceCacheSizeBytes: UInt {
    get { repo.settings.persistenceCacheSizeBytes }
    set {
      precondition(
        (1_048_576...104_857_600).contains(newValue),
        "the size of the cache must be from 1 MB through 100 MB"
      )
      repo.change { $0.persistenceCacheSizeBytes = newValue }
    }
  }

  /// Waits until the disk has all earlier writes, so that they survive the process and a power loss.
  ///
  /// It does not wait for the server.
  ///
  /// - Throws: ``DatabaseError``, of code `persistence_unavailable` when ``isPersistenceEnabled`` is
  ///   false or the disk fails.
  public func waitUntilStored() async throws {
    let error = await withCheckedContinuation { continuation in
      repo.flush { continuation.resume(returning: $0) }
    }
    if let error { throw error }
  }

  /// Closes the database at once, without waiting for the last reference to it to go away.
  ///
  /// The connection is closed, observers are no longer called, and pending and later requests fail
  /// with `unavailable`. With ``isPersistenceEnabled``, writes that are not acknowledged are on disk
  /// when this returns.
  public func close() async {
    await withCheckedContinuation { continuation in
      repo.close { continuation.resume() }
    }
  }

  // MARK: State

  /// The time by the server's clock as far as it is known here, in milliseconds since 1970.
  public var serverTime: Int64 { repo.serverTime }

  /// Calls a block with the state of the connection, now and after each change, on ``callbackQueue``.
  public func observeConnection(_ block: @escaping (ConnectionStatus) -> Void) {
    let callback = Callback(block)
    repo.observeStatus { callback.call($0) }
  }
}
extension Database {
  /// Reports what the database does from now on, in place of an earlier observer; nil ends it.
  ///
  /// Existing observers and unanswered writes are reported first.
  ///
  /// - Parameter observer: Called on the database's own thread: it must be quick.
  package func observeDiagnostics(_ observer: (@Sendable (Diagnostic) -> Void)?) {
    repo.observeDiagnostics(observer)
  }
}
