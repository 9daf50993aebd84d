import Logging
import RealtimeCore
import RealtimeHub
import RealtimeServer
import Testing

@Suite("Accounts that cannot be stored")
struct DoubtTests {
  /// Accounts in memory, of which no change can be stored.
  private struct FailingStore: IdentityStore {
    let doubt: StoreError.Doubt?
    private let memory = MemoryIdentityStore()

    init(_ doubt: StoreError.Doubt?) { self.doubt = doubt }

    func account(_ uid: String, in database: String) -> Account? {
      memory.account(uid, in: database)
    }
    func account(of email: EmailAddress, in database: String) -> Account? {
      memory.account(of: email, in: database)
    }
    func accounts(in database: String, after uid: String?, limit: Int) -> [Account] {
      memory.accounts(in: database, after: uid, limit: limit)
    }
    func session(ofToken hash: [UInt8]) -> RefreshRecord? { memory.session(ofToken: hash) }
    func code(_ hash: [UInt8]) -> OneTimeCode? { memory.code(hash) }
    func revocations(since second: Int64) -> [TokenAuthority.Revocation] {
      memory.revocations(since: second)
    }
    func apply(_ changes: [IdentityChange]) throws {
      throw StoreError(.failed, "/secret/place: the disk does not work", doubt: doubt)
    }
    func secret(_ file: SecretFile) -> JSONValue? { memory.secret(file) }
    func setSecret(_ file: SecretFile, to json: JSONValue) { memory.setSecret(file, to: json) }
    func close() {}
  }

  @Test(
    "Who asks is told that a change has failed, or that nobody knows",
    arguments: [
      (nil, "INTERNAL_ERROR"), (.earlierBatch, "INTERNAL_ERROR"),
      (
        .thisBatch,
        "INTERNAL_ERROR : The disk does not work; it is not known whether this was stored."
      ),
    ] as [(StoreError.Doubt?, String)]
  )
  func answer(doubt: StoreError.Doubt?, message: String) async throws {
    let service = try await AccountService.open(
      { FailingStore(doubt) },
      settings: IdentitySettings(),
      clock: { 1_700_000_000_000 },
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )
    var request = IdentityRequest(
      "POST",
      .administration(project: "hearth", nil),
      database: "hearth"
    )
    request.body = Array("{}".utf8)
    request.contentType = "application/json"
    request.isLocalAdministrator = true
    let answer = await service.answer(request)
    await service.close()
    #expect(answer.status == 500)
    #expect(answer.json["error"]?["message"]?.string == message)
  }
}
