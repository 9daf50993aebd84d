import Logging
import NIOConcurrencyHelpers
import NIOCore
import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

@Suite("A write of unknown outcome", .timeLimit(.minutes(2)))
struct StoreLossTests {
  private static let problem = "/var/lib/hearth/hearth.sqlite: I/O error 10"

  private func start(
    _ stores: [String: any TreeStore],
    _ lines: NIOLockedValueBox<[String]> = NIOLockedValueBox([])
  ) async throws -> DatabaseServer {
    try await .start(
      .init(port: 0, rules: .open),
      stores: MemoryTreeStores(stores),
      logger: .collecting(lines)
    )
  }

  /// Waits for a server that ends on its own, and returns the reason.
  private func ending(of server: DatabaseServer) async -> DatabaseServerError? {
    do throws(DatabaseServerError) {
      try await server.waitUntilStopped()
      return nil
    } catch {
      return error
    }
  }

  private func increment(_ request: Int, key: String) -> String {
    #"{"t":"d","d":{"r":\#(request),"a":"p","#
      + #""b":{"p":"/n","d":{".sv":{"increment":1}},"i":"\#(key)"}}}"#
  }

  @Test(
    "The server answers nobody, says why and stops",
    arguments: [StoreError.Kind.failed, .damaged, .notWritable, .locked]
  )
  func end(kind: StoreError.Kind) async throws {
    let store = GateStore()
    let lines = NIOLockedValueBox<[String]>([])
    let server = try await start(["hearth": store], lines)
    let (writer, reader) = (try await server.connectAndGreet(), try await server.connectAndGreet())
    let (http, stream) = (try await HTTPProbe(server.address), try await HTTPProbe(server.address))
    stream.send(HTTPProbe.text("GET", "/a.json", lines: ["Accept: text/event-stream"]))
    #expect(try await !stream.chunkAfterHead().isEmpty)
    http.send(HTTPProbe.text("PUT", "/a.json", "1"))
    try await store.waitForCommit()
    writer.send(increment(1, key: "c:1"))
    // A read of what was written waits for the write, and is not answered either.
    reader.send(#"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/a","q":{}}}}"#)
    _ = try await server.connectAndGreet()
    store.release(StoreError(kind, description: Self.problem))
    #expect(try await writer.messagesUntilClosed() == [])
    #expect(try await reader.messagesUntilClosed() == [])
    #expect(try await http.rest() == "")
    #expect(try await stream.rest() == "")
    let error = try #require(await ending(of: server))
    #expect(error.kind == .storeFailed)
    #expect(error.description.contains(Self.problem))
    #expect(error.description.contains("cannot know what is on the disk"))
    let critical = lines.withLockedValue { $0.filter { $0.hasPrefix("critical") } }
    #expect(critical.count == 1)
    #expect(critical.first?.contains(error.description) == true)
    // Nothing is stored afterwards, not even the disconnect operations of the connections.
    #expect(store.commitCount == 0)
    #expect(store.isClosed)
    await server.stop()
  }

  @Test(
    "The next server has every acknowledged write and applies resent ones once",
    arguments: [true, false]
  )
  func restart(isStored: Bool) async throws {
    let store = GateStore()
    let first = try await start(["hearth": store])
    let client = try await first.connectAndGreet()
    store.release()
    client.send(increment(1, key: "c:1"))
    #expect(try await client.next() == #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#)
    store.release(StoreError(.failed, description: Self.problem), isStored: isStored)
    client.send(increment(2, key: "c:2"))
    #expect(try await client.messagesUntilClosed() == [])
    #expect(await ending(of: first) != nil)
    store.open()
    let second = try await start(["hearth": MemoryTreeStore(store.load())])
    let again = try await second.connectAndGreet()
    for request in 1...2 {
      again.send(increment(request, key: "c:\(request)"))
      #expect(
        try await again.next() == #"{"t":"d","d":{"r":\#(request),"b":{"s":"ok","d":""}}}"#
      )
    }
    again.send(#"{"t":"d","d":{"r":3,"a":"g","b":{"p":"/n","q":{}}}}"#)
    #expect(try await again.next() == #"{"t":"d","d":{"r":3,"b":{"s":"ok","d":2}}}"#)
    await second.stop()
  }

  @Test("One in a database that is not the default one closes only that", arguments: [true, false])
  func named(isStored: Bool) async throws {
    let (lost, sound) = (GateStore(), GateStore(isOpen: true))
    let server = try await start(["hearth": sound, "other": lost])
    let bystander = try await server.connectAndGreet()
    let client = try await server.connect(to: "other")
    _ = try await client.next()
    lost.release(StoreError(.failed, description: Self.problem), isStored: isStored)
    client.send(increment(1, key: "c:1"))
    #expect(try await client.messagesUntilClosed() == [])
    lost.open()
    let again = try await server.connect(to: "other")
    _ = try await again.next()
    try await again.ask(1, "p", #"{"p":"/n","d":{".sv":{"increment":1}},"i":"c:1"}"#)
    #expect(lost.load().root[Path(wire: "n")] == .integer(1))
    try await bystander.ask(1, "p", #"{"p":"/a","d":1}"#)
    await server.stop()
    #expect(await ending(of: server) == nil)
  }

  @Test("A database of which two in a row are the first writes is left alone for a while")
  func namedAgain() async throws {
    let lost = GateStore()
    let server = try await start(["hearth": GateStore(isOpen: true), "other": lost])
    for _ in 1...2 {
      let client = try await server.connect(to: "other")
      _ = try await client.next()
      lost.release(StoreError(.failed, description: Self.problem))
      client.send(increment(1, key: "c:1"))
      #expect(try await client.messagesUntilClosed() == [])
    }
    let http = try await HTTPProbe(server.address)
    try await http.request("GET", "/a.json?ns=other", gives: 503)
    try await http.request("GET", "/a.json", gives: 200)
    await server.stop()
  }

  @Test("The server's other databases are closed as well")
  func others() async throws {
    let (lost, sound) = (GateStore(), GateStore(isOpen: true))
    let server = try await start(["hearth": lost, "other": sound])
    let http = try await HTTPProbe(server.address)
    try await http.request("PUT", "/a.json?ns=other", "1", gives: 200)
    let client = try await server.connect(to: "other")
    try await client.expect(#""t":"h""#)
    lost.release(StoreError(.failed, description: Self.problem))
    http.send(HTTPProbe.text("PUT", "/a.json", "1"))
    #expect(try await client.messagesUntilClosed() == [])
    #expect(await ending(of: server) != nil)
    #expect(lost.isClosed)
    #expect(sound.isClosed)
    #expect(sound.load().root[Path(wire: "a")] == .integer(1))
  }

  @Test("A server that is already stopping fails too, and says so")
  func stopping() async throws {
    let store = GateStore()
    let server = try await start(["hearth": store])
    let http = try await HTTPProbe(server.address)
    http.send(HTTPProbe.text("PUT", "/a.json", "1"))
    try await store.waitForCommit()
    async let stopped: Void = server.stop()
    // It stops listening before it waits for the commit in progress.
    while let probe = try? await HTTPProbe(server.address) { await probe.close() }
    store.release(StoreError(.failed, description: Self.problem))
    await stopped
    #expect(try await http.rest() == "")
    #expect(await ending(of: server) != nil)
    #expect(store.isClosed)
  }

  @Test("A server that cannot store what earlier connections scheduled does not start")
  func beginning() async throws {
    let store = GateStore()
    let first = try await start(["hearth": store])
    let client = try await first.connectAndGreet()
    store.release()
    try await client.ask(1, "o", #"{"p":"/a","d":1}"#)
    store.release(StoreError(.failed, description: Self.problem))
    client.close()
    #expect(await ending(of: first) != nil)
    store.release(StoreError(.failed, description: Self.problem))
    // Whether or not it has started by then, its caller gets the error.
    await expectError(\DatabaseServerError.kind, .storeFailed) {
      try await start(["hearth": store]).waitUntilStopped()
    }
  }
}
