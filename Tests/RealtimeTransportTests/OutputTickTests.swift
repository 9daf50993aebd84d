import NIOCore
import NIOEmbedded
import Testing

@testable import RealtimeTransport

@Suite("The end of a tick")
struct OutputTickTests {
  private final class Connection {
    let channel: EmbeddedChannel
    let handler: MessageHandler

    init(_ loop: EmbeddedEventLoop, _ endOfTick: OutputTick?) throws {
      handler = MessageHandler(
        role: .server,
        limits: .server,
        peerName: "the peer",
        endOfTick: endOfTick,
        onMessage: { _ in },
        onEnd: { _ in }
      )
      channel = EmbeddedChannel(handler: handler, loop: loop)
      try channel.connect(to: SocketAddress(unixDomainSocketPath: "/none")).wait()
    }

    func send(_ text: String) {
      handler.send(EncodedMessage(Array(text.utf8)))
    }

    /// What has been written since, write by write, without the two bytes of each frame's head.
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

  @Test("flushes all connections that were sent something, each with one write")
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

  @Test("comes once for all connections that share it", arguments: [true, false])
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
    // The first message asked for the end of the tick, so that it comes before what came later.
    #expect(early == (isShared ? ["b"] : []))
    #expect(try first.writes() == ["a"])
    #expect(try second.writes() == (isShared ? [] : ["b"]))
  }

  @Test("takes along what is sent while it flushes, and comes again for what is flushed already")
  func reentry() throws {
    let loop = EmbeddedEventLoop()
    let endOfTick = OutputTick(loop)
    let first = try Connection(loop, endOfTick)
    let second = try Connection(loop, endOfTick)
    first.send("a")
    second.send("b")
    first.handler.whenRelieved {
      first.send("c")
      second.send("d")
    }
    loop.run()
    #expect(try first.writes() == ["a", "c"])
    #expect(try second.writes() == ["b d"])
  }

  @Test("passes over a connection that is gone, and flushes the others")
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
