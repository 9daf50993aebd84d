import Dispatch
import Foundation
import RealtimeDatabase
import TestSupport

/// A directory for a client's file, and the databases that are opened on it one after another.
struct Keeping {
  let directory: TemporaryDirectory
  let problems = Record<DatabaseError.Code>()

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Opens a database that keeps its data in the directory.
  func open(
    _ url: String,
    readDeadline: Duration = .seconds(30),
    configure: (Database) -> Void = { _ in }
  ) throws -> Database {
    var options = DatabaseOptions()
    options.persistenceDirectory = directory.file("client")
    options.readDeadline = readDeadline
    let problems = problems
    options.onPersistenceProblem = { problems.append($0.code) }
    let database = try Database(url: url, options: options)
    database.callbackQueue = DispatchQueue(label: "test.callbacks")
    database.isPersistenceEnabled = true
    configure(database)
    return database
  }

  /// The file of the only database.
  var file: String? {
    let names = try? FileManager.default.contentsOfDirectory(atPath: directory.file("client"))
    return names?.first { $0.hasSuffix(".sqlite") }.map { directory.file("client/\($0)") }
  }
}

extension Database {
  /// Waits until the server has acknowledged everything.
  func waitUntilAcknowledged() async {
    let told = Record<ConnectionStatus>()
    observeConnection { told.append($0) }
    await told.wait { $0.last?.phase == .connected && $0.last?.pendingWrites == 0 }
  }
}
