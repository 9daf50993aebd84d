import FirebaseAuth
import Foundation
import NIOConcurrencyHelpers
import RealtimeDatabase
import TestSupport
import Testing

@Suite("A database with sign-in", .timeLimit(.minutes(3)), .cleansUp)
struct DatabaseUserTests {
  private let ann = "ann@example.org"
  private let bob = "bob@example.org"
  private let password = "correct horse"

  @Test("Rules see the signed-in user from the next call on")
  func rules() async throws {
    let scene = try await Scene()
    let auth = try scene.auth()
    let database = try scene.database(auth)
    let place = database.reference(withPath: "private/x")
    await expectError(\DatabaseError.kind, .permissionDenied) { try await place.setValue(1) }
    let uid = try await auth.createUser(withEmail: ann, password: password).user.uid
    try await place.setValue(2)
    try await database.reference(withPath: "users/\(uid)").setValue("mine")
    await expectError(\DatabaseError.kind, .permissionDenied) {
      try await database.reference(withPath: "users/x").setValue(1)
    }
    try auth.signOut()
    await auth.settle()
    await expectError(\DatabaseError.kind, .permissionDenied) { try await place.setValue(3) }
  }

  // Differs: The databases and the `Auth`
  @Test("A database finds the Auth instance for its URL automatically")
  func automatic() async throws {
    let scene = try await Scene()
    var configuration = AuthConfiguration(databaseURL: scene.url)
    configuration.persistence = .memory
    Auth.configure(configuration)
    let early = try Database(url: scene.url)
    early.callbackQueue = DispatchQueue(label: "test.callbacks")
    let auth = Auth.auth(for: early)
    #expect(Auth.auth() === auth)
    auth.useEmulator(withHost: "127.0.0.1", port: scene.standIn.port)
    try await auth.signInAnonymously()
    let late = try Database(url: scene.url)
    late.callbackQueue = DispatchQueue(label: "test.callbacks")
    try await early.reference(withPath: "private/a").setValue(1)
    try await late.reference(withPath: "private/b").setValue(1)
    await early.close()
    await late.close()
  }

  @Test("An observer survives a token refresh and is canceled when it loses read access")
  func observers() async throws {
    let scene = try await Scene()
    let auth = try scene.auth()
    try await auth.createUser(withEmail: ann, password: password)
    let database = try scene.database(auth)
    let place = database.reference(withPath: "private/x")
    let told = Record<String>()
    place.observe(.value) { snapshot in
      told.append("\(snapshot.value ?? "-")")
    } withCancel: { _ in
      told.append("cancelled")
    }
    try await place.setValue("one")
    _ = try await auth.currentUser?.getIDToken(forcingRefresh: true)
    try await place.setValue("two")
    await told.wait { $0.last == "two" }
    try auth.signOut()
    await told.wait { $0.last == "cancelled" }
    #expect(Array(told.elements.suffix(3)) == ["one", "two", "cancelled"])
  }

  @Test("Offline writes wait for their own user and are not sent as the next one")
  func heldWrites() async throws {
    let scene = try await Scene()
    let auth = try scene.auth()
    let annsID = try await auth.createUser(withEmail: ann, password: password).user.uid
    let database = try scene.database(auth)
    try await database.reference(withPath: "all/start").setValue(1)
    database.goOffline()
    let answers = Record<String>()
    database.reference(withPath: "users/\(annsID)").setValue("ann's") { error, _ in
      answers.append(error.map { "\($0)" } ?? "stored")
    }
    let bobsID = try await auth.createUser(withEmail: bob, password: password).user.uid
    database.goOnline()
    try await database.reference(withPath: "users/\(bobsID)").setValue("bob's")
    #expect(answers.elements.isEmpty)
    try await auth.signIn(withEmail: ann, password: password)
    await answers.wait(for: 1)
    #expect(answers.elements == ["stored"])
  }

  @Test("A token that expired while the client was offline is refreshed before use")
  func connectsWithFreshToken() async throws {
    let scene = try await Scene()
    let auth = try scene.auth()
    let user = try await auth.createUser(withEmail: ann, password: password).user
    let database = try scene.database(auth)
    let place = database.reference(withPath: "private/x")
    try await place.setValue(1)
    database.goOffline()
    // The server forgets the token, as if it had expired early.
    let token = try await user.getIDToken()
    scene.standIn.state.withLockedValue { $0.idTokens[token] = nil }
    let answers = Record<String>()
    place.setValue(2) { error, _ in answers.append(error.map { "\($0)" } ?? "stored") }
    database.goOnline()
    await answers.wait(for: 1)
    #expect(answers.elements == ["stored"])
    #expect(try await user.getIDToken() != token)
  }

  @Test("The database waits and reports the reason while no token is available")
  func noTokens() async throws {
    let scene = try await Scene()
    let auth = try scene.auth()
    try await auth.createUser(withEmail: ann, password: password)
    // The server forgets the token, so that a new one is needed.
    scene.standIn.state.withLockedValue { $0.idTokens = [:] }
    for _ in 0..<1_000 { scene.standIn.plan("token", StandIn.error("BUSY", status: 503)) }
    let database = try scene.database(auth)
    let told = Record<ConnectionStatus>()
    database.observeConnection { told.append($0) }
    database.goOnline()
    await told.wait { $0.last?.problem?.reason.contains("signing in failed") == true }
    scene.standIn.state.withLockedValue { $0.planned = [:] }
    await told.wait { $0.last?.phase == .connected }
    try await database.reference(withPath: "private/x").setValue(1)
  }

  @Test("A disabled account is signed out, and the database continues unauthenticated")
  func disabled() async throws {
    let scene = try await Scene()
    scene.standIn.state.withLockedValue { $0.lifetime = 2 }
    let auth = try scene.auth()
    try await auth.createUser(withEmail: ann, password: password)
    let database = try scene.database(auth)
    try await database.reference(withPath: "private/x").setValue(1)
    let told = Record<String?>()
    auth.addStateDidChangeListener { _, user in told.append(user?.uid) }
    await told.wait(for: 1)
    scene.standIn.state.withLockedValue { $0.accounts[0].isDisabled = true }
    await told.wait(for: 2)
    #expect(told.elements.last == .some(nil))
    try await database.reference(withPath: "all/x").setValue(1)
    await expectError(\DatabaseError.kind, .permissionDenied) {
      try await database.reference(withPath: "private/x").setValue(2)
    }
  }
}
