import Dispatch
import Foundation
import Logging
import RealtimeAuth
import RealtimeDatabase
import RealtimeServer
import TestSupport

/// A database server, accounts for it, and a file for credentials.
final class Scene: Sendable {
  let directory: TemporaryDirectory
  let server: DatabaseServer
  let standIn: StandIn
  let url: String

  /// Everybody may read what is below "all"; only signed-in users what is below "private" and
  /// "users/UID".
  private static let rules = """
    {"rules": {
      "all": {".read": true, ".write": true},
      "private": {".read": "auth != null", ".write": "auth != null"},
      "users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid"}}
    }}
    """

  /// Runs a server and a stand-in for the duration of a test.
  init() async throws {
    directory = try TemporaryDirectory()
    standIn = try await StandIn.start()
    var options = DatabaseServer.Options(port: 0, rules: .source(Self.rules))
    options.credentialVerifier = StandInVerifier(standIn: standIn)
    let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    server = try await DatabaseServer.start(options, logger: silent)
    url = server.urls.first ?? ""
    afterTest {
      await self.server.stop()
      try? await self.standIn.stop()
    }
  }

  /// The accounts as a program sees them; kept ones are in the file that all programs of a scene
  /// share.
  func auth(isKept: Bool = false, account: String? = nil) throws -> Auth {
    var configuration = AuthConfiguration(databaseURL: url, apiKey: "AIzaSyKey")
    configuration.persistence = isKept ? .file(credentials) : .memory
    configuration.account = account
    let auth = try Auth(configuration)
    auth.useEmulator(withHost: "127.0.0.1", port: standIn.port)
    auth.callbackQueue = DispatchQueue(label: "test.auth")
    return auth
  }

  var credentials: String { directory.file("state/credentials.json") }

  /// A database used by the current user.
  func database(
    _ auth: Auth,
    configure: (inout DatabaseOptions) -> Void = { _ in }
  ) throws
    -> Database
  {
    var options = DatabaseOptions()
    options.tokenProvider = auth
    options.maximumReconnectDelay = .milliseconds(200)
    configure(&options)
    let database = try Database(url: url, options: options)
    database.callbackQueue = DispatchQueue(label: "test.callbacks")
    afterTest { await database.close() }
    return database
  }
}
