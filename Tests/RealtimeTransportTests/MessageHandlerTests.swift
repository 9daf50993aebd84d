import NIOCore
import NIOEmbedded
import NIOWebSocket
import Testing

@testable import RealtimeTransport

@Suite("MessageHandler")
struct MessageHandlerTests {
  private final class Log {
    var messages: [String] = []
    var ends: [ConnectionEnd] = []
    var excess: [Int64] = []
  }

  private func makeChannel(
    role: MessageHandler.Role = .server,
    limits: TransportLimits = .server,
    restOfNetwork: @escaping (NIODeadline) -> TimeAmount? = { _ in nil }
  ) throws -> (EmbeddedChannel, MessageHandler, Log) {
    let log = Log()
    let handler = MessageHandler(
      role: role,
      limits: Shared(limits),
      peer: "the peer",
      restOfNetwork: restOfNetwork,
      onMessage: { log.messages.append(String(decoding: $0, as: UTF8.self)) },
      onExcess: { log.excess.append($0) },
      onEnd: { log.ends.append($0) }
    )
    let channel = EmbeddedChannel(handler: handler)
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/none")).wait()
    return (channel, handler, log)
  }

  /// A frame as NIO's own encoder writes it.
  private func frame(
    _ opcode: WebSocketOpcode,
    _ text: String,
    isFinal: Bool = true,
    isMasked: Bool = true
  ) throws -> ByteBuffer {
    let key: WebSocketMaskingKey? = isMasked ? WebSocketMaskingKey([1, 2, 3, 4]) : nil
    let data = ByteBuffer(string: text)
    let writer = EmbeddedChannel(handler: WebSocketFrameEncoder())
    try writer.writeOutbound(
      WebSocketFrame(fin: isFinal, opcode: opcode, maskKey: key, data: data)
    )
    var frame = ByteBuffer()
    while var part = try writer.readOutbound(as: ByteBuffer.self) { frame.writeBuffer(&part) }
    _ = try writer.finish()
    return frame
  }

  /// The frames written, as NIO's own decoder reads them.
  private func written(_ channel: EmbeddedChannel) throws -> [WebSocketFrame] {
    let reader = EmbeddedChannel(
      handler: ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: 1 << 24))
    )
    while let bytes = try channel.readOutbound(as: ByteBuffer.self) {
      try reader.writeInbound(bytes)
    }
    var frames: [WebSocketFrame] = []
    while let frame = try reader.readInbound(as: WebSocketFrame.self) { frames.append(frame) }
    _ = try? reader.finish()
    return frames
  }

  @Test("pings a silent connection")
  func keepAlive() throws {
    let (channel, handler, _) = try makeChannel()
    handler.keepAlive()
    #expect(try written(channel).isEmpty)
    handler.send(EncodedMessage(Array("{}".utf8)))
    handler.keepAlive()
    channel.embeddedEventLoop.run()
    #expect(try written(channel).map(\.opcode) == [.text])
    for _ in 0..<2 {
      handler.keepAlive()
      channel.embeddedEventLoop.run()
      #expect(try written(channel).map(\.opcode) == [.ping])
    }
  }

  @Test("assembles segments and fragments and delivers no keepalive as a message")
  func segments() throws {
    let (channel, _, log) = try makeChannel()
    try channel.writeInbound(try frame(.text, "0"))
    try channel.writeInbound(try frame(.text, "2"))
    try channel.writeInbound(try frame(.text, "ab"))
    try channel.writeInbound(try frame(.text, "c", isFinal: false))
    try channel.writeInbound(try frame(.ping, ""))
    try channel.writeInbound(try frame(.continuation, "d"))
    #expect(log.messages == ["abcd"])
  }

  @Test("ignores the fragments of a binary message")
  func binary() throws {
    let (channel, _, log) = try makeChannel()
    try channel.writeInbound(try frame(.binary, "{", isFinal: false))
    try channel.writeInbound(try frame(.continuation, "}"))
    try channel.writeInbound(try frame(.text, "{}"))
    #expect(log.messages == ["{}"])
  }

  @Test("reads only a few empty frames at a time", arguments: ["ping", "pong", "0", ""])
  func emptyFrames(kind: String) throws {
    let (channel, _, log) = try makeChannel()
    let opcode: WebSocketOpcode = kind == "ping" ? .ping : kind == "pong" ? .pong : .text
    var input = ByteBuffer()
    for _ in 0..<100 {
      var next = try frame(opcode, opcode == .text ? kind : "")
      input.writeBuffer(&next)
    }
    var last = try frame(.text, "{}")
    input.writeBuffer(&last)
    try channel.writeInbound(input)
    channel.embeddedEventLoop.run()
    if kind == "ping" { #expect(try written(channel).count < 70) }
    #expect(log.messages.filter { !$0.isEmpty } == [])
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(log.messages.filter { !$0.isEmpty } == [])
    // Nothing is lost: the rest is read in time, one frame each tenth of a second.
    for _ in 0..<40 { channel.embeddedEventLoop.advanceTime(by: .milliseconds(100)) }
    #expect(log.messages.filter { !$0.isEmpty } == ["{}"])
    // A client that sends little is never held up.
    channel.embeddedEventLoop.advanceTime(by: .seconds(60))
    try channel.writeInbound(try frame(opcode, opcode == .text ? kind : ""))
    try channel.writeInbound(try frame(.text, "{}"))
    #expect(log.messages.filter { !$0.isEmpty } == ["{}", "{}"])
  }

  @Test("counts empty frames of all connections of a network", arguments: ["ping", "pong", "0"])
  func emptyFramesOfNetwork(kind: String) throws {
    let open = OpenConnections()
    var logs: [Log] = []
    var channels: [EmbeddedChannel] = []
    for number in 0..<8 {
      let network = try SocketAddress(ipAddress: number < 7 ? "127.0.0.1" : "127.0.0.2", port: 1)
      let key = Log()
      open.opened(ObjectIdentifier(key), from: ClientNetwork(network)) {}
      let (channel, _, log) = try makeChannel(restOfNetwork: { now in
        withExtendedLifetime(key) { open.rest(ObjectIdentifier(key), after: .frame, at: now) }
      })
      channels.append(channel)
      logs.append(log)
    }
    let opcode: WebSocketOpcode = kind == "ping" ? .ping : kind == "pong" ? .pong : .text
    var input = ByteBuffer()
    for _ in 0..<64 {
      var next = try frame(opcode, opcode == .text ? kind : "")
      input.writeBuffer(&next)
    }
    var last = try frame(.text, "{}")
    input.writeBuffer(&last)
    for channel in channels {
      try channel.writeInbound(input)
      channel.embeddedEventLoop.run()
    }
    func areRead() -> [Bool] { logs.map { $0.messages.contains("{}") } }
    // None of them sends more than it may, but together they do; others are not concerned.
    #expect(areRead() == [true, true, true, true, false, false, false, true])
    // A client of the same network that sends little is not held up.
    try channels[0].writeInbound(try frame(.text, "[]"))
    #expect(logs[0].messages.last == "[]")
    for _ in 0..<200 {
      for channel in channels { channel.embeddedEventLoop.advanceTime(by: .milliseconds(10)) }
    }
    #expect(areRead() == Array(repeating: true, count: 8))
  }

  @Test("sends the closing reason, truncated to fit, and reads the peer's", arguments: [1, 200])
  func reasons(times: Int) throws {
    let reason = String(repeating: "the disk is full…", count: times)
    let (server, handler, _) = try makeChannel()
    handler.close(code: 1_013, end: ConnectionEnd(.closed, description: reason))
    let goodbye = try #require(try written(server).first)
    let told = String(decoding: goodbye.unmaskedData.readableBytesView.dropFirst(2), as: UTF8.self)
    #expect(reason.hasPrefix(told))
    #expect((min(reason.utf8.count, 120)...123).contains(told.utf8.count))
    let (client, _, log) = try makeChannel(role: .client)
    try client.writeInbound(try frame(.connectionClose, "\u{3}A" + told, isMasked: false))
    client.embeddedEventLoop.run()
    #expect(log.ends.first?.description == "the peer closed the connection: \(told)")
    #expect(log.ends.first?.cause == told)
  }

  @Test("closes on an unmasked frame to a server or a masked frame to a client")
  func masking() throws {
    for (role, isMasked) in [(MessageHandler.Role.server, false), (.client, true)] {
      let (channel, _, log) = try makeChannel(role: role)
      try channel.writeInbound(try frame(.text, "{}", isMasked: isMasked))
      channel.embeddedEventLoop.run()
      #expect(log.messages.isEmpty)
      #expect(log.ends.map(\.kind) == [.protocolViolation])
    }
  }

  @Test(
    "closes on an unexpected continuation or an unknown opcode",
    arguments: [WebSocketOpcode.continuation, WebSocketOpcode(encodedWebSocketOpcode: 3)]
  )
  func misplaced(opcode: WebSocketOpcode?) throws {
    let (channel, _, log) = try makeChannel()
    try channel.writeInbound(try frame(try #require(opcode), "x"))
    channel.embeddedEventLoop.run()
    #expect(log.ends.map(\.kind) == [.protocolViolation])
    let goodbye = try channel.readOutbound(as: ByteBuffer.self)
    #expect(goodbye.map { Array($0.readableBytesView) } == [0x88, 2, 0x03, 0xEA])
  }

  @Test("closes when a message is longer than allowed")
  func tooLong() throws {
    var limits = TransportLimits.server
    limits.messageBytes = 10
    let (channel, _, log) = try makeChannel(limits: limits)
    try channel.writeInbound(try frame(.text, "12345678", isFinal: false))
    try channel.writeInbound(try frame(.continuation, "12345678"))
    channel.embeddedEventLoop.run()
    #expect(log.messages.isEmpty)
    #expect(log.ends.map(\.kind) == [.protocolViolation])
  }

  @Test("closes when a message is not completed in time")
  func unfinished() throws {
    let (channel, _, log) = try makeChannel()
    try channel.writeInbound(try frame(.text, "3"))
    try channel.writeInbound(try frame(.text, "ab"))
    channel.embeddedEventLoop.advanceTime(by: .seconds(29))
    #expect(log.ends.isEmpty)
    channel.embeddedEventLoop.advanceTime(by: .seconds(2))
    #expect(log.ends.map(\.kind) == [.protocolViolation])
  }

  @Test("delivers nothing while reading is paused, then everything in order")
  func stopped() throws {
    let (channel, handler, log) = try makeChannel()
    handler.setReading(false)
    var bytes = ByteBuffer()
    for number in 1...3 {
      var frame = try frame(.text, "{\(number)}")
      bytes.writeBuffer(&frame)
    }
    try channel.writeInbound(bytes)
    channel.embeddedEventLoop.run()
    #expect(log.messages.isEmpty)
    handler.setReading(true)
    channel.embeddedEventLoop.run()
    #expect(log.messages == ["{1}", "{2}", "{3}"])
  }

  @Test("skips a message that is too long and reports its request number")
  func excess() throws {
    var limits = TransportLimits.server
    limits.messageBytes = 40
    limits.messageFrames = 5
    let text = #"{"t":"d","d":{"a":"p","b":{"d":"0123456789"},"r":42}}"#
    let cut = text.index(text.startIndex, offsetBy: 30)
    let (first, second) = (String(text[..<cut]), String(text[cut...]))
    func check(_ send: (EmbeddedChannel) throws -> Void) throws {
      let (channel, _, log) = try makeChannel(limits: limits)
      try send(channel)
      #expect(log.excess == [42])
      try channel.writeInbound(try frame(.text, "{}"))
      #expect(log.messages == ["{}"])
      #expect(log.ends.isEmpty)
    }
    // In one frame; in fragments with a ping between them; announced as two frames, or as more than
    // needed.
    try check { try $0.writeInbound(try frame(.text, text)) }
    try check {
      try $0.writeInbound(try frame(.text, first, isFinal: false))
      try $0.writeInbound(try frame(.ping, "x"))
      try $0.writeInbound(try frame(.continuation, second, isFinal: false))
      try $0.writeInbound(try frame(.continuation, "", isFinal: true))
    }
    try check {
      for part in ["2", first, second] { try $0.writeInbound(try frame(.text, part)) }
    }
    try check {
      for part in ["6", first, "", "", "", "", second] {
        try $0.writeInbound(try frame(.text, part))
      }
    }
    try check {
      try $0.writeInbound(try frame(.text, "2"))
      try $0.writeInbound(try frame(.text, first, isFinal: false))
      try $0.writeInbound(try frame(.continuation, second, isFinal: false))
      try $0.writeInbound(try frame(.continuation, " ", isFinal: true))
      try $0.writeInbound(try frame(.binary, "not of it"))
      try $0.writeInbound(try frame(.text, " "))
    }
  }

  @Test("skips a long message as long as it continues, and no longer")
  func slowExcess() throws {
    var limits = TransportLimits.server
    limits.messageFrames = 5
    let (channel, _, log) = try makeChannel(limits: limits)
    try channel.writeInbound(try frame(.text, "9"))
    for _ in 0..<5 {
      channel.embeddedEventLoop.advanceTime(by: .seconds(20))
      try channel.writeInbound(try frame(.text, "x"))
    }
    #expect(log.ends.isEmpty)
    channel.embeddedEventLoop.advanceTime(by: .seconds(61))
    #expect(log.ends.map(\.kind) == [.protocolViolation])
  }

  @Test("stops the timeout of a completed message")
  func finished() throws {
    let (channel, _, log) = try makeChannel()
    try channel.writeInbound(try frame(.text, "1"))
    try channel.writeInbound(try frame(.text, "ab"))
    channel.embeddedEventLoop.advanceTime(by: .seconds(60))
    #expect(log.ends.isEmpty)
  }

  @Test("sends everything of one tick in one write")
  func oneWrite() throws {
    let (channel, handler, _) = try makeChannel()
    for number in 0..<10 { handler.send(EncodedMessage(Array("{\"n\":\(number)}".utf8))) }
    #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
    channel.embeddedEventLoop.run()
    let write = try #require(try channel.readOutbound(as: ByteBuffer.self))
    #expect(write.readableBytes == 10 * 9)
    #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
  }

  @Test("splits long messages into segments that NIO's decoder reads", arguments: [false, true])
  func longMessage(isClient: Bool) throws {
    let (channel, handler, _) = try makeChannel(role: isClient ? .client : .server)
    let text = String(repeating: "é😀", count: 20_000)
    if isClient {
      handler.send(Array(text.utf8))
    } else {
      handler.send(EncodedMessage(Array(text.utf8)))
    }
    channel.embeddedEventLoop.run()
    let frames = try written(channel)
    #expect(frames.allSatisfy { ($0.maskKey != nil) == isClient && $0.opcode == .text && $0.fin })
    let texts = frames.map { String(buffer: $0.unmaskedData) }
    #expect(texts.first == "\(frames.count - 1)")
    #expect(texts.dropFirst().joined() == text)
  }

  @Test(
    "writes frames of every length that NIO's decoder reads",
    arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 300_000]
  )
  func lengths(count: Int) throws {
    let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    for mask in [nil, UInt32(0xDEAD_BEEF)] {
      var buffer = ByteBuffer()
      FrameEncoder.append(.binary, payload: payload, mask: mask, to: &buffer)
      let reader = EmbeddedChannel(
        handler: ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: 1 << 24))
      )
      try reader.writeInbound(buffer)
      let frame = try #require(try reader.readInbound(as: WebSocketFrame.self))
      #expect(Array(frame.unmaskedData.readableBytesView) == payload)
      #expect(frame.opcode == .binary && frame.fin)
    }
  }

  @Test("sends a close frame when closed and waits only briefly for the reply")
  func close() throws {
    let (channel, handler, log) = try makeChannel()
    handler.close(code: 1_001, end: ConnectionEnd(.closed, description: "enough"))
    try channel.writeInbound(try frame(.text, "{}"))
    #expect(try written(channel).map(\.opcode) == [.connectionClose])
    #expect(log.messages.isEmpty)
    channel.embeddedEventLoop.advanceTime(by: .seconds(2))
    #expect(log.ends == [ConnectionEnd(.closed, description: "enough")])
  }
}
