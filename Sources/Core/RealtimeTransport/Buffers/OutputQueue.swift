private import Glibc
internal import NIOCore

/// The last handler of a connection, which owns its output.
protocol ConnectionHandler: ChannelInboundHandler {
  /// The output; nil once the connection has ended.
  var output: OutputQueue? { get }

  /// Called when the connection has ended, perhaps twice.
  func finish()
}

extension ConnectionHandler {
  /// Whether so much output is waiting that the owner should send less.
  var isCongested: Bool { output?.isCongested ?? false }

  /// Calls a closure once, as soon as the other end has caught up.
  func whenRelieved(_ body: @escaping () -> Void) {
    output?.whenRelieved(body)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    finish()
  }

  func channelInactive(context: ChannelHandlerContext) {
    finish()
    context.fireChannelInactive()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    output?.writabilityChanged()
    context.fireChannelWritabilityChanged()
  }
}

/// Collects the output of one connection during a tick of its event loop, and bounds what waits.
///
/// `tick` is the output of the current tick; older output waits in the channel until the other end
/// has read it. The channel stops being writable when so much is waiting that the other end is not
/// keeping up. While anything waits, a timer checks for progress. While nothing waits, ticks bypass
/// the channel and are written directly to the socket.
final class OutputQueue {
  /// The most output that is collected before it is passed to the channel, in bytes.
  private static let gatheredBytes = 256 * 1_024
  /// The number of checks without progress after which the other end counts as stalled.
  private static let looks: Int64 = 2
  /// Output above this many bytes is reported at once; less is reported at the end of the tick.
  private static let notable = 16 * 1_024
  /// The bytes that a connection with much waiting output must read between two checks.
  private static let progress = 64 * 1_024
  /// The waiting output, in bytes, that is tolerated as long as the connection reads anything.
  private static let patience = 1_024 * 1_024

  private let limits: Shared<TransportLimits>
  private let context: ChannelHandlerContext
  private let channel: any Channel
  private let socket: SocketWriter?
  private let endOfTick: OutputTick
  private let memory: ConnectionMemory?
  private let onStall: (String) -> Void
  /// The output of a tick that is collected, which is also what counts as a few small messages.
  private let gatheredLimit: Int
  /// The frames of this tick, which may share their bytes with other connections.
  private var tick: ByteBuffer?
  /// Whether the waiting output is below all limits.
  private var isWritable = true
  /// Whether output may be waiting in the channel.
  private var mayWait = true
  private var isFlushScheduled = false
  private var isClosed = false
  /// The number of bytes passed to the channel.
  private var givenBytes = 0
  private var stallCheck: Scheduled<Void>?
  private var onRelief: (() -> Void)?
  /// The last reported number of waiting bytes.
  private var notedBytes = 0
  /// The number of bytes that had been read at the last check for stragglers.
  private var takenAtLook: Int?

  /// Makes a queue.
  ///
  /// - Parameters:
  ///   - limits: The limits of the connection.
  ///   - context: Accepts buffers of whole frames.
  ///   - socket: Accepts the same buffers; nil if the channel transforms them.
  ///   - endOfTick: Flushes this queue together with others; nil to flush it separately.
  ///   - memory: Counts the waiting output; nil to count nothing.
  ///   - onStall: Receives the reason if the other end is too slow.
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

  /// Whether the other end is not keeping up; if memory is short, the threshold is lower.
  var isCongested: Bool {
    guard limits.congestionBytes <= limits.pendingBytes else { return false }
    return !isWritable || memory?.isTight == true && hasNotableOutput
  }

  /// Whether the waiting output exceeds a few small messages.
  var hasNotableOutput: Bool { notedBytes > gatheredLimit }

  /// Whether the other end has not read everything yet.
  var isWaiting: Bool { tick != nil || waitingBytes > 0 }

  /// Calls a closure once, as soon as the waiting output has dropped below half the threshold.
  func whenRelieved(_ body: @escaping () -> Void) {
    onRelief = body
  }

  /// Reacts to a change of the channel's writability.
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

  /// Ends congestion that was due only to the memory used by other connections.
  func relieveEarly() {
    if isWritable, !isCongested { relieve() }
  }

  /// Appends complete frames, or a piece of a longer unit, to the output of this tick.
  ///
  /// What goes on with a unit that has begun must not be rejected.
  func append(_ frames: ByteBuffer, goesOn: Bool = false) {
    guard !isClosed else { return }
    if !goesOn, !isWritable, waitingBytes > limits.pendingBytes {
      onStall("\(waitingBytes) bytes of output are waiting for it")
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

  /// Sends the output of this tick now.
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

  /// Completes once everything that was flushed is written, or cannot be.
  func whenWritten() -> EventLoopFuture<Void> { context.writeAndFlush(NIOAny(ByteBuffer())) }

  /// Stops accepting output and discards what has not been written.
  func close() {
    isClosed = true
    tick = nil
    onRelief = nil
    noteWaiting()
    stallCheck?.cancel()
    stallCheck = nil
  }

  /// Writes the tick to the socket unless older output waits; returns whether all was written.
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

  /// Reports the waiting output, which is added up over all connections.
  func noteWaiting() {
    guard let memory else { return }
    // A closed connection discards its output.
    let bytes = isClosed ? 0 : waitingBytes + (tick?.readableBytes ?? 0)
    guard bytes != notedBytes else { return }
    memory.note(self, from: notedBytes, to: bytes)
    notedBytes = bytes
    if bytes == 0 { takenAtLook = nil }
  }

  /// Whether the other end has read nothing since the last call, or hardly any of a large backlog,
  /// although more is waiting for it than every connection may have.
  func isStraggling(beyond fairShare: Int) -> Bool {
    let taken = givenBytes - waitingBytes
    let last = takenAtLook
    takenAtLook = taken
    guard let last, notedBytes >= fairShare, hasNotableOutput else { return false }
    return taken <= last || notedBytes > Self.patience && taken - last < Self.progress
  }

  /// Ends the connection because others need the memory of its output.
  func end() {
    onStall("it does not read \(notedBytes) bytes, and others need the memory")
  }

  // MARK: Progress

  /// The number of bytes in the channel that the other end has not read.
  private var waitingBytes: Int {
    (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  /// Schedules a check of whether the other end makes progress, after a number without any.
  ///
  /// `taken` is what it had read at the last check, in bytes; nil if nothing waited then.
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

/// Flushes all queues with new output at the end of a tick of an event loop.
///
/// A message to a thousand listeners then schedules one task instead of a thousand, and several
/// messages to the same listeners are concatenated only once.
final class OutputTick {
  private let eventLoop: any EventLoop
  private var queues: [OutputQueue] = []
  /// The frames that were appended last, and their last concatenation.
  private var last: ByteBuffer?
  private var shared: (first: ByteBuffer, both: ByteBuffer)?

  init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  /// Flushes a queue at the end of the tick; called at most once per queue and tick.
  func flush(_ queue: OutputQueue) {
    queues.append(queue)
    guard queues.count == 1 else { return }
    eventLoop.assumeIsolated().execute { self.flushAll() }
  }

  /// Appends frames to others, reusing the result if another connection has appended the same ones.
  ///
  /// - Complexity: O(1) if the result is reused, else O(bytes)
  func append(_ frames: ByteBuffer, to first: inout ByteBuffer) {
    guard last?.isSame(as: frames) == true else {
      last = frames
      shared = nil
      first.writeImmutableBuffer(frames)
      return
    }
    if let shared, shared.first.isSame(as: first) {
      first = shared.both
      return
    }
    var both = first
    both.writeImmutableBuffer(frames)
    shared = (first, both)
    first = both
  }

  private func flushAll() {
    let due = queues
    queues = []
    last = nil
    shared = nil
    for queue in due { queue.flush() }
  }
}

extension ByteBuffer {
  /// Whether both buffers refer to the same memory, so that their bytes need not be compared.
  ///
  /// Because both are alive, equal addresses mean shared storage.
  func isSame(as other: ByteBuffer) -> Bool {
    // Safety: the addresses are compared and never followed.
    withUnsafeReadableBytes { bytes in
      other.withUnsafeReadableBytes {
        bytes.baseAddress == $0.baseAddress && bytes.count == $0.count
      }
    }
  }
}

/// Writes directly to the socket of an unencrypted connection, bypassing its channel.
///
/// The path through a channel costs about as much as the system call at its end. This matters when
/// a message goes to a thousand listeners. The channel may be bypassed only while nothing waits in
/// it; bytes that the socket does not accept go through the channel. Confined to the event loop of
/// the channel.
struct SocketWriter {
  private let channel: any Channel
  private let socket: NIOBSDSocket.Handle

  /// Finds the socket of a channel; returns nil if it has none or is closed.
  init?(_ channel: any Channel) {
    let socket = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable {
      (socket: NIOBSDSocket.Handle) in socket
    }
    guard let socket else { return nil }
    self.channel = channel
    self.socket = socket
  }

  /// Writes as much as the socket accepts without blocking.
  ///
  /// - Returns: The number of bytes written. It is also 0 if the connection has failed; the channel
  ///   detects the failure when it gets the bytes instead.
  func write(_ bytes: ByteBuffer) -> Int {
    // Safety: the channel closes its socket on its event loop and is inactive from then on, so the
    // descriptor never refers to another connection.
    guard channel.isActive else { return 0 }
    let written = bytes.withUnsafeReadableBytes {
      send(socket, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
    }
    return max(0, written)
  }
}
