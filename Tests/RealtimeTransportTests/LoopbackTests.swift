import Foundation
import NIOCore
import NIOPosix
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("Client and listener on this machine")
struct LoopbackTests {
  @Test(
    "exchange messages over TCP and over a Unix socket, short and long",
    arguments: [true, false]
  )
  func echo(isUnix: Bool) async throws {
    let directory = try TemporaryDirectory()
    let listener = try await ServerListener.startEcho(
      at: isUnix ? .unix(path: directory.file("s")) : .loopback(port: 0)
    )
    let client = try await ClientProbe(listener.address.target)
    #expect(try await client.next() == "hello")
    let long = String(repeating: "é😀x", count: 25_000)
    for text in ["{}", long, "0", "{\"a\":1}"] { client.send(text) }
    #expect(try await client.next() == "{}")
    #expect(try await client.next() == long)
    #expect(try await client.next() == "{\"a\":1}")
    client.close()
    #expect(try await client.closed().kind == .closed)
    try await listener.close().get()
  }

  @Test("find each other again after the file of the socket, and its directory, are removed")
  func lostSocket() async throws {
    let directory = try TemporaryDirectory()
    let folder = directory.file("run")
    mkdir(folder, 0o700)
    let listener = try await ServerListener.startEcho(at: .unix(path: folder + "/s"))
    let former = try await ClientProbe(listener.address.target)
    #expect(try await former.next() == "hello")
    for removal in [folder + "/s", folder] {
      try FileManager.default.removeItem(atPath: removal)
      let deadline = ContinuousClock.now + .seconds(20)
      while access(folder + "/s", F_OK) != 0, ContinuousClock.now < deadline {
        try await MultiThreadedEventLoopGroup.singleton.next()
          .scheduleTask(in: .milliseconds(20)) {}.futureResult.get()
      }
      let client = try await ClientProbe(listener.address.target)
      #expect(try await client.next() == "hello")
      client.close()
    }
    var status = stat()
    #expect(stat(folder + "/s", &status) == 0 && status.st_mode & 0o777 == 0o600)
    former.send("still here")
    #expect(try await former.next() == "still here")
    former.close()
    try await listener.close().get()
    #expect(access(folder + "/s", F_OK) != 0)
  }

  @Test("know who is at the other end of a Unix socket")
  func credentials() async throws {
    let directory = try TemporaryDirectory()
    let listener = try await ServerListener.start(at: .unix(path: directory.file("s"))) {
      connection in
      connection.send(EncodedMessage(Array("\(connection.peer)".utf8)))
      return ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in })
    }
    let client = try await ClientProbe(listener.address.target)
    #expect(try await client.next() == "process \(getpid()) of user \(getuid())")
    try await listener.close().get()
  }

  @Test("forget the request as soon as the connection has been accepted")
  func forgottenRequest() async throws {
    let listener = try await ServerListener.start { connection in
      let host = connection.request?.header("Host") ?? "none"
      connection.send(EncodedMessage(Array("from \(host)".utf8)))
      return ServerHandlers.Callbacks(
        onMessage: { _ in
          let isForgotten = connection.request == nil
          connection.send(EncodedMessage(Array((isForgotten ? "forgotten" : "kept").utf8)))
        },
        onClose: { _ in }
      )
    }
    let client = try await ClientProbe(listener.address.target)
    #expect(try await client.next() != "from none")
    client.send("{}")
    #expect(try await client.next() == "forgotten")
    client.close()
    try await listener.close().get()
  }

  @Test("let in the server's user and root, and nobody else")
  func users() {
    let credentials = PeerCredentials(process: 1, user: 1_000, group: 1_000)
    #expect(credentials.isAllowed(byServerOf: 1_000))
    #expect(!credentials.isAllowed(byServerOf: 1_001))
    #expect(PeerCredentials(process: 1, user: 0, group: 0).isAllowed(byServerOf: 1_001))
  }

  @Test("tell a client why a server refuses it")
  func refusal() async throws {
    let listener = try await ServerListener.start(
      admit: { _ in HTTPAnswer(status: 404, error: "no such database") },
      accept: { _ in ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in }) }
    )
    let end = try await ClientProbe(listener.address.target).closed()
    #expect(end.kind == .refused(status: 404))
    #expect(end.description.contains("no such database"))
    try await listener.close().get()
  }

  @Test("notice when a peer does not read")
  func slowConsumer() async throws {
    var limits = TransportLimits.server
    limits.stall = .milliseconds(50)
    let ended = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: ConnectionEnd.self)
    let listener = try await ServerListener.start(limits: limits) { connection in
      connection.send(EncodedMessage([UInt8](repeating: 0x20, count: 32 * 1_024 * 1_024)))
      return ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { ended.succeed($0) })
    }
    let peer = try await RawPeer.openWithoutReading(listener.address)
    #expect(try await ended.futureResult.get().kind == .slowConsumer)
    try? await peer.close()
    try await listener.close().get()
  }

  @Test("notice when more waits for a peer than allowed")
  func tooMuchOutput() async throws {
    var limits = TransportLimits.server
    limits.pendingBytes = 16 * 1_024 * 1_024
    let ended = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: ConnectionEnd.self)
    let listener = try await ServerListener.start(limits: limits) { connection in
      let message = EncodedMessage([UInt8](repeating: 0x20, count: 1_024 * 1_024))
      for _ in 0..<64 { connection.send(message) }
      return ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { ended.succeed($0) })
    }
    let peer = try await RawPeer.openWithoutReading(listener.address)
    #expect(try await ended.futureResult.get().kind == .slowConsumer)
    try? await peer.close()
    try await listener.close().get()
  }
}
