import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeTransport

@Suite("Client and listener on one machine", .cleansUp)
struct LoopbackTests {
  @Test("exchange short and long messages over TCP and Unix sockets", arguments: [true, false])
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
  }

  @Test("connect again after the socket file and its directory are removed")
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

  @Test("do not wait for a socket file that another process keeps locked", .timeLimit(.minutes(1)))
  func lockedSocket() throws {
    let directory = try TemporaryDirectory()
    let file = try SocketFile(listeningAt: directory.file("s"))
    defer { close(file.descriptor) }
    file.remove()
    let lock = open(directory.file("s.lock"), O_RDWR)
    #expect(flock(lock, LOCK_EX) == 0)
    #expect(throws: ListenError.self) { try file.restored() }
    close(lock)
    let restored = try file.restored()
    #expect(restored.isInPlace)
    restored.remove()
    close(restored.descriptor)
  }

  @Test("know the peer's credentials on a Unix socket")
  func credentials() async throws {
    let directory = try TemporaryDirectory()
    let listener = try await ServerListener.start(at: .unix(path: directory.file("s"))) {
      connection in
      connection.send(EncodedMessage(Array("\(connection.peer)".utf8)))
      return ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in })
    }
    let client = try await ClientProbe(listener.address.target)
    #expect(try await client.next() == "process \(getpid()) of user \(getuid())")
  }

  @Test("discard the HTTP request once the connection is accepted")
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
  }

  @Test("admit only the server's own user and root")
  func users() {
    let credentials = PeerCredentials(process: 1, user: 1_000, group: 1_000)
    #expect(credentials.isAllowed(byServerOf: 1_000))
    #expect(!credentials.isAllowed(byServerOf: 1_001))
    #expect(PeerCredentials(process: 1, user: 0, group: 0).isAllowed(byServerOf: 1_001))
  }

  @Test("report to the client why the server refuses it")
  func refusal() async throws {
    let listener = try await ServerListener.start(
      admit: { _ in HTTPAnswer(status: 404, error: "no such database") },
      accept: { _ in ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in }) }
    )
    let end = try await ClientProbe(listener.address.target).closed()
    #expect(end.kind == .refused(status: 404))
    #expect(end.description.hasSuffix(#"HTTP 404 {"error":"no such database"}"#))
  }
}
