internal import NIOCore

/// Gathers what one connection sends during a tick of its event loop, and bounds what waits.
///
/// `tick` is what has been sent in this tick; everything before it waits in the channel, if the
/// other end has not taken it. The channel counts what waits: it stops being writable when that is
/// so much that the other end does not keep up. While anything waits, a timer looks for progress.
/// While nothing does, a tick is written to the socket itself.
final class OutputQueue {
  /// What is gathered before it is handed to the channel, at most.
  private static let gatheredBytes = 256 * 1_024
  /// How often the timer must find the same before the other end counts as stalled.
  private static let looks: Int64 = 2
  /// Output that is noted at once; of less it is enough to know at the end of the tick.
  private static let notable = 16 * 1_024
  /// What a connection that has much waiting must take from one look to the next.
  private static let progress = 64 * 1_024
  /// What may wait for a connection that takes anything at all, whoever else waits.
  private static let patience = 1_024 * 1_024

  private let limits: Shared<TransportLimits>
  private let context: ChannelHandlerContext
  private let channel: any Channel
  private let socket: SocketWriter?
  private let endOfTick: OutputTick
  private let memory: ConnectionMemory?
  private let onStall: (String) -> Void
  private let gatheredLimit: Int
  /// The frames of this tick; they may share their bytes with other connections.
  private var tick: ByteBuffer?
  /// Whether less waits than what any of the limits is about.
  private var isWritable = true
  /// Whether some of what the channel has been given may wait in it.
  private var mayWait = true
  private var isFlushScheduled = false
  private var isClosed = false
  /// How many bytes the channel has been given.
  private var givenBytes = 0
  private var stallCheck: Scheduled<Void>?
  private var onRelief: (() -> Void)?
  /// What was noted to wait last.
  private var notedBytes = 0
  /// What had been taken when it was looked who holds up others.
  private var takenAtLook: Int?

  /// Makes a queue.
  ///
  /// - Parameters:
  ///   - limits: The bounds of the connection.
  ///   - context: Where buffers of whole frames can be written.
  ///   - socket: Where they can be written as well, as they are; nil if the channel changes them.
  ///   - endOfTick: What flushes this queue together with others; nil for one by itself.
  ///   - memory: Where it is counted what waits; nil for nowhere.
  ///   - onStall: Takes the reason when the other end is too slow.
  init(
    limits: Shared<TransportLimits>,
    context: ChannelHandlerContext,
    socket: SocketWriter? = nil,
    endOfTick: OutputTick? = nil,
    memory: ConnectionMemory? = nil,
    onStall: @escaping (String) -> Void
  ) {
    self.limits = limits
    self.context = context
    self.socket = socket
    self.endOfTick = endOfTick ?? OutputTick(context.eventLoop)
    self.memory = memory
    self.onStall = onStall
    channel = context.channel
    gatheredLimit = min(Self.gatheredBytes, limits.congestionBytes)
    let high = max(1, min(limits.congestionBytes, limits.pendingBytes))
    try? channel.syncOptions?.setOption(
      .writeBufferWaterMark,
      value: .init(low: max(1, high / 2), high: high)
    )
  }

  /// Whether so much waits that the other end does not keep up: when memory is short, less is much.
  var isCongested: Bool {
    guard limits.congestionBytes <= limits.pendingBytes else { return false }
    return !isWritable || memory?.isTight == true && hasNotableOutput
  }

  /// Whether more waits than what small answers have.
  var hasNotableOutput: Bool { notedBytes > gatheredLimit }

  /// Calls a closure once, as soon as half of what makes a congestion is gone.
  func whenRelieved(_ body: @escaping () -> Void) {
    onRelief = body
  }

  /// Notes that the channel has become writable, or ceased to be.
  func writabilityChanged() {
    isWritable = channel.isWritable
    noteWaiting()
    if isWritable { relieve() }
  }

  private func relieve() {
    guard let onRelief else { return }
    self.onRelief = nil
    onRelief()
  }

  /// Calls who waits for relief from a congestion that was none but for the others.
  func relieveEarly() {
    if isWritable, !isCongested { relieve() }
  }

  /// Sends frames with the others of this tick.
  ///
  /// - Parameters:
  ///   - frames: Whole frames, or a piece of something longer.
  ///   - goesOn: Whether what came before is not whole without them, so that they are not refused.
  func append(_ frames: ByteBuffer, goesOn: Bool = false) {
    guard !isClosed else { return }
    if !goesOn, !isWritable, waitingBytes > limits.pendingBytes {
      onStall("\(waitingBytes) bytes of output wait for it")
      return
    }
    if var gathered = tick, gathered.readableBytes + frames.readableBytes <= gatheredLimit {
      tick = nil
      endOfTick.append(frames, to: &gathered)
      tick = gathered
    } else {
      writeTick()
      tick = frames
    }
    if frames.readableBytes > Self.notable { noteWaiting() }
    guard !isFlushScheduled else { return }
    isFlushScheduled = true
    endOfTick.flush(self)
  }

  /// Sends what is waiting for the end of the tick right now.
  func flush() {
    isFlushScheduled = false
    guard !isClosed else { return }
    if writeToSocket() {
      if notedBytes > 0 { noteWaiting() }
      return
    }
    writeTick()
    context.flush()
    noteWaiting()
    if stallCheck == nil, waitingBytes > 0 { scheduleStallCheck(since: nil, looks: 0) }
  }

  /// Takes nothing more and forgets what has not been written.
  func close() {
    isClosed = true
    tick = nil
    onRelief = nil
    noteWaiting()
    stallCheck?.cancel()
    stallCheck = nil
  }

  /// Writes the tick to the socket if nothing waits before it; true when all of it has been taken.
  private func writeToSocket() -> Bool {
    guard let socket, var frames = tick else { return false }
    if mayWait {
      guard waitingBytes == 0 else { return false }
      mayWait = false
    }
    frames.moveReaderIndex(forwardBy: socket.write(frames))
    tick = frames.readableBytes > 0 ? frames : nil
    return tick == nil
  }

  private func writeTick() {
    guard let frames = tick else { return }
    tick = nil
    mayWait = true
    givenBytes += frames.readableBytes
    context.write(NIOAny(frames), promise: nil)
  }

  // MARK: Memory

  /// Notes what waits, for those who ask how much it is on all connections.
  func noteWaiting() {
    guard let memory else { return }
    // What a closed connection has not written goes with it.
    let bytes = isClosed ? 0 : waitingBytes + (tick?.readableBytes ?? 0)
    guard bytes != notedBytes else { return }
    memory.note(self, from: notedBytes, to: bytes)
    notedBytes = bytes
    if bytes == 0 { takenAtLook = nil }
  }

  /// Whether the other end has taken next to nothing of much, or nothing at all, since the last call.
  ///
  /// - Parameter fairShare: What everyone may have waiting.
  /// - Returns: Whether it has more than that, and does not read it.
  func isStraggling(beyond fairShare: Int) -> Bool {
    let taken = givenBytes - waitingBytes
    let last = takenAtLook
    takenAtLook = taken
    guard let last, notedBytes >= fairShare, hasNotableOutput else { return false }
    return taken <= last || notedBytes > Self.patience && taken - last < Self.progress
  }

  /// Ends the connection, since its output takes the memory that others need.
  func end() {
    onStall("it does not read \(notedBytes) bytes, and others need the memory")
  }

  // MARK: Progress

  /// What the channel has been given and the other end has not taken.
  private var waitingBytes: Int {
    (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  /// Looks in a while whether the other end takes what it is sent.
  ///
  /// - Parameters:
  ///   - taken: How many bytes it had taken when it was looked last; nil if nothing waited then.
  ///   - looks: How often it has taken nothing in between.
  private func scheduleStallCheck(since taken: Int?, looks: Int64) {
    let delay = TimeAmount.nanoseconds(limits.stall.nanoseconds / Self.looks)
    stallCheck = context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
      self.stallCheck = nil
      let waiting = self.waitingBytes
      self.noteWaiting()
      guard !self.isClosed, waiting > 0 else { return }
      let takenNow = self.givenBytes - waiting
      guard let taken, takenNow <= taken else {
        return self.scheduleStallCheck(since: takenNow, looks: 0)
      }
      guard looks + 1 < Self.looks else {
        return self.onStall("it has read nothing of \(waiting) bytes for some time")
      }
      self.scheduleStallCheck(since: taken, looks: looks + 1)
    }
  }
}
