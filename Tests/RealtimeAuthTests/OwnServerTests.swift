import FirebaseAuth
import Foundation
import Logging
import RealtimeDatabase
import RealtimeServer
import TestSupport
import Testing

/// The accounts of this project's own server, which handles them on the database's port.
@Suite("Accounts on Hearth's own server", .timeLimit(.minutes(15)), .cleansUp)
struct OwnServerTests {
  private static let rules = """
    {"rules": {
      "users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid"}}
    }}
    """

  /// Starts a server for the duration of a test, and returns its URL.
  private func start() async throws -> String {
    let options = DatabaseServer.Options(port: 0, rules: .source(Self.rules))
    let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let server = try await DatabaseServer.start(options, logger: silent)
    afterTest { await server.stop() }
    return try #require(server.urls.first)
  }

  private func open(_ url: String) throws -> (auth: Auth, database: Database) {
    var configuration = AuthConfiguration(databaseURL: url)
    configuration.persistence = .memory
    let auth = try Auth(configuration)
    auth.callbackQueue = DispatchQueue(label: "test.auth")
    var options = DatabaseOptions()
    options.tokenProvider = auth
    options.maximumReconnectDelay = .milliseconds(500)
    let database = try Database(url: url, options: options)
    database.callbackQueue = DispatchQueue(label: "test.callbacks")
    return (auth, database)
  }

  @Test("A new user can write under their own ID and no other")
  func signUp() async throws {
    let url = try await start()
    let (auth, database) = try open(url)
    let email = "Ann@Example.org"
    let user = try await auth.createUser(withEmail: email, password: "correct horse").user
    #expect(user.email == "ann@example.org")
    let request = user.createProfileChangeRequest()
    request.displayName = "Ann"
    try await request.commitChanges()
    #expect(user.displayName == "Ann")
    try await database.reference(withPath: "users/\(user.uid)/username").setValue("Ann")
    await #expect(throws: DatabaseError.self) {
      try await database.reference(withPath: "users/another/username").setValue("Ann")
    }
    try auth.signOut()
    try await auth.signIn(withEmail: email, password: "correct horse")
    #expect(auth.currentUser?.uid == user.uid)
    #expect(auth.currentUser?.displayName == "Ann")
    await database.close()
  }

  @Test("A guest links an email, changes the password and deletes the account")
  func guest() async throws {
    let url = try await start()
    let (auth, database) = try open(url)
    let guest = try await auth.signInAnonymously().user
    #expect(guest.isAnonymous)
    let linked = try await guest.link(withEmail: "bob@example.org", password: "correct horse")
    #expect(linked.user.uid == guest.uid)
    try await linked.user.updatePassword(to: "another horse")
    _ = try await linked.user.getIDToken(forcingRefresh: true)
    await #expect(throws: AuthError.self) {
      try await auth.signIn(withEmail: "bob@example.org", password: "correct horse")
    }
    try await auth.signIn(withEmail: "bob@example.org", password: "another horse")
    try await auth.currentUser?.delete()
    #expect(auth.currentUser == nil)
    await #expect(throws: AuthError.self) {
      try await auth.signIn(withEmail: "bob@example.org", password: "another horse")
    }
    await database.close()
  }
}
