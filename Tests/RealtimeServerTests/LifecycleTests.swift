import Foundation
import NIOCore
import RealtimeCore
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("A server's lifecycle", .timeLimit(.minutes(1)), .cleansUp)
struct LifecycleTests {
  @Test("A server exits when no client has connected for a while")
  func idleExit() async throws {
    let store = GateStore(isOpen: true)
    let directory = try TemporaryDirectory()
    let path = directory.file("s")
    let server = try await DatabaseServer.startForTest(
      .init(socketPath: path, idleExit: .milliseconds(20)),
      store: store
    )
    try await server.waitUntilStopped()
    #expect(store.isClosed)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("A stopping server answers a client that is still uploading")
  func uploadAtTheEnd() async throws {
    let server = try await DatabaseServer.startForTest(.init(port: 0, rules: .open))
    let http = try await HTTPProbe(server.address)
    let head = "PUT /x.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
    http.send(head + "Expect: 100-continue\r\n\r\n")
    // So that the server has the head.
    try await http.answer(hasBody: false, gives: 100)
    http.send("\"the beginning")
    async let stop: Void = server.stop()
    try await http.answer(gives: 503)
    await http.close()
    await stop
  }

  @Test("A server exits once the last client has left, not before")
  func idleExitAfterLast() async throws {
    let server = try await DatabaseServer.startForTest(
      .init(port: 0, rules: .open, idleExit: .seconds(5))
    )
    let first = try await server.connectAndGreet()
    let second = try await server.connectAndGreet()
    first.close()
    _ = try await first.closed()
    second.send(#"{"t":"c","d":{"t":"p","d":{}}}"#)
    try await second.expect(#""t":"o""#)
    second.close()
    try await server.waitUntilStopped()
  }

  @Test("A server stops only after accepted requests are stored and answered")
  func stopWaitsForBatch() async throws {
    let store = GateStore()
    let server = try await DatabaseServer.startForTest(store: store)
    let writer = try await server.connectAndGreet()
    let listener = try await server.connectAndGreet()
    try await listener.ask(1, "q", #"{"p":"/a","h":""}"#)
    func put(_ numbers: ClosedRange<Int>) {
      for number in numbers {
        writer.send(#"{"t":"d","d":{"r":\#(number),"a":"p","b":{"p":"/a","d":\#(number)}}}"#)
      }
    }
    put(1...100)
    try await store.waitForCommit()
    async let stopped: Void = server.stop()
    while (try? await server.connectAndGreet()) != nil {}
    put(101...200)
    #expect(!store.isClosed)
    store.open()
    let answers = try await writer.messagesUntilClosed()
    let pushes = try await listener.messagesUntilClosed()
    await stopped
    #expect(store.isClosed)
    #expect(answers == (1...max(1, answers.count)).map(Self.answer))
    #expect(pushes.count == answers.count)
    #expect(store.load().root[Path(wire: "a")] == .integer(Int64(answers.count)))
    for client in [writer, listener] {
      #expect(try await client.closed().kind == .closedByPeer(code: 1_001))
    }
    await server.stop()
    try await server.waitUntilStopped()
  }

  private static func answer(_ number: Int) -> String {
    #"{"t":"d","d":{"r":\#(number),"b":{"s":"ok","d":""}}}"#
  }

  @Test("A server stops even if the store fails")
  func stopWithFailingStore() async throws {
    let store = GateStore()
    let server = try await DatabaseServer.startForTest(store: store)
    let client = try await server.connectAndGreet()
    store.release()
    try await client.ask(1, "o", #"{"p":"/a","d":1}"#)
    for _ in 0..<10 { store.release(StoreError(.full, description: "the disk is full")) }
    await server.stop()
    #expect(store.isClosed)
  }

  @Test("A server does not start on an address in use, and closes its store")
  func addressInUse() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("s")
    let first = try await DatabaseServer.startForTest(.init(socketPath: path))
    let store = GateStore()
    await expectError(\DatabaseServerError.kind, .addressInUse) {
      try await DatabaseServer.startForTest(.init(socketPath: path), store: store)
    }
    #expect(store.isClosed)
    _ = try await first.connectAndGreet()
    await first.stop()
  }

  @Test("A server does not start without an address or with invalid options")
  func invalidOptions() async throws {
    var limits = DatabaseServer.Limits()
    limits.connections = 0
    for options in [
      DatabaseServer.Options(), .init(port: 70_000), .init(port: 0, namespace: "A b"),
      .init(port: 0, limits: limits),
    ] {
      await expectError(\DatabaseServerError.kind, .invalidOptions) {
        try await DatabaseServer.startForTest(options)
      }
    }
  }

  @Test("A server does not start if the store cannot be read")
  func unreadableStore() async throws {
    struct LockedStore: TreeStore {
      func load() throws -> StoredTree {
        throw StoreError(.locked, description: "another server has it")
      }
      func commit(_ batch: CommitBatch) throws {}
      func close() throws {}
    }
    await expectError(\DatabaseServerError.kind, .storeLocked) {
      try await DatabaseServer.startForTest(store: LockedStore())
    }
  }
}
