import Logging
import NIOConcurrencyHelpers
import RealtimeCore
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

@Suite("Accounts that cannot be stored", .cleansUp)
struct AccountStoreFailureTests {
  /// Accounts in memory, none of whose changes can be stored.
  private struct FailingStore: IdentityStore {
    let kind: StoreError.Kind
    let isFailing: NIOLockedValueBox<Bool>
    /// Whether revocations cannot be read either.
    let isUnreadable: NIOLockedValueBox<Bool>
    /// How many times something was stored.
    let stored = NIOLockedValueBox(0)
    /// Called when a change could not be stored.
    var onFailure: @Sendable () -> Void = {}
    private let memory = MemoryIdentityStore()

    init(
      _ kind: StoreError.Kind,
      _ isFailing: NIOLockedValueBox<Bool> = .init(true),
      isUnreadable: NIOLockedValueBox<Bool> = .init(false)
    ) {
      self.kind = kind
      self.isFailing = isFailing
      self.isUnreadable = isUnreadable
    }

    func account(_ uid: String, in database: String) throws -> Account? {
      try memory.account(uid, in: database)
    }
    func account(of email: EmailAddress, in database: String) throws -> Account? {
      try memory.account(of: email, in: database)
    }
    func accounts(in database: String, after uid: String?, limit: Int) throws -> [Account] {
      try memory.accounts(in: database, after: uid, limit: limit)
    }
    func session(ofToken hash: [UInt8]) throws -> RefreshRecord? {
      try memory.session(ofToken: hash)
    }
    func code(_ hash: [UInt8]) throws -> OneTimeCode? { try memory.code(hash) }
    func revocations(since second: Int64) throws -> [TokenAuthority.Revocation] {
      if isUnreadable.withLockedValue({ $0 }) {
        throw StoreError(kind, description: "/secret/place: the disk does not work")
      }
      return try memory.revocations(since: second)
    }
    func apply(_ changes: [IdentityChange]) throws {
      if isFailing.withLockedValue({ $0 }) {
        onFailure()
        throw StoreError(kind, description: "/secret/place: the disk does not work")
      }
      try memory.apply(changes)
      stored.withLockedValue { $0 += 1 }
    }
    func secret(_ file: SecretFile) -> JSONValue? { memory.secret(file) }
    func setSecret(_ file: SecretFile, to json: JSONValue) { memory.setSecret(file, to: json) }
    func close() {}
  }

  /// What a user sends who signs up.
  private static let signUp = HTTPProbe.text(
    "POST",
    "/v1/accounts:signUp?key=any",
    #"{"email":"ada@example.com","password":"correct horse"}"#,
    lines: ["Content-Type: application/json"]
  )

  /// A request that creates an account.
  private var creation: IdentityRequest {
    var request = IdentityRequest(
      "POST",
      at: .administration(project: "hearth", nil),
      database: "hearth"
    )
    request.body = Array("{}".utf8)
    request.contentType = "application/json"
    request.isAdministrator = true
    return request
  }

  @Test(
    "A change that cannot be stored fails; an unknown outcome is also reported to the server",
    arguments: [
      (.full, 500, "INTERNAL_ERROR"),
      (.busy, 503, "UNAVAILABLE : The accounts cannot be reached at the moment."),
      (
        .superseded, 409,
        "ABORTED : Another server has just changed the account, or its database does not exist."
      ),
      (
        .failed, 500,
        "INTERNAL_ERROR : The storage failed; this may or may not have been stored."
      ),
    ] as [(StoreError.Kind, Int, String)]
  )
  func answer(kind: StoreError.Kind, status: Int, message: String) async throws {
    let losses = NIOLockedValueBox(0)
    let service = try await AccountService(
      { FailingStore(kind) },
      settings: IdentitySettings(),
      clock: { 1_700_000_000_000 },
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      onLoss: { _ in losses.withLockedValue { $0 += 1 } }
    )
    for _ in 1...2 {
      let answer = await service.answer(creation)
      #expect(answer.status == status)
      #expect(answer.json["error"]?["message"]?.string == message)
    }
    await service.close()
    // After the loss has been reported, nothing more is tried.
    #expect(losses.withLockedValue { $0 } == (kind == .failed ? 1 : 0))
  }

  @Test("A new password is stored together with the session that replaces the others")
  func newPassword() async throws {
    let store = FailingStore(.busy, .init(false))
    var settings = IdentitySettings()
    settings.passwordCost = .token
    let service = try await AccountService(
      { store },
      settings: settings,
      clock: { 1_700_000_000_000 },
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )
    var request = IdentityRequest("POST", at: .user("signUp"), database: "hearth")
    request.contentType = "application/json"
    request.body = Array(#"{"email":"ada@example.com","password":"correct horse"}"#.utf8)
    let token = try #require(await service.answer(request).json["idToken"]?.string)
    #expect(store.stored.withLockedValue { $0 } == 1)
    request = IdentityRequest("POST", at: .user("update"), database: "hearth")
    request.contentType = "application/json"
    let change = #""password":"battery staple","returnSecureToken":true"#
    request.body = Array(#"{"idToken":"\#(token)",\#(change)}"#.utf8)
    let answer = await service.answer(request)
    #expect(answer.status == 200 && answer.json["refreshToken"]?.string != nil, "\(answer)")
    #expect(store.stored.withLockedValue { $0 } == 2)
    await service.close()
  }

  @Test("A request is carried out again, silently, if another server was faster")
  func overtaken() async throws {
    let isFailing = NIOLockedValueBox(true)
    let log = NIOLockedValueBox<[String]>([])
    let service = try await AccountService(
      {
        var store = FailingStore(.superseded, isFailing)
        store.onFailure = { isFailing.withLockedValue { $0 = false } }
        return store
      },
      settings: IdentitySettings(),
      clock: { 1_700_000_000_000 },
      logger: .collecting(log)
    )
    #expect(await service.answer(creation).status == 200)
    #expect(!isFailing.withLockedValue { $0 })
    #expect(log.withLockedValue { $0 } == [])
    await service.close()
  }

  @Test(
    "Requests that have waited for a silent store are refused without trying it in turn",
    arguments: [(.busy, 503), (.failed, 500)] as [(StoreError.Kind, Int)]
  )
  func silent(kind: StoreError.Kind, status: Int) async throws {
    let isFailing = NIOLockedValueBox(true)
    let tries = NIOLockedValueBox(0)
    var settings = IdentitySettings()
    // Other servers use the store, too.
    settings.refreshInterval = .seconds(3_600)
    let service = try await AccountService(
      {
        var store = FailingStore(kind, isFailing)
        store.onFailure = { tries.withLockedValue { $0 += 1 } }
        return store
      },
      settings: settings,
      clock: { 1_700_000_000_000 },
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )
    let arrival = ContinuousClock.now
    #expect(await service.answer(creation, since: arrival).status == status)
    for _ in 1...3 { #expect(await service.answer(creation, since: arrival).status == 503) }
    #expect(tries.withLockedValue { $0 } == 1)
    // Who comes later tries it again.
    #expect(await service.answer(creation).status == status)
    #expect(tries.withLockedValue { $0 } == 2)
    isFailing.withLockedValue { $0 = false }
    #expect(await service.answer(creation).status == 200)
    await service.close()
  }

  @Test("A server with an account change of unknown outcome stops without answering")
  func end() async throws {
    let server = try await DatabaseServer.start(options(.failed))
    let http = try await HTTPProbe(server.address)
    let client = try await server.connectAndGreet()
    http.send(Self.signUp)
    #expect(try await http.rest() == "")
    #expect(try await client.messagesUntilClosed() == [])
    await expectError(\DatabaseServerError.kind, .storeFailed) {
      try await server.waitUntilStopped()
    }
  }

  @Test("A server whose account store is full keeps running")
  func full() async throws {
    let server = try await DatabaseServer.start(options(.full)).endingWithTest()
    let http = try await HTTPProbe(server.address)
    for _ in 1...2 {
      http.send(Self.signUp)
      try await http.answer(gives: 500)
    }
  }

  @Test("The log says when accounts cannot be read or written and when they can be again")
  func again() async throws {
    let isFailing = NIOLockedValueBox(true)
    let isUnreadable = NIOLockedValueBox(false)
    let log = NIOLockedValueBox<[String]>([])
    func says(_ text: String) -> Bool {
      log.withLockedValue { $0.contains { $0.contains(text) } }
    }
    var settings = IdentitySettings()
    settings.refreshInterval = .milliseconds(5)
    let service = try await AccountService(
      { FailingStore(.full, isFailing, isUnreadable: isUnreadable) },
      settings: settings,
      clock: { 1_700_000_000_000 },
      logger: .collecting(log),
      onLoss: { _ in }
    )
    for _ in 1...2 { #expect(await service.answer(creation).status == 500) }
    let told = log.withLockedValue { $0.filter { $0.contains("error cannot write the accounts") } }
    #expect(told.count == 1)
    isUnreadable.withLockedValue { $0 = true }
    while !says("error cannot read account changes by other servers") { await Task.yield() }
    #expect(!says("again"))
    isFailing.withLockedValue { $0 = false }
    isUnreadable.withLockedValue { $0 = false }
    #expect(await service.answer(creation).status == 200)
    #expect(says("notice the account store works again"))
    while !says("notice account changes by other servers are read again") { await Task.yield() }
    await service.close()
  }

  private func options(_ kind: StoreError.Kind) -> DatabaseServer.Options {
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.identities.openStore = { FailingStore(kind) }
    options.identities.adjust = { $0.passwordCost = .token }
    return options
  }
}
