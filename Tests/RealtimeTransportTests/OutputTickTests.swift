import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import RealtimeTransport

@Suite("OutputTick")
struct OutputTickTests {
  private final class Connection {
    let channel: EmbeddedChannel
    let handler: MessageHandler

    init(_ loop: EmbeddedEventLoop, _ endOfTick: OutputTick?) throws {
      handler = MessageHandler(
        role: .server,
        limits: Shared(.server),
        peer: "the peer",
        endOfTick: endOfTick,
        onMessage: { _ in },
        onEnd: { _ in }
      )
      channel = EmbeddedChannel(handler: handler, loop: loop)
      try channel.connect(to: SocketAddress(unixDomainSocketPath: "/none")).wait()
    }

    /// Sets whether the channel accepts more, as if that depended on how much is waiting.
    func setWritable(_ isWritable: Bool) {
      channel.isWritable = isWritable
      channel.pipeline.fireChannelWritabilityChanged()
    }

    func send(_ text: String) {
      handler.send(EncodedMessage(Array(text.utf8)))
    }

    /// The texts written since the last call, by write, without the two-byte header of each frame.
    func writes() throws -> [String] {
      var writes: [String] = []
      while var bytes = try channel.readOutbound(as: ByteBuffer.self) {
        var texts: [String] = []
        while let head = bytes.readBytes(length: 2) {
          texts.append(bytes.readString(length: Int(head[1])) ?? "")
        }
        writes.append(texts.joined(separator: " "))
      }
      return writes
    }
  }

  /// Reports for each flush what a socket reports when a flush empties it.
  private final class Relief: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    func flush(context: ChannelHandlerContext) {
      context.flush()
      context.fireChannelWritabilityChanged()
    }
  }

  @Test("flushes every connection with output, each in one write")
  func all() throws {
    let loop = EmbeddedEventLoop()
    let endOfTick = OutputTick(loop)
    let connections = try (0..<3).map { _ in try Connection(loop, endOfTick) }
    connections[0].send("a")
    connections[2].send("b")
    connections[0].send("c")
    #expect(try connections.map { try $0.writes() } == [[], [], []])
    loop.run()
    #expect(try connections.map { try $0.writes() } == [["a c"], [], ["b"]])
  }

  @Test("runs once for all connections that share it", arguments: [true, false])
  func once(isShared: Bool) throws {
    let loop = EmbeddedEventLoop()
    let endOfTick = isShared ? OutputTick(loop) : nil
    let first = try Connection(loop, endOfTick)
    let second = try Connection(loop, endOfTick)
    var early: [String]?
    first.send("a")
    loop.assumeIsolated().execute { early = try? second.writes() }
    second.send("b")
    loop.run()
    // The first message requested the end of the tick, so the tick ends before what was scheduled
    // later.
    #expect(early == (isShared ? ["b"] : []))
    #expect(try first.writes() == ["a"])
    #expect(try second.writes() == (isShared ? [] : ["b"]))
  }

  @Test("includes output sent during the flush and runs again for connections already flushed")
  func reentry() throws {
    let loop = EmbeddedEventLoop()
    let endOfTick = OutputTick(loop)
    let first = try Connection(loop, endOfTick)
    let second = try Connection(loop, endOfTick)
    try first.channel.pipeline.syncOperations.addHandler(Relief(), position: .first)
    first.setWritable(false)
    first.send("a")
    second.send("b")
    first.handler.whenRelieved {
      first.send("c")
      second.send("d")
    }
    first.channel.isWritable = true
    loop.run()
    #expect(try first.writes() == ["a", "c"])
    #expect(try second.writes() == ["b d"])
  }

  @Test("combines each connection's output, whether or not others get the same")
  func sharing() throws {
    var random = SplitMix64(seed: 7)
    for _ in 0..<200 {
      let loop = EmbeddedEventLoop()
      let endOfTick = OutputTick(loop)
      let connections = try (0..<5).map { _ in try Connection(loop, endOfTick) }
      var expected = [[String]](repeating: [], count: connections.count)
      for number in 0..<Int.random(in: 0..<8, using: &random) {
        let message = EncodedMessage(Array("m\(number)".utf8))
        for (index, connection) in connections.enumerated() {
          switch Int.random(in: 0..<8, using: &random) {
          case 0: break
          case 1:
            connection.send("own\(number)")
            expected[index].append("own\(number)")
          default:
            connection.handler.send(message)
            expected[index].append("m\(number)")
          }
        }
      }
      loop.run()
      let writes = try connections.map { try $0.writes() }
      #expect(writes == expected.map { $0.isEmpty ? [] : [$0.joined(separator: " ")] })
    }
  }

  @Test("combines messages only once for all connections that get the same ones")
  func sharedOnce() throws {
    let loop = EmbeddedEventLoop()
    let endOfTick = OutputTick(loop)
    let connections = try (0..<4).map { _ in try Connection(loop, endOfTick) }
    for text in ["a", "b", "c"] {
      let message = EncodedMessage(Array(text.utf8))
      for connection in connections { connection.handler.send(message) }
    }
    loop.run()
    let places = try connections.dropFirst().map { connection in
      let bytes = try #require(try connection.channel.readOutbound(as: ByteBuffer.self))
      #expect(bytes.readableBytes == 9)
      return bytes.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
    }
    #expect(Set(places).count == 1)
  }

  @Test("reports congestion while too much is pending, and its relief once")
  func congestion() throws {
    let connection = try Connection(EmbeddedEventLoop(), nil)
    var reliefs = 0
    connection.setWritable(false)
    #expect(connection.handler.isCongested)
    connection.handler.whenRelieved { reliefs += 1 }
    connection.setWritable(false)
    #expect(reliefs == 0)
    for _ in 0..<2 { connection.setWritable(true) }
    #expect(!connection.handler.isCongested)
    #expect(reliefs == 1)
  }

  @Test("skips a connection that is gone and flushes the others")
  func gone() throws {
    let loop = EmbeddedEventLoop()
    let endOfTick = OutputTick(loop)
    let first = try Connection(loop, endOfTick)
    let second = try Connection(loop, endOfTick)
    first.send("a")
    second.send("b")
    first.channel.pipeline.fireChannelInactive()
    loop.run()
    #expect(try first.writes() == [])
    #expect(try second.writes() == ["b"])
  }
}
