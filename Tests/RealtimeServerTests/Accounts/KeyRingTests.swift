import Logging
import NIOConcurrencyHelpers
import RealtimeCore
import Testing

@testable import RealtimeServer

@Suite("KeyRing")
struct KeyRingTests {
  private static let random = [UInt8](0..<48)

  @Test("Decoded keys equal the originals and sign alike")
  func json() throws {
    var ring = try KeyRing(random: Self.random, now: 1)
    let signature = try #require(ring.current.signature(of: [1, 2, 3]))
    let old = ring.current.id
    try ring.rotate(at: 2)
    let read = try #require(KeyRing(json: ring.json))
    #expect(read.serverID == ring.serverID && read.refreshSecret == ring.refreshSecret)
    #expect(read.current.id == ring.current.id)
    #expect(read[old]?.isSigned([1, 2, 3], by: signature) == true)
    #expect(read.current.isSigned([1, 2, 3], by: signature) == false)
    #expect(read[old]?.isSigned([1, 2], by: signature) == false)
  }

  @Test("A retired key is kept until its tokens have expired")
  func afterlife() throws {
    var ring = try KeyRing(random: Self.random, now: 0)
    let first = ring.current.id
    try ring.rotate(at: 1_000)
    try ring.rotate(at: 1_000 + KeyRing.afterlife - 1)
    #expect(ring[first] != nil)
    try ring.rotate(at: 1_000 + KeyRing.afterlife)
    #expect(ring[first] == nil)
  }

  @Test("Servers that find the same key to be due replace it once")
  func dueOnce() async throws {
    let store = MemoryIdentityStore()
    let time = NIOLockedValueBox<Int64>(0)
    var services: [AccountService] = []
    for _ in 1...2 {
      services.append(
        try await AccountService(
          { store },
          settings: IdentitySettings(),
          clock: { time.withLockedValue { $0 } },
          logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
      )
    }
    time.withLockedValue { $0 = KeyRing.lifetime }
    var request = IdentityRequest("POST", at: .user("signUp"), database: "hearth")
    request.body = Array("{}".utf8)
    request.contentType = "application/json"
    for service in services { #expect(await service.answer(request).status == 200) }
    #expect(store.secret(.keys)?["keys"]?.elements?.count == 2)
    let keys = services.map(\.authority.keys.current.id)
    #expect(keys[0] == keys[1])
    for service in services { await service.close() }
  }

  @Test("A damaged key is refused")
  func damaged() throws {
    let ring = try KeyRing(random: Self.random, now: 0)
    let text = ring.json.text
    #expect(KeyRing(json: .null) == nil)
    let other = text.replacing(ring.current.id, with: "AAAAAAAAAAAAAAAA")
    #expect((try? JSONParser.parse(other)).flatMap { KeyRing(json: $0) } == nil)
  }

  @Test("A refresh token has one successor, which only the holder of the secret can derive")
  func refreshTokens() throws {
    let token = RefreshToken([UInt8](repeating: 3, count: RefreshToken.byteCount))
    let next = token.successor(Array(0..<32))
    #expect(next.text == token.successor(Array(0..<32)).text)
    #expect(next.text != token.successor(Array(1..<33)).text)
    #expect(next.text != token.text && next.hash != token.hash)
    #expect(RefreshToken(next.text)?.hash == next.hash)
    #expect(RefreshToken("") == nil)
    #expect(RefreshToken(next.text + "A") == nil)
  }
}
