import DurableFiles
import Foundation
package import Logging
import NIOConcurrencyHelpers
import PostgresStorage
import RealtimeDatabase
package import RealtimeServer

/// How this program stores databases and accounts; only this file names the implementations.
package enum Storage {
  /// The databases of a data directory, which need not exist yet.
  ///
  /// The logger gets how long loading takes, and background failures. The log mark is a file that
  /// records how far an observer has read the log of commits; later commits are kept for it.
  package static func databases(
    in directory: String,
    logger: Logger? = nil,
    logMark: String? = nil
  ) -> any StoredDatabases {
    var options = logger.map { StoreOptions.logging(to: $0) } ?? StoreOptions()
    options.logMark = logMark.map { LogMark(path: $0) }
    return SQLiteTreeStores(directory: directory, options: options)
  }

  /// The process that uses a data directory; nil if none does.
  static func holder(of directory: String) -> pid_t? { SQLiteTreeStores.holder(of: directory) }

  /// The database in a directory of its own.
  package static func database(at path: String) -> any StoredDatabase { SQLiteDatabase(at: path) }

  /// The backup in a file, or the database in a directory that somebody has named.
  static func copy(at path: String) -> any StoredDatabase {
    SQLiteDatabase(at: path, isCopy: true)
  }

  /// Ensures that something is a file or a directory, or missing; to open a pipe would wait for
  /// whoever writes to it.
  ///
  /// - Throws: ``CommandFailure`` when it is something else.
  static func requireFile(_ path: String) throws(CommandFailure) {
    var status = stat()
    guard stat(path, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
      return
    }
    throw CommandFailure(.usage, "\(path) is not a file, which a copy of a database is")
  }

  /// Replaces a database of a data directory with a backup; the previous files are kept.
  ///
  /// The database need not exist yet; one without damage is replaced only if that is asked for.
  /// Returns its check, and where the previous files are, if there were any.
  ///
  /// - Throws: `StoreError` when a server uses the database, the backup is damaged, or the database
  ///   is not.
  static func restore(
    _ name: String,
    in directory: String,
    from copy: String,
    replacesIntact: Bool
  ) throws -> (check: StoreCheck, replaced: String?) {
    let path = SQLiteTreeStores(directory: directory).directory(of: name)
    return try SQLiteDatabase(at: path).restore(from: copy, replacesIntact: replacesIntact)
  }

  /// Deletes a database of a data directory that no server uses, or gives it another name.
  ///
  /// - Throws: `StoreError` when a server uses the directory.
  static func remove(_ name: String, in paths: ProgramPaths) throws {
    try SQLiteTreeStores(directory: paths.data).remove(name, withAccountsIn: paths.identities)
  }

  static func rename(_ name: String, to newName: String, in paths: ProgramPaths) throws {
    try SQLiteTreeStores(directory: paths.data)
      .rename(name, to: newName, withAccountsIn: paths.identities)
  }

  package static func accounts(in directory: String) throws -> any MovableIdentityStore {
    try SQLiteIdentityStore(directory: directory)
  }

  static func hasAccounts(in directory: String) throws -> Bool {
    try SQLiteIdentityStore.exists(in: directory)
  }

  /// The databases in a PostgreSQL server, which several servers may share.
  ///
  /// The address is a libpq connection string. The logger and the log mark are those of
  /// ``databases(in:logger:logMark:)``. With `changesSchema`, the schema is created if it is
  /// missing.
  package static func shared(
    at address: String,
    logger: Logger? = nil,
    logMark: String? = nil,
    changesSchema: Bool = true,
    connections: Int? = nil
  ) -> any ClusterStore {
    var options = logger.map { PostgresStoreOptions.logging(to: $0) } ?? PostgresStoreOptions()
    options.version = SDKVersion.current
    if let connections { options.connections = connections }
    options.logMark = logMark.map { LogMark(path: $0) }
    options.changesSchema = changesSchema
    options.copy = { try SQLiteDatabase.copy($0, to: $1) }
    return PostgresTreeStores(at: PostgresAddress(address), options: options)
  }

  /// The least number of connections that a server needs.
  static var leastConnections: Int { PostgresStoreOptions.leastConnections }

  /// Waits until a shared storage answers, which may be started after its servers.
  ///
  /// - Throws: `StoreError` when it refuses this server, so that waiting does not help.
  static func waitUntilReached(_ store: any ClusterStore, logger: Logger) throws {
    var hasWaited = false
    while true {
      do {
        _ = try store.names()
        if hasWaited { logger.notice("PostgreSQL is reached") }
        return
      } catch let error as StoreError where error.kind == .unreachable {
        if !hasWaited { logger.warning("waiting for PostgreSQL: \(error)") }
        hasWaited = true
        poll(nil, 0, 500)
      }
    }
  }

  /// Opens the accounts in a PostgreSQL database.
  package static func sharedAccounts(
    at address: String,
    changesSchema: Bool = true
  ) throws -> any MovableIdentityStore {
    var options = PostgresStoreOptions()
    options.changesSchema = changesSchema
    return try PostgresIdentityStore(at: PostgresAddress(address), options: options)
  }

  /// How messages refer to a connection string: without its password.
  static func name(of address: String) -> String { PostgresAddress(address).description }

  /// The file name that a copy must have in a directory to be opened as a data directory.
  package static let fileName = "database.sqlite"
}

extension ProgramPaths {
  func databases() -> any StoredDatabases { Storage.databases(in: data) }
}

extension StoreOptions {
  /// The number of rows above which the log announces that a database is being loaded.
  private static let manyRows = 100_000
  /// Approximately how many rows are loaded per second.
  private static let rowsPerSecond = 2_000_000.0

  /// Options that make stores log how long loading takes, and background failures.
  static func logging(to logger: Logger) -> StoreOptions {
    var options = StoreOptions()
    // Several databases may be loaded at once, each on its own thread.
    let begun = NIOLockedValueBox<[String: (at: ContinuousClock.Instant, level: Logger.Level)]>([:])
    options.report = { event in
      switch event {
      case .loading(let directory, let rows):
        let level: Logger.Level = rows < manyRows ? .info : .notice
        begun.withLockedValue { $0[directory] = (.now, level) }
        let seconds = (Double(rows) / rowsPerSecond * 10).rounded(.up) / 10
        logger.log(
          level: level,
          "reading the database takes about \(seconds) seconds",
          metadata: ["directory": "\(directory)", "rows": "\(rows)"]
        )
      case .loaded(let directory, let revision):
        let start = begun.withLockedValue { $0.removeValue(forKey: directory) }
        guard let start else { return }
        logger.log(
          level: start.level,
          "the database is read",
          metadata: [
            "directory": "\(directory)", "commit": "\(revision)",
            "time": "\(ContinuousClock.now - start.at)",
          ]
        )
      case .foldFailed(let error):
        logger.warning("cannot fold the commit log, which keeps growing: \(error)")
      case .foldedAgain: logger.notice("the commit log is folded again")
      case .madePrivate(let directory):
        logger.warning(
          "the data directory was accessible to others; it is now restricted to its owner",
          metadata: ["directory": "\(directory)"]
        )
      case .markFailed(let error):
        logger.warning("losses after a crash may go unnoticed: \(error)")
      case .markedAgain: logger.notice("losses after a crash are noticed again")
      }
    }
    return options
  }
}

extension PostgresStoreOptions {
  static func logging(to logger: Logger) -> PostgresStoreOptions {
    var options = PostgresStoreOptions()
    let begun = NIOLockedValueBox<[String: ContinuousClock.Instant]>([:])
    options.report = { event in
      switch event {
      case .loading(let database, let rows):
        begun.withLockedValue { $0[database] = .now }
        logger.info(
          "the database is being read",
          metadata: ["database": "\(database)", "rows": "\(rows)"]
        )
      case .loaded(let database, let revision):
        guard let start = begun.withLockedValue({ $0.removeValue(forKey: database) }) else {
          return
        }
        logger.info(
          "the database is read",
          metadata: [
            "database": "\(database)", "commit": "\(revision)",
            "time": "\(ContinuousClock.now - start)",
          ]
        )
      case .foldFailed(let database, let error):
        logger.warning(
          "cannot fold the commit log, which keeps growing: \(error)",
          metadata: ["database": "\(database)"]
        )
      case .foldedAgain(let database):
        logger.notice("the commit log is folded again", metadata: ["database": "\(database)"])
      case .reconnected(let database, let wasStored):
        logger.notice(
          "the connection to PostgreSQL was lost during a commit, which another one settled",
          metadata: ["database": "\(database)", "stored": "\(wasStored)"]
        )
      case .renewalFailed(let error):
        logger.warning("cannot renew the lease: \(error)")
      case .renewedAgain: logger.notice("the lease is renewed again")
      }
    }
    return options
  }
}
