import Dispatch
import Logging
import RealtimeDatabase
import RealtimeServer
import TestSupport

/// A server of its own on a Unix socket, and databases that are opened on it.
final class Station: Sendable {
  let directory: TemporaryDirectory
  let server: DatabaseServer
  let url: String

  private init() async throws {
    directory = try TemporaryDirectory()
    let options = DatabaseServer.Options(socketPath: directory.file("s"))
    let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    server = try await DatabaseServer.start(options, logger: silent)
    url = server.urls.first ?? ""
  }

  /// Opens another database on the server, as another client.
  func open(_ options: DatabaseOptions = DatabaseOptions()) throws -> Database {
    let database = try Database(url: url, options: options)
    database.callbackQueue = DispatchQueue(label: "test.callbacks")
    return database
  }

  /// Runs a server for as long as a test takes.
  static func run(_ body: (Station) async throws -> Void) async throws {
    let station = try await Station()
    do {
      try await body(station)
    } catch {
      await station.server.stop()
      throw error
    }
    await station.server.stop()
  }
}
