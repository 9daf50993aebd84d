import Dispatch
import Foundation
import Logging
import RealtimeCore
import RealtimeServer
import TestSupport

@testable import RealtimeDatabase

/// A server on a Unix socket, and the databases that are opened on it.
final class Station: Sendable {
  let directory: TemporaryDirectory
  let server: DatabaseServer
  let url: String

  /// Runs a server for the duration of a test.
  init() async throws {
    directory = try TemporaryDirectory()
    let options = DatabaseServer.Options(socketPath: directory.file("s"))
    let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    server = try await DatabaseServer.start(options, logger: silent)
    url = server.urls.first ?? ""
    afterTest { await self.server.stop() }
  }

  /// Opens another database on the server, as a separate client.
  func open(_ options: DatabaseOptions = DatabaseOptions()) throws -> Database {
    let database = try Database(url: url, options: options)
    database.callbackQueue = DispatchQueue(label: "test.callbacks")
    return database
  }
}

/// A directory for a client's file, and the databases that are opened on it one after another.
struct Keeping {
  let directory: TemporaryDirectory
  let problems = Record<DatabaseError.Kind>()

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Opens a database that stores its data in the directory.
  func open(
    _ url: String,
    readDeadline: Duration = .seconds(30),
    configure: (Database) -> Void = { _ in }
  ) throws -> Database {
    var options = DatabaseOptions()
    options.persistenceDirectory = directory.file("client")
    options.readDeadline = readDeadline
    let problems = problems
    options.onPersistenceProblem = { problems.append($0.kind) }
    let database = try Database(url: url, options: options)
    database.callbackQueue = DispatchQueue(label: "test.callbacks")
    database.isPersistenceEnabled = true
    configure(database)
    return database
  }

  /// Copies the files that another one has stored, in the state that they are in.
  func copyFiles(of other: Keeping) throws {
    try FileManager.default.copyItem(
      atPath: other.directory.file("client"),
      toPath: directory.file("client")
    )
  }

  /// The file of the only database.
  var file: String? {
    let names = try? FileManager.default.contentsOfDirectory(atPath: directory.file("client"))
    return names?.first { $0.hasSuffix(".sqlite") }.map { directory.file("client/\($0)") }
  }
}

extension Database {
  func waitUntilAcknowledged() async {
    let told = Record<ConnectionStatus>()
    observeConnection { told.append($0) }
    await told.wait { $0.last?.phase == .connected && $0.last?.pendingWrites == 0 }
  }
}

/// What a store has reported.
final class Told: @unchecked Sendable {
  // Safety: guarded by the lock.
  private let lock = NSLock()
  private var allSizes: [Int64] = []
  private var allProblems: [OfflineStoreError] = []

  var sizes: [Int64] { lock.withLock { allSizes } }
  var problems: [OfflineStoreError] { lock.withLock { allProblems } }

  var observers: OfflineStoreObservers {
    OfflineStoreObservers { size in
      self.lock.withLock { self.allSizes.append(size) }
    } onProblem: { problem in
      self.lock.withLock { self.allProblems.append(problem) }
    }
  }
}

extension SQLiteOfflineStore {
  /// Waits until everything so far is on disk.
  func flush() async -> OfflineStoreError? {
    await withCheckedContinuation { continuation in
      flush { continuation.resume(returning: $0) }
    }
  }
}

extension StoredWrite {
  /// A write at `/a/b`.
  init(_ number: Int64, _ operation: WriteOperation? = nil, by owner: String? = nil) {
    let operation = operation ?? .set(.integer(number))
    self.init(
      number: number,
      key: WriteKey(client: "c", number: number),
      path: "a/b",
      operation: operation,
      estimate: operation,
      owner: owner
    )
  }
}
