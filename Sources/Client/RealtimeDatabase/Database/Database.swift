public import Dispatch
public import Logging
internal import NIOConcurrencyHelpers
internal import RealtimeCore
package import RealtimeTransport

/// A database and its connection, which all of its references share.
///
/// ```swift
/// let database = try Database(url: "http://127.0.0.1:9000?ns=hearth")
/// let posts = database.reference(withPath: "posts")
/// posts.queryLimited(toLast: 10).observe(.childAdded) { print($0.key) }
/// ```
///
/// The first use opens a connection, which is reopened whenever it is lost. The connection closes
/// once there is no reference to the database or to any of its references, queries and snapshots,
/// no observer and no unfinished operation. All methods may be called from any thread; calls from
/// one thread take effect in order. Callbacks run on ``callbackQueue``, in the order of the events
/// that they report. With ``isPersistenceEnabled``, completions of writes wait for the file: they keep
/// their order among themselves, but may come after the callbacks of later events. A refused write's
/// comes right after the events that take the write back.
public final class Database: Sendable {
  let repo: Repo
  /// The address in the URL, even if ``useEmulator(withHost:port:)`` has chosen another server.
  package let address: ConnectionTarget
  /// The name of the app that the database belongs to; nil if it was not looked up by app.
  package let appName: String?

  /// Creates a database without connecting; the first use connects.
  ///
  /// - Parameters:
  ///   - url: `https://NAME.firebaseio.com`, `https://NAME.REGION.firebasedatabase.app`,
  ///     `https://HOST:PORT?ns=NAME`, `http://HOST:PORT?ns=NAME` (not encrypted), or
  ///     `unix:/path/of/socket?ns=NAME`.
  ///   - options: How the database connects, waits and stores data.
  ///   - logger: Receives log messages of the connection; without one, see ``setLoggingEnabled(_:)``.
  /// - Throws: ``DatabaseError`` of kind `invalid_data` that says what is wrong with the URL.
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
    if options.localUser != nil { repo.submit(isUse: false) { $0.actAsLocalUser() } }
    if let provider = options.tokenProvider {
      repo.useTokens(of: provider)
    } else {
      TokenProviders.attach(repo, as: address.identity)
    }
  }

  deinit { repo.submit(isUse: false) { $0.end() } }

  /// The address of the server and the name of the database in a URL.
  ///
  /// - Throws: ``DatabaseError`` of kind `invalid_data` that says what is wrong with the URL.
  package static func target(of url: String) throws(DatabaseError) -> ConnectionTarget {
    let parsed = try parsed(url)
    guard parsed.path.isEmpty else {
      throw .invalid("a database URL must not have a path: \(url)")
    }
    return parsed.target
  }

  private static func parsed(_ url: String) throws(DatabaseError) -> DatabaseURL {
    do throws(DatabaseURLError) {
      return try DatabaseURL(url)
    } catch {
      throw .invalid("\(error)")
    }
  }

  // MARK: Locations

  /// The root of the database.
  public func reference() -> DatabaseReference {
    // From now on the settings of persistence are fixed.
    repo.shared.withLockedValue { $0.isReferenced = true }
    return DatabaseReference(database: self, path: .root)
  }

  /// The location at a path; slashes separate its keys.
  ///
  /// Passing an empty path, or one that no database can have, is a programmer error and traps; `/` is
  /// the root. For text from outside the program, use ``DatabaseReference/child(validating:)`` or ``escapedKey(_:)``.
  public func reference(withPath path: String) -> DatabaseReference { reference().child(path) }

  /// The location that a URL of this database names.
  ///
  /// After ``useEmulator(withHost:port:)``, both the emulator's URL and the URL that the database
  /// was opened with are accepted.
  ///
  /// Passing anything other than a URL of this database is a programmer error and traps. For text
  /// from outside the program, use ``reference(validatingURL:)``.
  public func reference(fromURL databaseURL: String) -> DatabaseReference {
    do throws(DatabaseError) {
      return try reference(validatingURL: databaseURL)
    } catch {
      let throwing = "reference(validatingURL:)"
      CallerContract.fail("\(error.reason); for text from outside, use \(throwing)")
    }
  }

  /// The location that a URL of this database names; the URL may come from outside the program.
  ///
  /// - Parameter databaseURL: The URL.
  /// - Returns: The location.
  /// - Throws: ``DatabaseError`` of kind `invalid_data` that says what is wrong with the URL.
  public func reference(
    validatingURL databaseURL: String
  ) throws(DatabaseError) -> DatabaseReference {
    let parsed = try Self.parsed(databaseURL)
    let own = repo.target
    guard [own.endpoint, address.endpoint].contains(parsed.target.endpoint),
      (parsed.target.namespace ?? own.namespace) == own.namespace
    else { throw .invalid("\(databaseURL) does not belong to this database, \(own)") }
    let path = Path(parsed.path.map { ChildKey($0) })
    return try reference().child(validating: path)
  }

  // MARK: Connection

  /// Closes the connection and does not reconnect until ``goOnline()``.
  ///
  /// Writes made in between are queued, and local observers see them.
  public func goOffline() { repo.submit { $0.handle(.goOffline(.user)) } }

  /// Reconnects after ``goOffline()``.
  public func goOnline() { repo.submit { $0.handle(.goOnline(.user)) } }

  /// Asks the server for a sign of life, unless one has just arrived.
  ///
  /// ``ConnectionStatus/silentSince`` shows the result.
  package func probe() { repo.submit(isUse: false) { $0.handle(.probe) } }

  /// Discards all writes that are not yet acknowledged, including transactions.
  ///
  /// Local observers see the data without them; completions get `write_canceled`.
  public func purgeOutstandingWrites() { repo.submit { $0.handle(.purgeOutstandingWrites) } }

  /// Uses the server at another host and port, unencrypted; the database keeps its name.
  ///
  /// Calling it after the database has been used, or with a host that has a scheme, a port or
  /// brackets, is a programmer error and traps.
  public func useEmulator(withHost host: String, port: Int) {
    CallerContract.requireServer(at: host, port: port)
    CallerContract.require(
      repo.retarget(host: host, port: port),
      "choose the server before using the database"
    )
  }

  // MARK: Settings

  /// The queue on which callbacks run; the main queue by default.
  ///
  /// Set it before the first use: events raised before a change are delivered on the old queue.
  ///
  /// It must be a serial queue, because blocks rely on not running concurrently. A program whose
  /// main thread does not serve the main queue (with `dispatchMain()`, a run loop or an `async`
  /// `main`) must set its own queue here. Blocks that use main-actor state need the main queue.
  public var callbackQueue: DispatchQueue {
    get { repo.callbackQueue }
    set { repo.callbackQueue = newValue }
  }

  /// Whether data and writes outlive the process; false by default.
  ///
  /// If true, a file in ``DatabaseOptions/persistenceDirectory`` keeps:
  ///
  /// - Unacknowledged writes. The next database that opens the file shows them to its observers and
  ///   sends them, in order, before its own. Servers of this package apply each of them once; other
  ///   servers may apply a write twice if its acknowledgement was lost. Their completions are not
  ///   called. If the process is killed, writes of its last milliseconds may be missing (see
  ///   ``waitUntilStored()``), but no write is kept in part.
  /// - The data of everything that was observed, kept synced or read. Observers get it at once,
  ///   with ``SnapshotMetadata/isFromCache``, and then any changes from the server.
  ///
  /// Transactions and onDisconnect operations are not kept. A write of a signed-in user is sent
  /// only under that user; a write made while signed out is sent with whatever credential the
  /// database has at that time. Use one file for each person who signs in.
  ///
  /// Only one process uses a file at a time. A second one works without it and reports that to
  /// ``DatabaseOptions/onPersistenceProblem``. As in the original, setting this after the first
  /// reference to the database was made is a programmer error and traps.
  public var isPersistenceEnabled: Bool {
    get { repo.settings.isPersistenceEnabled }
    set { repo.change { $0.isPersistenceEnabled = newValue } }
  }

  /// The maximum size of the file of ``isPersistenceEnabled``; 10 MB by default.
  ///
  /// When the file grows beyond it, the least recently used data is dropped, except pending writes
  /// and data that is observed or kept synced. Setting less than 1 MB or more than 100 MB, or
  /// setting this after the first reference to the database was made, is a programmer error and
  /// traps.
  public var persistenceCacheSizeBytes: UInt {
    get { repo.settings.persistenceCacheSizeBytes }
    set {
      CallerContract.require(
        (1_048_576...104_857_600).contains(newValue),
        "the cache size must be 1 MB to 100 MB"
      )
      repo.change { $0.persistenceCacheSizeBytes = newValue }
    }
  }

  /// Waits until all earlier writes are on disk, so that they survive a crash and a power loss.
  ///
  /// It does not wait for the server.
  ///
  /// - Throws: ``DatabaseError``, of kind `persistence_unavailable` when ``isPersistenceEnabled`` is
  ///   false or the disk fails.
  public func waitUntilStored() async throws {
    let error = await withCheckedContinuation { continuation in
      repo.flush { continuation.resume(returning: $0) }
    }
    if let error { throw error }
  }

  /// Closes the database immediately, even if references to it still exist.
  ///
  /// The connection is closed, and pending and later requests fail with `unavailable`. So do
  /// observers: their cancel blocks are called, and loops end with the error. With
  /// ``isPersistenceEnabled``, unacknowledged writes are on disk when this returns.
  public func close() async {
    await withCheckedContinuation { continuation in
      repo.close { continuation.resume() }
    }
  }

  /// Makes observers that are removed miss events that were raised before.
  ///
  /// The original delivers them, and so does this library without this call.
  package func silenceRemovedObservers() {
    repo.shared.withLockedValue { $0.silencesRemovedObservers = true }
  }

  /// Makes ``ConnectionStatus/pendingWrites`` leave out writes below these children of the root; call
  /// it before the first use.
  package func leaveOutOfPendingWrites(below children: Set<String>) {
    repo.shared.withLockedValue { $0.uncounted = Set(children.map { ChildKey($0) }) }
  }

  /// Makes writes below these children of the root end with the connection that they are made on: they
  /// fail instead of being stored or sent again; call it before the first use.
  package func endWithConnection(writesBelow children: Set<String>) {
    let keys = Set(children.map { ChildKey($0) })
    repo.submit(isUse: false) { $0.core.configuration.ephemeral = keys }
  }

  // MARK: State

  /// The server's current time, as estimated locally, in milliseconds since 1970.
  public var serverTime: Int64 { repo.serverTime }

  /// Calls a block on ``callbackQueue`` with the connection status, at once and on each change until
  /// the database closes.
  public func observeConnection(_ block: @escaping (ConnectionStatus) -> Void) {
    let callback = Callback(block)
    repo.observeStatus { callback.call($0) }
  }
}
extension Database {
  /// Calls a block on ``callbackQueue`` once the server has sent or confirmed everything observed.
  ///
  /// The events of that data come first. Without a connection, the block waits for one; it is not
  /// called if the database is closed before.
  package func whenCurrent(_ block: @escaping @Sendable () -> Void) { repo.whenCurrent(block) }

  /// Reports what the database does to an observer, which replaces the previous one; nil ends it.
  ///
  /// Existing observers and unacknowledged writes are reported first.
  ///
  /// - Parameter observer: Called on the database's own thread, so it must return quickly.
  package func observeDiagnostics(_ observer: (@Sendable (Diagnostic) -> Void)?) {
    repo.observeDiagnostics(observer)
  }

  /// What causes the writes that the current task or thread makes, for an observer of diagnostics;
  /// nil if nothing is known.
  ///
  /// Whoever makes them later, on another queue, names it there again.
  @TaskLocal package static var causeOfWrites: String?
}
