import Foundation
import HearthLab
import NIOConcurrencyHelpers
import PostgresTestSupport
import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

@testable import PostgresStorage

@Suite("Several hosts in a PostgreSQL URL", .needsPostgres, .timeLimit(.minutes(2)))
struct HostTests {
  private let server: PostgresServer
  private let name: String
  private let proxy: FaultyNetwork

  init() throws {
    server = try PostgresServer.shared.get()
    name = try server.makeDatabase().split(separator: "/").last.map(String.init) ?? ""
    proxy = try FaultyNetwork(to: server.port)
  }

  /// The address of the proxy and, as the second host, of the server itself.
  ///
  /// A host has a minute: that a test is done in half of it proves that nothing waited for the first.
  private var address: PostgresAddress {
    let hosts = "127.0.0.1:\(proxy.port),127.0.0.1:\(server.port)"
    return PostgresAddress("postgres://hearth@\(hosts)/\(name)?connect_timeout=60")
  }

  @Test(
    "A dead host does not delay connections, whether it is silent or refuses them",
    arguments: [FaultyNetwork.Condition.silent, .cut]
  )
  func deadHost(condition: FaultyNetwork.Condition) throws {
    proxy.set(condition)
    let address = address
    for _ in 1...2 {
      let start = ContinuousClock.now
      let connection = try PostgresConnection(to: address)
      #expect(ContinuousClock.now - start < .seconds(30), "a host has a minute")
      connection.close()
    }
    #expect(address.lastHost.number == 1)
    proxy.set(.sound)
  }

  @Test("When every host is dead, the error gives the reason for each")
  func allDead() throws {
    let address = PostgresAddress("postgres://hearth@127.0.0.1:1,127.0.0.1:2/x")
    expectError(\PostgresFailure.isLost, true, saying: "port 1", "port 2") {
      try PostgresConnection(to: address)
    }
  }

  @Test(
    "PostgreSQL may refuse a connection in any language, and is asked once",
    arguments: [
      ("57P03", "das Datenbanksystem startet gerade", .unreachable),
      ("53300", "извините, уже слишком много клиентов", .unreachable),
      ("28P01", "пользователь \"hearth\" не прошёл проверку подлинности", .failed),
    ] as [(String, String, StoreError.Kind)]
  )
  func otherLanguage(state: String, message: String, kind: StoreError.Kind) throws {
    let (listener, port) = try listen()
    let requests = NIOLockedValueBox(0)
    Thread.detachNewThread {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else {
          close(listener)
          return
        }
        defer { close(client) }
        var request = [UInt8](repeating: 0, count: 1_024)
        guard read(client, &request, request.count) > 0 else { continue }
        requests.withLockedValue { $0 += 1 }
        let fields = [
          "SВАЖНО", "VFATAL", "C\(state)", "M\(message)", "Fauth.c", "L338", "Rauth_failed", "",
        ]
        let text: [UInt8] = fields.flatMap { Array($0.utf8) + [0] }
        let length = UInt32(text.count + 4).bigEndian
        let answer = [UInt8(ascii: "E")] + withUnsafeBytes(of: length) { Array($0) } + text
        _ = answer.withUnsafeBytes { write(client, $0.baseAddress, $0.count) }
      }
    }
    defer { shutdown(listener, Int32(SHUT_RDWR)) }
    let query = "sslmode=disable&gssencmode=disable"
    let address = PostgresAddress("postgres://hearth@127.0.0.1:\(port)/x?\(query)")
    let error = expectError(\PostgresFailure.kind, kind) { try PostgresConnection(to: address) }
    let description = error?.description ?? ""
    #expect(description.hasSuffix("failed: ВАЖНО:  \(message)"), "\(description)")
    #expect(requests.withLockedValue { $0 } == 1)
  }

  /// A socket at a port of 127.0.0.1 that was free.
  private func listen() throws -> (descriptor: Int32, port: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && Foundation.listen(descriptor, 16) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    try #require(isBound)
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }

  @Test("A commit does not wait for a silent connection until its own time limit")
  func silentConnection() throws {
    var options = PostgresStoreOptions()
    options.commitLimit = .seconds(120)
    let stores = PostgresTreeStores(at: address, options: options)
    _ = try stores.create("test")
    let store = try stores.open(stores.acquire("test", by: ServerID("a"), for: .seconds(600)))
    try store.commit(batch(1))
    proxy.set(.silent)
    let start = ContinuousClock.now
    try store.commit(batch(2))
    #expect(ContinuousClock.now - start < .seconds(60), "a commit has two minutes")
    try store.commit(batch(3))
    #expect(try store.load().revision == 3)
    try store.close()
    proxy.set(.sound)
  }
}
