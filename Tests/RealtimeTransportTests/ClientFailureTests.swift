import NIOCore
import NIOPosix
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("A failing client connection")
struct ClientFailureTests {
  /// Answers the first bytes received with fixed bytes, then closes.
  private final class ScriptedPeer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let answer: String

    init(_ answer: String) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      context.writeAndFlush(NIOAny(ByteBuffer(string: answer))).assumeIsolated().whenComplete { _ in
        context.close(promise: nil)
      }
    }
  }

  private func connect(toPeerThatAnswers answer: String) async throws -> ConnectionEnd {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ScriptedPeer(answer))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    let end = try await ClientProbe(ConnectionTarget(host: "127.0.0.1", port: port)).closed()
    try await server.close()
    return end
  }

  @Test(
    "reports a peer that does not speak the protocol",
    arguments: [
      "SSH-2.0-OpenSSH_9.2\r\n",
      "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi",
      "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
        + "Sec-WebSocket-Accept: wrong\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n",
    ]
  )
  func notAServer(answer: String) async throws {
    let end = try await connect(toPeerThatAnswers: answer)
    #expect(end.kind == .notADatabaseServer)
    #expect(end.description.contains("is not a database server"))
  }

  @Test("reports a peer that hangs up")
  func hungUp() async throws {
    #expect(try await connect(toPeerThatAnswers: "").kind == .lost)
  }

  @Test("rejects a header that is too long")
  func longHeader() async throws {
    let line = "X-Long: " + String(repeating: "x", count: 20_000)
    let end = try await connect(toPeerThatAnswers: "HTTP/1.1 101 OK\r\n\(line)\r\n\r\n")
    #expect(end.kind == .notADatabaseServer)
  }

  @Test("reports that nothing is listening")
  func unreachable() async throws {
    let directory = try TemporaryDirectory()
    let target = ConnectionTarget(unixSocket: directory.file("none"))
    #expect(try await ClientProbe(target).closed().kind == .unreachable)
  }

  @Test("times out")
  func timeout() async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    var limits = TransportLimits.client
    limits.handshake = .milliseconds(50)
    let target = ConnectionTarget(host: "127.0.0.1", port: port)
    #expect(try await ClientProbe(target, limits: limits).closed().kind == .timedOut)
    try await server.close()
  }

  @Test("can be closed before it opens")
  func closeEarly() async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    let client = try await ClientProbe(ConnectionTarget(host: "127.0.0.1", port: port))
    client.close()
    #expect(try await client.closed().kind == .closed)
    try await server.close()
  }
}
