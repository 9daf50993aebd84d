import NIOCore
import NIOEmbedded
import Testing

@testable import RealtimeTransport

/// Everything happens on a clock that stands still until a test advances it.
@Suite("ConnectionMemory")
struct ConnectionMemoryTests {
  private final class Log {
    var lines: [String] = []
  }

  private let loop = EmbeddedEventLoop()
  private let log = Log()

  private func makeMemory(
    strangers: Int = 100,
    others: Int = 200,
    output: Int = 1_000
  ) -> ConnectionMemory {
    var bounds = ConnectionMemory.Bounds()
    (bounds.strangers, bounds.others, bounds.output) = (strangers, others, output)
    return ConnectionMemory(bounds, eventLoop: loop)
  }

  private func makeHolder(_ name: String, isStranger: Bool = true) -> InputPromises.Holder {
    let holder = InputPromises.Holder { [log] in log.lines.append("\(name) ended") }
    holder.isStranger = isStranger
    return holder
  }

  private func ask(
    _ memory: ConnectionMemory,
    _ holder: InputPromises.Holder,
    _ bytes: Int,
    _ name: String
  ) -> Bool {
    memory.input.promise(bytes, to: holder) { [log] in log.lines.append("\(name) granted") }
  }

  // MARK: Input

  @Test("is granted in request order, and a single request always fits")
  func order() {
    let memory = makeMemory()
    let (a, b, c, d) = (makeHolder("a"), makeHolder("b"), makeHolder("c"), makeHolder("d"))
    #expect(ask(memory, a, 60, "a"))
    #expect(!ask(memory, b, 500, "b"))
    // A request that would fit does not overtake.
    #expect(!ask(memory, c, 40, "c"))
    #expect(!ask(memory, d, 40, "d"))
    #expect(memory.promisedInput == 60)
    memory.input.release(a)
    loop.run()
    #expect(log.lines == ["b granted"])
    memory.input.release(b)
    loop.run()
    #expect(log.lines == ["b granted", "c granted", "d granted"])
    #expect(memory.promisedInput == 80)
    memory.input.release(c)
    memory.input.release(d)
    #expect(memory.promisedInput == 0)
  }

  @Test("is separate for authenticated and unauthenticated clients")
  func pools() {
    let memory = makeMemory()
    let (a, b, c) = (makeHolder("a"), makeHolder("b"), makeHolder("c", isStranger: false))
    #expect(ask(memory, a, 100, "a"))
    #expect(!ask(memory, b, 1, "b"))
    #expect(ask(memory, c, 200, "c"))
    // A peer that signs in returns the memory that it had as a stranger.
    a.isStranger = false
    memory.input.release(a)
    loop.run()
    #expect(log.lines == ["b granted"])
    #expect(memory.promisedInput == 201)
  }

  @Test("is never granted to a connection that is gone")
  func gone() {
    let memory = makeMemory()
    let (a, b) = (makeHolder("a"), makeHolder("b"))
    #expect(ask(memory, a, 100, "a"))
    #expect(!ask(memory, b, 100, "b"))
    memory.input.release(b)
    memory.input.release(a)
    loop.run()
    #expect(log.lines == [])
    #expect(memory.promisedInput == 0)
  }

  @Test("is taken from stalled connections while others wait, not from active or complete ones")
  func stopped() {
    let memory = makeMemory()
    let holders = ["stopped", "going", "complete"].map { makeHolder($0) }
    for holder in holders { #expect(ask(memory, holder, 30, "")) }
    loop.advanceTime(by: .seconds(60))
    #expect(log.lines == [])
    let waiting = makeHolder("waiting")
    #expect(!ask(memory, waiting, 30, "waiting"))
    holders[2].isComplete = true
    for _ in 0..<4 {
      holders[1].received(64 * 1_024)
      loop.advanceTime(by: .milliseconds(500))
    }
    #expect(log.lines == ["stopped ended"])
    memory.input.release(holders[0])
    loop.run()
    #expect(log.lines == ["stopped ended", "waiting granted"])
  }

  @Test("reports when nothing is in use after a burst")
  func relief() {
    let memory = makeMemory(strangers: 1 << 24)
    memory.onBurst = { [log] in log.lines.append("relief") }
    let (a, b) = (makeHolder("a"), makeHolder("b"))
    #expect(ask(memory, a, 1_000, "a"))
    memory.input.release(a)
    #expect(log.lines == [])
    #expect(ask(memory, a, 5 << 20, "a"))
    #expect(ask(memory, b, 1_000, "b"))
    memory.input.release(a)
    #expect(log.lines == [])
    memory.input.release(b)
    #expect(log.lines == ["relief"])
  }

  // MARK: Output

  private func makeChannel(_ memory: ConnectionMemory) throws -> SlowChannel {
    var limits = TransportLimits.server
    limits.congestionBytes = 100
    limits.pendingBytes = 1 << 30
    return try SlowChannel(limits, memory: memory)
  }

  private func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }

  @Test("is exhausted sooner for connections with unread output, and counts pending output")
  func exhaustion() throws {
    let memory = makeMemory()
    let channel = try makeChannel(memory)
    channel.send(bytes(1_000))
    #expect(memory.outputBytes == 1_000)
    #expect(!memory.isExhausted(isWaiting: true))
    memory.pendingOutput = { 1 }
    #expect(memory.isExhausted(isWaiting: true))
    #expect(!memory.isExhausted(isWaiting: false))
    channel.send(bytes(1_000))
    #expect(memory.isExhausted(isWaiting: false))
    // What the peer has read is determined only when it matters.
    try channel.take(1_500)
    #expect(!memory.isExhausted(isWaiting: true))
    channel.queue.close()
    #expect(memory.outputBytes == 1)
  }

  @Test("resumes waiting connections one by one as long as memory is free")
  func waiters() throws {
    let memory = makeMemory()
    let channel = try makeChannel(memory)
    channel.send(bytes(1_500))
    memory.whenRelieved { [log] in
      log.lines.append("first")
      channel.send(bytes(1_001))
    }
    memory.whenRelieved { [log] in log.lines.append("second") }
    loop.advanceTime(by: .milliseconds(100))
    #expect(log.lines == [])
    try channel.take(1_500)
    loop.advanceTime(by: .milliseconds(20))
    #expect(log.lines == ["first"])
    try channel.take(1)
    loop.advanceTime(by: .milliseconds(20))
    #expect(log.lines == ["first", "second"])
  }

  @Test("is taken from clients that read nothing of their large output when memory is short")
  func stragglers() throws {
    let memory = makeMemory()
    let (idle, slow, small) = (
      try makeChannel(memory), try makeChannel(memory), try makeChannel(memory)
    )
    idle.send(bytes(900))
    loop.advanceTime(by: .seconds(60))
    slow.send(bytes(900))
    small.send(bytes(50))
    for _ in 0..<6 {
      loop.advanceTime(by: .milliseconds(500))
      try slow.take(1)
    }
    #expect(Set(idle.reasons) == ["it does not read 900 bytes, and others need the memory"])
    #expect(slow.reasons == [] && small.reasons == [])
  }
}
