import NIOCore
import TestSupport
import Testing

@testable import RealtimeTransport

/// Everything happens on a clock that stands still until a test advances it.
@Suite("OutputQueue")
struct OutputQueueTests {
  private static let stall = TimeAmount.seconds(10)
  private static let halfStall = TimeAmount.seconds(5)
  private static let instant = TimeAmount.nanoseconds(1)

  private func makeChannel(
    congestion: Int = 1_000,
    pending: Int = 10_000
  ) throws -> SlowChannel {
    var limits = TransportLimits.server
    limits.stall = Self.stall
    limits.congestionBytes = congestion
    limits.pendingBytes = pending
    return try SlowChannel(limits)
  }

  private func bytes(_ count: Int, from start: Int = 0) -> [UInt8] {
    (start..<start + count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
  }

  // MARK: Time

  @Test("disconnects a peer that reads nothing for 1 to 1.5 times the time limit")
  func stalled() throws {
    let channel = try makeChannel()
    channel.send(bytes(7))
    channel.pass(Self.stall)
    #expect(channel.reasons == [])
    channel.pass(Self.halfStall - Self.instant)
    #expect(channel.reasons == [])
    channel.pass(Self.instant)
    #expect(channel.reasons == ["it has read nothing of 7 bytes for some time"])
    channel.pass(Self.stall * 4)
    #expect(channel.reasons.count == 1)
  }

  @Test("counts only read output as progress, not new output")
  func stalledWhileSending() throws {
    let channel = try makeChannel()
    for _ in 0..<14 {
      channel.send(bytes(3))
      channel.pass(.seconds(1))
    }
    #expect(channel.reasons == [])
    channel.pass(.seconds(1))
    #expect(channel.reasons == ["it has read nothing of 42 bytes for some time"])
  }

  @Test(
    "keeps a peer that reads one byte within each time limit",
    arguments: [1, 2_500, 4_999, 5_000, 5_001, 9_998]
  )
  func slow(phase: Int64) throws {
    let channel = try makeChannel()
    channel.send(bytes(100))
    channel.pass(.milliseconds(phase))
    for _ in 0..<90 {
      #expect(try channel.take(1).count == 1)
      channel.pass(Self.stall - .milliseconds(1))
    }
    #expect(channel.reasons == [])
    channel.pass(Self.stall)
    #expect(channel.reasons.count == 1)
  }

  @Test("keeps a peer that reads something, even if it falls behind")
  func fallingBehind() throws {
    let channel = try makeChannel(congestion: 1 << 20, pending: 1 << 21)
    for _ in 0..<90 {
      channel.send(bytes(100))
      channel.pass(Self.halfStall)
      #expect(try channel.take(10).count == 10)
    }
    #expect(channel.reasons == [])
  }

  @Test("restarts the timeout with the next output once everything is read")
  func rest() throws {
    let channel = try makeChannel()
    for _ in 0..<3 {
      channel.send(bytes(10))
      channel.pass(Self.stall - Self.instant)
      try channel.take(10)
      channel.pass(Self.stall * 3)
    }
    #expect(channel.reasons == [])
    channel.send(bytes(10))
    channel.pass(Self.halfStall * 3 - Self.instant)
    #expect(channel.reasons == [])
    channel.pass(Self.instant)
    #expect(channel.reasons.count == 1)
  }

  @Test("uses one timeout for all output of the same wait")
  func oneClock() throws {
    let channel = try makeChannel()
    for _ in 0..<5 { channel.send(bytes(1)) }
    channel.pass(Self.stall * 2)
    #expect(channel.reasons == ["it has read nothing of 5 bytes for some time"])
  }

  @Test("reports nothing for a closed connection and accepts no output for it")
  func closed() throws {
    let channel = try makeChannel()
    channel.send(bytes(10))
    channel.append(bytes(5))
    channel.queue.close()
    channel.endTick()
    for _ in 0..<3 { channel.append(bytes(900)) }
    channel.endTick()
    channel.pass(Self.stall * 2)
    #expect(channel.reasons == [])
    #expect(channel.writes == [10] && channel.flushes == 1)
  }

  // MARK: Size

  @Test("accepts output until the limit is exceeded, and nothing after that")
  func bounded() throws {
    for excess in [-1, 0, 1] {
      let channel = try makeChannel(congestion: 1_000, pending: 10_000)
      channel.send(bytes(10_000 + excess))
      #expect(channel.waiting == 10_000 + excess)
      channel.send(bytes(1))
      let isOver = excess > 0
      #expect(channel.reasons == (isOver ? ["10001 bytes of output are waiting for it"] : []))
      #expect(channel.waiting == 10_000 + (isOver ? 1 : excess + 1))
    }
  }

  @Test("accepts output again as soon as something is read")
  func boundedAgain() throws {
    let channel = try makeChannel(congestion: 1_000, pending: 2_000)
    channel.send(bytes(2_001))
    try channel.take(1)
    channel.send(bytes(1))
    #expect(channel.reasons == [])
    channel.send(bytes(1))
    #expect(channel.reasons == ["2001 bytes of output are waiting for it"])
  }

  @Test("is congested above the high-water mark until output drops below half of it")
  func congestion() throws {
    let channel = try makeChannel(congestion: 1_000, pending: 10_000)
    #expect(channel.marks?.high == 1_000 && channel.marks?.low == 500)
    channel.send(bytes(1_000))
    #expect(!channel.queue.isCongested)
    channel.send(bytes(1))
    #expect(channel.queue.isCongested)
    var reliefs = 0
    channel.queue.whenRelieved { reliefs += 1 }
    try channel.take(501)
    #expect(channel.queue.isCongested && reliefs == 0)
    try channel.take(1)
    #expect(!channel.queue.isCongested && reliefs == 1)
    channel.send(bytes(1_000))
    try channel.take(1_499)
    #expect(reliefs == 1)
  }

  @Test("is not congested at a pending limit below the congestion limit")
  func noCongestion() throws {
    let channel = try makeChannel(congestion: 2_000, pending: 1_000)
    #expect(channel.marks?.high == 1_000)
    channel.send(bytes(1_001))
    #expect(!channel.queue.isCongested)
    channel.send(bytes(1))
    #expect(channel.reasons == ["1001 bytes of output are waiting for it"])
    let same = try makeChannel(congestion: 1_000, pending: 1_000)
    same.send(bytes(1_001))
    #expect(same.queue.isCongested)
  }

  @Test("drops relief callbacks when closed")
  func noReliefAfterEnd() throws {
    let channel = try makeChannel()
    channel.send(bytes(2_000))
    var reliefs = 0
    channel.queue.whenRelieved { reliefs += 1 }
    channel.queue.close()
    try channel.take(2_000)
    #expect(reliefs == 0)
  }

  // MARK: Pieces

  @Test("combines output up to the limit and not a byte more", arguments: [0, 1])
  func gathering(excess: Int) throws {
    let limit = 256 * 1_024
    let channel = try makeChannel(congestion: 1 << 20, pending: 1 << 21)
    channel.append(bytes(limit - 10))
    channel.append(bytes(10 + excess))
    channel.endTick()
    #expect(channel.writes == (excess == 0 ? [limit] : [limit - 10, 11]))
    #expect(channel.flushes == 1)
    let small = try makeChannel(congestion: 100, pending: 1 << 20)
    small.append(bytes(90))
    small.append(bytes(10 + excess))
    small.endTick()
    #expect(small.writes == (excess == 0 ? [100] : [90, 11]))
  }

  @Test("resumes where it stopped, wherever a peer stops reading")
  func order() throws {
    var random = SplitMix64(seed: 5)
    let channel = try makeChannel(congestion: 5_000, pending: 1 << 20)
    var sent = 0
    var taken: [UInt8] = []
    for _ in 0..<400 {
      for _ in 0..<random.below(4) {
        let count = 1 + random.below(random.below(10) == 0 ? 6_000 : 200)
        channel.append(bytes(count, from: sent))
        sent += count
      }
      if random.below(5) == 0 { channel.queue.flush() }
      channel.endTick()
      taken += try channel.take(random.below(900))
    }
    #expect(taken.count < sent)
    taken += try channel.take(sent)
    #expect(taken == bytes(sent))
    #expect(channel.reasons == [] && channel.waiting == 0)
  }

  @Test("sends flushed output at once and not again at the end of the tick")
  func flushing() throws {
    let channel = try makeChannel()
    channel.append(bytes(3))
    #expect(channel.writes == [])
    channel.queue.flush()
    #expect(channel.writes == [3] && channel.flushes == 1)
    channel.append(bytes(4))
    channel.endTick()
    #expect(channel.writes == [3, 4])
  }

  @Test("keeps pending bytes and releases them once read or no longer needed")
  func memory() throws {
    let channel = try makeChannel(congestion: 1 << 20, pending: 1 << 21)
    var (waiting, taken) = (ByteBuffer(bytes: bytes(5_000)), ByteBuffer(bytes: bytes(5_000)))
    channel.queue.append(waiting)
    channel.endTick()
    #expect(isShared(&waiting))
    try channel.take(5_000)
    channel.queue.append(taken)
    channel.endTick()
    try channel.take(5_000)
    #expect(!isShared(&taken))
    var (joined, dropped) = (ByteBuffer(bytes: bytes(5_000)), ByteBuffer(bytes: bytes(5_000)))
    channel.append(bytes(3))
    channel.queue.append(joined)
    channel.endTick()
    #expect(!isShared(&joined))
    channel.queue.append(dropped)
    channel.queue.close()
    #expect(!isShared(&dropped))
  }

  /// Whether the bytes have another owner, so that changing them makes a copy.
  private func isShared(_ buffer: inout ByteBuffer) -> Bool {
    let before = buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
    buffer.setInteger(UInt8(0), at: buffer.readerIndex)
    return before != buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
  }
}
