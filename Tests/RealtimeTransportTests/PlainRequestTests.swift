import NIOCore
import NIOPosix
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeTransport

@Suite("Plain HTTP requests", .timeLimit(.minutes(1)), .cleansUp)
struct PlainRequestTests {
  private static let get = "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"

  private func listen(
    limits: TransportLimits = .server,
    _ answer: @escaping @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPReply>
  ) async throws -> ServerListener {
    try await ServerListener.listen(
      at: .loopback(port: 0),
      on: MultiThreadedEventLoopGroup.singleton.next(),
      limits: limits,
      handlers: ServerHandlers(
        answer: answer,
        accept: { _ in ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in }) }
      )
    ).get().endingWithTest()
  }

  private static func text(_ text: String) -> HTTPAnswer {
    HTTPAnswer(status: 200, contentType: "text/plain", body: Array(text.utf8))
  }

  private func connect(_ listener: ServerListener, isReading: Bool) async throws -> any Channel {
    guard case .tcp(_, let port, _) = listener.address else { throw CancellationError() }
    return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.autoRead, value: isReading)
      .connect(host: "127.0.0.1", port: port).get()
  }

  @Test("cannot inject header lines")
  func headerLines() async throws {
    let listener = try await listen { request, loop in
      var answer = Self.text("x")
      answer.headerLines = [.init("X", request.parameter("x") ?? "")]
      return loop.makeSucceededFuture(.answer(answer))
    }
    let text = try await RawPeer.exchange(
      listener.address,
      "GET /?x=a%0D%0AY:b%00%C3%A9 HTTP/1.0\r\nHost: localhost\r\n\r\n"
    )
    #expect(text.contains("\r\nX: a??Y:b???\r\n"))
  }

  @Test("get a 500 response if the handler fails")
  func failure() async throws {
    let listener = try await listen { $1.makeFailedFuture(CancellationError()) }
    let text = try await RawPeer.exchange(listener.address, Self.get)
    #expect(text.hasPrefix("HTTP/1.1 500 "))
  }

  @Test("must arrive in time, as must the next one", arguments: [false, true])
  func deadlines(isWhole: Bool) async throws {
    var limits = TransportLimits.server
    if isWhole { limits.keepAlive = .milliseconds(20) } else { limits.request = .milliseconds(20) }
    let listener = try await listen(limits: limits) { request, loop in
      loop.makeSucceededFuture(.answer(Self.text("\(request.body.count)")))
    }
    let start = "PUT /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n1"
    let text = try await RawPeer.exchange(listener.address, start + (isWhole ? "1" : ""))
    #expect(isWhole ? text.hasSuffix("\r\n\r\n2") : text.hasPrefix("HTTP/1.1 408 "))
  }

  @Test(
    "may take any time to read their response, also ahead of a WebSocket",
    arguments: [false, true]
  )
  func slowReader(opensSocket: Bool) async throws {
    var limits = TransportLimits.server
    (limits.keepAlive, limits.request) = (.milliseconds(20), .milliseconds(20))
    let long = String(repeating: "long ", count: 4_000_000)
    let listener = try await listen(limits: limits) { request, loop in
      loop.makeSucceededFuture(.answer(Self.text(request.path == "/a" ? long : "short")))
    }
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let collector = try await loop.submit {
      RawPeer.Collector(loop: loop, until: "Connection: upgrade\r\n\r\n")
    }.get()
    guard case .tcp(_, let port, _) = listener.address else { throw CancellationError() }
    let channel = try await ClientBootstrap(group: loop)
      .channelOption(.autoRead, value: false)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(collector)
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    let further = opensSocket ? RawPeer.upgradeRequest() : ""
    try await channel.writeAndFlush(ByteBuffer(string: Self.get + further))
    // Other connections have ended in the meantime, one after the other, because nothing followed.
    for _ in 0..<5 {
      let other = "GET /b HTTP/1.1\r\nHost: localhost\r\n\r\n"
      let text = try await RawPeer.exchange(listener.address, other)
      #expect(text.hasSuffix("short"))
    }
    try await channel.setOption(.autoRead, value: true).get()
    let text = try await collector.end.futureResult.get()
    #expect(text.utf8.count > long.utf8.count)
    #expect(text.hasSuffix(opensSocket ? "Connection: upgrade\r\n\r\n" : "long long "))
  }

  @Test("are answered if in progress when the listener shuts down")
  func goodbye() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let asked = loop.makePromise(of: Void.self)
    let answer = loop.makePromise(of: HTTPReply.self)
    let listener = try await listen { _, _ in
      asked.succeed(())
      return answer.futureResult
    }
    async let text = RawPeer.exchange(listener.address, Self.get)
    try await asked.futureResult.get()
    let closed = listener.closePlainConnections()
    answer.succeed(.answer(Self.text("late")))
    #expect(try await text.contains("Connection: close\r\n\r\nlate"))
    try await closed.get()
  }

  @Test(
    "get all of an answer of the moment in which the listener shuts down",
    arguments: [1, 3_000_000]
  )
  func answeredAtTheEnd(length: Int) async throws {
    let body = String(repeating: "stored", count: length)
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let asked = loop.makePromise(of: EventLoopPromise<HTTPReply>.self)
    let listener = try await listen { _, loop in
      let answer = loop.makePromise(of: HTTPReply.self)
      asked.succeed(answer)
      return answer.futureResult
    }
    async let text = RawPeer.exchange(listener.address, Self.get)
    let answer = try await asked.futureResult.get()
    try await answer.futureResult.eventLoop.flatSubmit {
      let closed = listener.closePlainConnections()
      answer.succeed(.answer(Self.text(body)))
      return closed
    }.get()
    let received = try await text
    #expect(received.utf8.count > body.utf8.count)
    #expect(received.hasSuffix("stored"))
  }

  @Test("may be answered with a stream")
  func stream() async throws {
    let ended = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
    let listener = try await listen { _, loop in
      let reply = HTTPReply.stream(Self.text("")) { stream in
        stream.send(Array("hello".utf8))
        stream.send([])
        stream.end()
        stream.send(Array("ignored".utf8))
        return { ended.succeed(()) }
      }
      return loop.makeSucceededFuture(reply)
    }
    let text = try await RawPeer.exchange(listener.address, Self.get)
    #expect(text.contains("Transfer-Encoding: chunked\r\n"))
    #expect(text.hasSuffix("\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
    try await ended.futureResult.get()
  }

  @Test("do not fill memory if nobody reads the response")
  func slowConsumer() async throws {
    var limits = TransportLimits.server
    limits.pendingBytes = 1_000_000
    let ended = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
    let listener = try await listen(limits: limits) { _, loop in
      let reply = HTTPReply.stream(Self.text("")) { stream in
        let bytes = [UInt8](repeating: 0x61, count: 100_000)
        for _ in 0..<1_000 { stream.send(bytes) }
        return { ended.succeed(()) }
      }
      return loop.makeSucceededFuture(reply)
    }
    let channel = try await connect(listener, isReading: false)
    try await channel.writeAndFlush(ByteBuffer(string: Self.get))
    try await ended.futureResult.get()
    try? await channel.close()
  }

  @Test("report when a stream's reader leaves, even before the stream opens")
  func leaving() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    for isEarly in [false, true] {
      let asked = loop.makePromise(of: Void.self)
      let ended = loop.makePromise(of: Void.self)
      let answer = loop.makePromise(of: HTTPReply.self)
      let listener = try await listen { _, _ in
        asked.succeed(())
        return answer.futureResult
      }
      let reply = HTTPReply.stream(Self.text("")) { _ in { ended.succeed(()) } }
      if !isEarly { answer.succeed(reply) }
      let channel = try await connect(listener, isReading: true)
      try await channel.writeAndFlush(ByteBuffer(string: Self.get))
      try await asked.futureResult.get()
      try await channel.close()
      if isEarly { answer.succeed(reply) }
      try await ended.futureResult.get()
      try await listener.close().get()
    }
  }
}
