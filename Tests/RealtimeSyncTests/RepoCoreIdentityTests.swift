import RealtimeCore
import Testing

@testable import RealtimeDatabase

@Suite("RepoCore: users")
struct RepoCoreIdentityTests {
  /// An engine that acts as Ann.
  private func signedIn(_ extensions: Set<ServerHello.Extension> = []) -> CoreDriver {
    var driver = CoreDriver.idle(extensions)
    signIn("ann", &driver)
    accept(&driver)
    return driver
  }

  private func signIn(_ user: String, _ driver: inout CoreDriver) {
    driver.feed(.actAs(user: user))
    driver.feed(.authenticate(ClientRequest.Authentication(credential: "token of \(user)")))
  }

  /// Lets the server accept the last credential that was sent.
  private func accept(_ driver: inout CoreDriver, _ status: StatusCode = .ok) {
    let request = driver.requests.last {
      if case .authenticate = $0.request { true } else { false }
    }
    if let request { driver.answer(request.id, status) }
  }

  // Differs: A pending write is sent only
  @Test("A signed-out user's write is not sent as the next user; it waits for its own")
  func heldWrites() throws {
    var driver = CoreDriver.idle()
    signIn("ann", &driver)
    driver.lose()
    try driver.set("a", "1")
    signIn("bob", &driver)
    try driver.set("b", "2")
    driver.forget()
    driver.connect()
    accept(&driver)
    #expect(driver.sentWrites.map(\.write.path) == ["b"])
    #expect(driver.core.pendingWriteCount == 2)
    driver.forget()
    signIn("ann", &driver)
    accept(&driver)
    #expect(driver.sentWrites.map(\.write.path) == ["a"])
    #expect(
      driver.requests.first?.request
        == .authenticate(ClientRequest.Authentication(credential: "token of ann"))
    )
  }

  @Test("A write in flight is not sent again when its user gets a new token")
  func onceUnderWay() throws {
    var driver = signedIn()
    try driver.set("a", "1")
    driver.forget()
    signIn("ann", &driver)
    accept(&driver)
    #expect(driver.sentWrites.isEmpty)
  }

  @Test("A write made while signed out is sent as the next user who signs in")
  func writesOfNobody() throws {
    var driver = CoreDriver.idle()
    driver.lose()
    try driver.set("a", "1")
    signIn("ann", &driver)
    driver.forget()
    driver.connect()
    #expect(driver.sentWrites.isEmpty)
    accept(&driver)
    #expect(driver.sentWrites.map(\.write.path) == ["a"])
  }

  @Test("Signing out cancels onDisconnect operations that have not been sent")
  func disconnectActions() {
    var driver = CoreDriver.idle()
    signIn("ann", &driver)
    driver.lose()
    driver.feed(.onDisconnect(driver.token(), path: "o", .set(.integer(1))))
    driver.forget()
    driver.feed(.actAs(user: nil))
    #expect(driver.completions == ["write 1 write_canceled"])
  }

  // Differs: When the user changes
  @Test("Signing out ends unsent transactions")
  func transactions() {
    var driver = CoreDriver.idle()
    signIn("ann", &driver)
    driver.lose()
    driver.transact("t") { _ in .commit(.integer(1)) }
    driver.forget()
    signIn("bob", &driver)
    #expect(driver.completions == ["transaction 1 write_canceled false null"])
    driver.forget()
    driver.connect()
    accept(&driver)
    #expect(driver.sentWrites.isEmpty)
  }

  @Test("A transaction in flight at sign-out is not retried as the next user")
  func staleTransaction() throws {
    var driver = signedIn([.writeOnce])
    driver.transact("t") { _ in .commit(.integer(1)) }
    let write = try #require(driver.sentWrites.last)
    driver.forget()
    signIn("bob", &driver)
    driver.answer(write.id, .dataStale)
    #expect(driver.completions == ["transaction 1 write_canceled false null"])
    #expect(driver.sentWrites.isEmpty)
  }

  @Test("A former user's transaction whose response was lost fails instead of being resent")
  func lostTransaction() {
    var driver = signedIn([.writeOnce])
    driver.transact("t") { _ in .commit(.integer(1)) }
    signIn("bob", &driver)
    driver.lose()
    driver.forget()
    driver.connect([.writeOnce])
    #expect(driver.sentWrites.isEmpty)
    #expect(driver.completions == ["transaction 1 disconnect false null"])
  }

  @Test("A listen revoked with the old token is requested again with the new one")
  func unsettledListen() throws {
    var driver = signedIn()
    _ = try driver.observe("l", answered: "1")
    driver.feed(.authenticate(ClientRequest.Authentication(credential: "newer")))
    driver.forget()
    driver.receive(.push(.listenRevoked(path: "l", queries: nil)))
    #expect(driver.completions.isEmpty)
    driver.answer(4)
    #expect(driver.listens == ["q /l \(Node.integer(1).hash)"])
    #expect(driver.completions.isEmpty)
  }

  @Test("A listen denied to the next user is canceled once its second request is denied")
  func refusedListen() throws {
    var driver = signedIn()
    let listener = try driver.observe("l", answered: "1")
    signIn("bob", &driver)
    driver.forget()
    driver.receive(.push(.listenRevoked(path: "l", queries: nil)))
    driver.answer(4)
    driver.answer(try #require(driver.requests.last).id, .permissionDenied, "no")
    #expect(driver.completions == ["cancelled \(listener.number) permission_denied"])
  }

  // Differs: A token that expires
  @Test("A rejected token cancels no listener, even if the server revokes the listen first")
  func refusedToken() throws {
    var driver = signedIn()
    _ = try driver.observe("l", answered: "1")
    driver.feed(.authenticate(ClientRequest.Authentication(credential: "old")))
    driver.forget()
    driver.receive(.push(.listenRevoked(path: "l", queries: nil)))
    driver.answer(4, .expiredToken, "Auth token is expired.")
    #expect(!driver.core.isConnected)
    #expect(driver.completions.isEmpty)
    driver.forget()
    driver.feed(.authenticate(ClientRequest.Authentication(credential: "new")))
    driver.connect()
    #expect(driver.listens == ["q /l \(Node.integer(1).hash)"])
  }

  @Test("Writes and reads wait for the auth response and stay queued if the token is rejected")
  func waitsForAnswer() throws {
    var driver = CoreDriver.idle()
    signIn("ann", &driver)
    try driver.set("a", "1")
    driver.feed(.get(driver.token(), path: "g", query: .all))
    driver.feed(.onDisconnect(driver.token(), path: "o", .set(.integer(1))))
    #expect(driver.requests.count == 1)
    accept(&driver, .expiredToken)
    #expect(driver.completions.isEmpty)
    driver.forget()
    signIn("ann", &driver)
    driver.connect()
    #expect(driver.sentWrites.isEmpty)
    accept(&driver)
    let sent = driver.requests.map(\.request).dropFirst()
    #expect(
      Array(sent) == [
        .write(WriteRequest(path: "a", operation: .set(.integer(1)))),
        .onDisconnect(path: "o", .set(.integer(1))), .get(path: "g", query: .all),
      ]
    )
  }

  @Test("A write stored for one user is not sent as another")
  func restoredWrites() {
    var driver = CoreDriver()
    let key = WriteKey(client: "c0", number: 7)
    let write = StoredWrite(
      number: 7,
      key: key,
      path: "a",
      operation: .set(.integer(1)),
      estimate: .set(.integer(1)),
      owner: "ann"
    )
    driver.core.restore(OfflineState(writes: [write])) { _ in nil }
    driver.feed(.actAs(user: "bob"))
    driver.connect()
    #expect(driver.sentWrites.isEmpty)
    signIn("ann", &driver)
    accept(&driver)
    #expect(driver.sentWrites.map(\.write.path) == ["a"])
  }
}
