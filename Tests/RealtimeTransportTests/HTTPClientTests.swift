import NIOCore
import NIOPosix
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeTransport

@Suite("HTTPClient", .timeLimit(.minutes(1)))
struct HTTPClientTests {
  /// Answers the first bytes of each connection with fixed bytes, then closes if requested.
  private final class ScriptedPeer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let answer: String
    private let closes: Bool

    init(_ answer: String, closes: Bool) {
      self.answer = answer
      self.closes = closes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let sent = context.writeAndFlush(NIOAny(ByteBuffer(string: answer)))
      guard closes else { return }
      sent.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }
  }

  private static func client(timeout: Duration = .seconds(30)) -> HTTPClient {
    HTTPClient(group: MultiThreadedEventLoopGroup.singleton, trust: .system, timeout: timeout)
  }

  /// The response to a request to a peer that answers with fixed bytes.
  private func answer(
    _ text: String,
    closes: Bool = true,
    client: HTTPClient = client()
  ) async throws -> HTTPClientAnswer {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ScriptedPeer(text, closes: closes))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    do {
      let answer = try await client.send(HTTPClientRequest("GET", url: "http://127.0.0.1:\(port)/"))
      try await server.close()
      return answer
    } catch {
      try await server.close()
      throw error
    }
  }

  private func failure(
    _ text: String,
    closes: Bool = true,
    client: HTTPClient = client()
  ) async throws -> HTTPClientError.Kind? {
    await #expect(throws: HTTPClientError.self) {
      try await answer(text, closes: closes, client: client)
    }?.kind
  }

  @Test("sends method, path, headers and body, and reads status, headers and body")
  func exchange() async throws {
    let directory = try TemporaryDirectory()
    let listener = try await ServerListener.listen(
      at: .unix(path: directory.file("s")),
      on: MultiThreadedEventLoopGroup.singleton.next(),
      handlers: ServerHandlers(
        answer: { request, loop in
          let lines = [request.method, request.path, request.parameter("key") ?? ""]
          let text = (lines + [request.header("X-Sent") ?? "", request.header("Host") ?? ""])
            .joined(separator: " ")
          let answer = HTTPAnswer(
            status: 418,
            contentType: "text/plain",
            headerLines: [HTTPAnswer.HeaderLine("X-Answer", text)],
            body: request.body
          )
          return loop.makeSucceededFuture(.answer(answer))
        },
        accept: { _ in ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in }) }
      )
    ).get()
    let body = [UInt8](repeating: 7, count: 500_000)
    let request = HTTPClientRequest(
      "POST",
      to: ConnectionTarget(unixSocket: directory.file("s")),
      path: "/v1/accounts:signUp?key=K",
      headerLines: [HTTPAnswer.HeaderLine("X-Sent", "yes")],
      body: body
    )
    let answer = try await Self.client().send(request)
    #expect(answer.status == 418)
    #expect(answer.header("x-answer") == "POST /v1/accounts:signUp K yes localhost")
    #expect(answer.body == body)
    try await listener.close().get()
  }

  @Test(
    "reads bodies in every transfer format",
    arguments: [
      "Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "Connection: close\r\n\r\nhello",
    ]
  )
  func bodies(rest: String) async throws {
    let answer = try await answer("HTTP/1.1 200 OK\r\n" + rest)
    #expect(answer.body == Array("hello".utf8))
  }

  @Test("does not follow redirects")
  func redirect() async throws {
    let text = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    let answer = try await answer(text)
    #expect(answer.status == 302)
    #expect(answer.header("Location") == "http://127.0.0.1:1/")
  }

  @Test("reports a peer that does not speak HTTP")
  func notHTTP() async throws {
    #expect(try await failure("SSH-2.0-OpenSSH_9.2\r\n") == .notHTTP)
  }

  @Test(
    "reports a truncated response",
    arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"]
  )
  func lost(text: String) async throws {
    #expect(try await failure(text) == .lost)
  }

  @Test("rejects a body over its size limit")
  func tooLarge() async throws {
    var client = Self.client()
    client.bodyBytes = 4
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    #expect(try await failure(text, client: client) == .tooLarge)
    client.bodyBytes = 5
    #expect(try await answer(text, client: client).body.count == 5)
  }

  @Test("times out")
  func timeout() async throws {
    let client = Self.client(timeout: .milliseconds(200))
    #expect(try await failure("HTTP/1.1 200 OK\r\n", closes: false, client: client) == .timedOut)
  }

  @Test("stops when its task is canceled, before or during the request")
  func cancelled() async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    let request = try HTTPClientRequest("GET", url: "http://127.0.0.1:\(port)/")
    let task = Task { try await Self.client().send(request) }
    task.cancel()
    await expectError(\HTTPClientError.kind, .cancelled) { try await task.value }
    try await server.close()
  }

  @Test("reports that nothing is listening or that a host is unknown")
  func unreachable() async throws {
    let directory = try TemporaryDirectory()
    let socket = ConnectionTarget(unixSocket: directory.file("none"))
    await expectError(\HTTPClientError.kind, .unreachable) {
      try await Self.client().send(HTTPClientRequest("GET", to: socket, path: "/"))
    }
    await expectError(\HTTPClientError.kind, .refused) {
      try await Self.client().send(HTTPClientRequest("GET", url: "http://127.0.0.1:1/"))
    }
    await expectError(\HTTPClientError.kind, .unknownHost) {
      try await Self.client().send(HTTPClientRequest("GET", url: "http://nothing.invalid/"))
    }
  }

  @Test(
    "parses http and https URLs",
    arguments: [
      ("https://a.example.test/v1/x?key=K#part", "a.example.test", true, "/v1/x?key=K"),
      ("http://localhost:9099", "localhost:9099", false, "/"),
      ("HTTP://[::1]:81?a=b", "[::1]:81", false, "/?a=b"),
    ] as [(String, String, Bool, String)]
  )
  func urls(url: String, host: String, isSecure: Bool, path: String) throws {
    let request = try HTTPClientRequest("GET", url: url)
    #expect(request.target.host == host)
    #expect(request.target.isSecure == isSecure)
    #expect(request.path == path)
  }

  @Test(
    "rejects other URLs",
    arguments: [
      "", "a.example.test/x", "ftp://a/x", "http:///x", "http://a b/", "http://a/\r\nx: y",
    ]
  )
  func invalid(url: String) {
    expectError(\HTTPClientError.kind, .invalidURL) { try HTTPClientRequest("GET", url: url) }
  }
}
