import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import HearthLab

/// A server that records what it receives on each connection, and echoes it.
private final class Echo: Sendable {
  private let listener: any Channel
  private let received: NIOLoopBoundBox<[String]>
  private let loop: any EventLoop

  var port: Int { listener.localAddress?.port ?? 0 }

  init() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let received = NIOLoopBoundBox.makeBoxSendingValue([String](), eventLoop: loop)
    self.loop = loop
    self.received = received
    listener = try await ServerBootstrap(group: loop)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Handler(received))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  func texts() async throws -> [String] {
    try await loop.submit { self.received.value }.get()
  }

  func close() async throws { try await listener.close() }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let received: NIOLoopBoundBox<[String]>
    private var index = 0

    init(_ received: NIOLoopBoundBox<[String]>) { self.received = received }

    func channelActive(context: ChannelHandlerContext) {
      index = received.value.count
      received.value.append("")
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = Self.unwrapInboundIn(data)
      received.value[index] += String(buffer: bytes)
      context.writeAndFlush(NIOAny(bytes), promise: nil)
    }
  }
}

/// A client that sends text and collects what it receives.
private final class Client: Sendable {
  private let channel: any Channel
  private let received: NIOLoopBoundBox<String>

  init(port: Int) async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let received = NIOLoopBoundBox.makeBoxSendingValue("", eventLoop: loop)
    self.received = received
    channel = try await ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Handler(received))
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
  }

  var isOpen: Bool { channel.isActive }

  func close() async throws { try await channel.close() }

  func send(_ text: String) async throws {
    try await channel.writeAndFlush(ByteBuffer(string: text))
  }

  func text() async throws -> String {
    try await channel.eventLoop.submit { self.received.value }.get()
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let received: NIOLoopBoundBox<String>

    init(_ received: NIOLoopBoundBox<String>) { self.received = received }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      received.value += String(buffer: Self.unwrapInboundIn(data))
    }
  }
}

/// Checks a condition repeatedly until it holds.
private func wait(_ condition: () async throws -> Bool) async throws -> Bool {
  let deadline = Date().addingTimeInterval(30)
  while Date() < deadline {
    if try await condition() { return true }
    await Pause.lasting(.milliseconds(10))
  }
  return false
}

@Suite("A network with faults")
struct FaultyNetworkTests {
  /// Runs a test with a network in front of an echo, and a client whose first text has returned.
  private func withNetwork(
    saying text: String = "x",
    _ test: (FaultyNetwork, Echo, Client) async throws -> Void
  ) async throws {
    let echo = try await Echo()
    let network = try FaultyNetwork(to: echo.port)
    let client = try await Client(port: network.port)
    try await client.send(text)
    #expect(try await wait { try await client.text() == text })
    try await test(network, echo, client)
    network.close()
    try await echo.close()
  }

  @Test("A healthy network delivers in both directions")
  func sound() async throws {
    try await withNetwork(saying: "hello") { _, _, _ in }
  }

  @Test("A deaf network delivers requests, drops the answers and then closes the connection")
  func deaf() async throws {
    try await withNetwork(saying: "one") { network, echo, client in
      network.set(.deaf)
      try await client.send("two")
      #expect(try await wait { try await echo.texts() == ["onetwo"] })
      network.set(.sound)
      #expect(try await wait { !client.isOpen })
      #expect(try await client.text() == "one")
    }
  }

  @Test("A partition closes the connections of one line only and rejects new ones")
  func cut() async throws {
    let echo = try await Echo()
    let network = try FaultyNetwork(to: echo.port)
    let ports = [network.port, try network.open(line: 1)]
    let clients = [try await Client(port: ports[0]), try await Client(port: ports[1])]
    for client in clients { try await client.send("x") }
    for client in clients { #expect(try await wait { try await client.text() == "x" }) }
    network.set(.cut)
    #expect(try await wait { !clients[0].isOpen })
    let late = try await Client(port: ports[0])
    #expect(try await wait { !late.isOpen })
    try await clients[1].send("y")
    #expect(try await wait { try await clients[1].text() == "xy" })
    network.close()
    try await echo.close()
  }

  @Test("A silent network holds back bytes and ends, and answers no new connection")
  func silent() async throws {
    try await withNetwork(saying: "one") { network, echo, client in
      network.set(.silent)
      try await client.send("two")
      let late = try await Client(port: network.port)
      try await late.send("x")
      try await client.close()
      #expect(try await wait { try await echo.texts().count == 2 })
      #expect(try await echo.texts() == ["one", ""])
      network.set(.sound)
      #expect(try await wait { try await echo.texts() == ["onetwo", "x"] })
    }
  }

  @Test("A network that loses replies delivers the request, and spares new connections")
  func losingReplies() async throws {
    try await withNetwork(saying: "one") { network, echo, client in
      network.set(.losingReplies)
      try await client.send("two")
      #expect(try await wait { !client.isOpen })
      #expect(try await client.text() == "one")
      #expect(try await echo.texts() == ["onetwo"])
      let next = try await Client(port: network.port)
      try await next.send("x")
      #expect(try await wait { try await next.text() == "x" })
    }
  }

  @Test("Only connections through which a watched text was sent are silenced apart")
  func watched() async throws {
    let echo = try await Echo()
    let network = try FaultyNetwork(to: echo.port, watching: ["COMMIT"])
    let clients = [try await Client(port: network.port), try await Client(port: network.port)]
    for client in clients { try await client.send("x") }
    for client in clients { #expect(try await wait { try await client.text() == "x" }) }
    network.set(.silentIfWatched)
    try await clients[0].send("a COMMIT b")
    try await clients[1].send("y")
    #expect(try await wait { try await clients[1].text() == "xy" })
    #expect(try await clients[0].text() == "x")
    network.set(.sound)
    #expect(try await wait { try await clients[0].text() == "xa COMMIT b" })
    network.close()
    try await echo.close()
  }

  @Test("Duplication replays a connection's bytes on a new connection and discards the answers")
  func repetition() async throws {
    try await withNetwork(saying: "first ") { network, echo, client in
      try await client.send("second")
      #expect(try await wait { try await client.text() == "first second" })
      #expect(try await network.repeatAll(line: 0) == 1)
      #expect(try await wait { try await echo.texts() == ["first second", "first second"] })
      #expect(try await wait { !client.isOpen })
      #expect(try await client.text() == "first second")
    }
  }

  @Test("A slow network delivers bytes no faster than its rate")
  func slow() async throws {
    try await withNetwork { network, _, client in
      network.set(.slow(bytesPerSecond: 1_000))
      let start = ContinuousClock.now
      try await client.send(String(repeating: "y", count: 500))
      #expect(try await wait { try await client.text().count == 501 })
      #expect(ContinuousClock.now - start >= .milliseconds(450))
    }
  }

  @Test("A slow network preserves the order of bytes")
  func slowOrder() async throws {
    try await withNetwork { network, _, client in
      network.set(.slow(bytesPerSecond: 4_000_000))
      // More than one read takes at once: the last piece of each read is shorter than those before.
      let text = (0..<120_000).map { String($0) }.joined(separator: " ")
      try await client.send(text)
      #expect(try await wait { try await client.text().count == text.count + 1 })
      #expect(try await client.text() == "x" + text)
    }
  }
}
