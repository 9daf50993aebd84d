import NIOCore
import NIOEmbedded
import Testing

@testable import RealtimeTransport

/// Both event loops stand still until a test runs them.
@Suite("LoopLink")
struct LoopLinkTests {
  private final class Log: @unchecked Sendable {
    var lines: [String] = []
  }

  private let server = EmbeddedEventLoop()
  private let connections = EmbeddedEventLoop()
  private let log = Log()
  private let link: LoopLink

  init() {
    link = LoopLink(from: server, to: connections)
  }

  private func note(_ line: String) -> @Sendable () -> Void { { [log] in log.lines.append(line) } }

  private func takeLines() -> [String] {
    defer { log.lines = [] }
    return log.lines
  }

  @Test("delivers the calls of a tick together, in order, in both directions")
  func order() {
    for name in ["a", "b", "c"] { link.toConnections(note(name)) }
    connections.run()
    #expect(log.lines == [])
    server.run()
    connections.run()
    #expect(takeLines() == ["a", "b", "c"])
    for name in ["d", "e"] { link.toServer(note(name)) }
    server.run()
    #expect(log.lines == [])
    connections.run()
    server.run()
    #expect(takeLines() == ["d", "e"])
  }

  @Test("makes each call directly if both sides share an event loop")
  func direct() {
    let link = LoopLink(from: server, to: server)
    link.toConnections(note("a"))
    link.toServer(note("b"))
    #expect(link.isDirect)
    #expect(takeLines() == ["a", "b"])
  }

  @Test("keeps at most two deliveries to the server in flight and batches later calls")
  func deliveries() {
    for name in ["a", "b", "c", "d"] {
      link.toServer(note(name))
      connections.run()
    }
    server.run()
    #expect(takeLines() == ["a", "b"])
    // The server's acknowledgement makes room for what was collected, in one delivery.
    connections.run()
    server.run()
    #expect(takeLines() == ["c", "d"])
    connections.run()
    server.run()
    #expect(takeLines() == [])
  }

  @Test("pauses a connection with many messages in flight until the server has handled some")
  func manyMessages() {
    let sender = LoopLink.Sender { [log] in log.lines.append($0 ? "held" : "read") }
    for _ in 0..<15 { link.toServer(from: sender, bytes: 1) {} }
    #expect(takeLines() == [])
    link.toServer(from: sender, bytes: 1) {}
    #expect(takeLines() == ["held"])
    connections.run()
    server.run()
    #expect(takeLines() == [])
    connections.run()
    #expect(takeLines() == ["read"])
  }

  @Test("pauses a connection with long messages in flight")
  func longMessages() {
    let sender = LoopLink.Sender { [log] in log.lines.append($0 ? "held" : "read") }
    link.toServer(from: sender, bytes: 200_000) {}
    connections.run()
    link.toServer(from: sender, bytes: 100_000) {}
    #expect(takeLines() == ["held"])
    connections.run()
    server.run()
    connections.run()
    #expect(takeLines() == ["read"])
  }

  @Test("no longer uses the connections' event loop once it has ended")
  func ended() {
    link.toConnections(note("a"))
    link.toServer(note("b"))
    connections.run()
    link.end()
    link.toConnections(note("c"))
    server.run()
    connections.run()
    #expect(takeLines() == ["b"])
  }
}

@Suite("OutputMirror")
struct OutputMirrorTests {
  private final class Handler: OutputHandler {
    var isCongested = false
    var onRelief: (() -> Void)?

    func whenRelieved(_ body: @escaping () -> Void) { onRelief = body }
  }

  private let server = EmbeddedEventLoop()
  private let connections = EmbeddedEventLoop()

  private func makeMirror(_ total: OutputTotal? = nil) -> OutputMirror {
    var limits = TransportLimits.server
    limits.congestionBytes = 1_000
    let link = LoopLink(from: server, to: connections)
    return OutputMirror(link, limits: Shared(limits), total: total)
  }

  private func pass() {
    server.run()
    connections.run()
    server.run()
  }

  @Test("counts output in flight as pending until it arrives")
  func onTheWay() {
    let mirror = makeMirror()
    #expect(!mirror.isCongested && !mirror.hasNotableOutput)
    mirror.send(1_000) {}
    #expect(!mirror.isCongested && !mirror.hasNotableOutput)
    mirror.send(1) {}
    #expect(mirror.isCongested && mirror.hasNotableOutput)
    pass()
    #expect(!mirror.isCongested && !mirror.hasNotableOutput)
  }

  @Test("shows the connection's pending output")
  func waiting() {
    let mirror = makeMirror()
    mirror.waitingBytes = 1_001
    #expect(mirror.hasNotableOutput && !mirror.isCongested)
    mirror.isWritable = false
    #expect(mirror.isCongested)
  }

  @Test("is congested while memory is short and output is pending, on any event loop")
  func tight() {
    var bounds = ConnectionMemory.Bounds()
    bounds.output = 3_000
    let memory = ConnectionMemory(bounds, eventLoop: server)
    let mirrors = (0..<4).map { _ in makeMirror(memory.total) }
    for mirror in mirrors.dropLast() { mirror.send(1_000) {} }
    #expect(!memory.isExhausted(isWaiting: true))
    mirrors[3].waitingBytes = 1_001
    #expect(!mirrors[3].isCongested)
    mirrors[0].send(1) {}
    #expect(memory.isExhausted(isWaiting: true))
    #expect(mirrors[3].isCongested)
    #expect(!mirrors[1].isCongested)
    pass()
    #expect(!mirrors[3].isCongested)
  }

  @Test("never counts a long response twice during its handover to the connection")
  func takeover() throws {
    let memory = ConnectionMemory(eventLoop: server)
    let total = memory.total
    let mirror = makeMirror(total)
    let branch = memory.branch(on: connections)
    let channel = try SlowChannel(.server, memory: branch.value, mirror: mirror)
    let response = [UInt8](repeating: 1, count: 20_000)
    let counted = NIOLoopBoundBox([Int](), eventLoop: connections)
    let bound = NIOLoopBound(channel, eventLoop: connections)
    mirror.send(response.count) {
      bound.value.append(response)
      counted.value.append(total.waitingBytes)
    }
    #expect(memory.outputBytes == 20_000)
    pass()
    #expect(counted.value == [20_000])
    #expect(memory.outputBytes == 20_000)
    channel.endTick()
    try channel.take(19_000)
    channel.queue.noteWaiting()
    #expect(memory.outputBytes == 1_000 && mirror.waitingBytes == 1_000)
  }

  @Test(
    "reports once that a connection has caught up, and never after its end",
    arguments: [true, false]
  )
  func relief(isCongested: Bool) {
    let mirror = makeMirror()
    let handler = Handler()
    handler.isCongested = isCongested
    let box = NIOLoopBoundBox<Handler?>(handler, eventLoop: connections)
    var reliefs = 0
    mirror.whenRelieved(box) { reliefs += 1 }
    #expect(reliefs == 0)
    pass()
    connections.run()
    #expect((reliefs == 0) == isCongested)
    handler.onRelief?()
    connections.run()
    server.run()
    #expect(reliefs == 1)
    mirror.whenRelieved(box) { reliefs += 1 }
    mirror.end()
    pass()
    handler.onRelief?()
    connections.run()
    server.run()
    #expect(reliefs == 1)
  }
}
