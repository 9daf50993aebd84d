internal import NIOCore

/// Gathers what one connection sends during a tick of its event loop, and bounds what waits.
///
/// State: `tick` is what no write has taken yet; `waitingBytes` counts it and every write that has
/// not completed. While writes wait after a flush, a timer looks for progress.
final class OutputQueue {
  /// Writes are cut to this length, so that progress shows.
  private static let writeBytes = 256 * 1_024

  private let limits: TransportLimits
  private let context: ChannelHandlerContext
  private let endOfTick: OutputTick
  private let onStall: (String) -> Void
  /// The frames of this tick; the first of them may share their bytes with other connections.
  private var tick: ByteBuffer?
  private var isFlushScheduled = false
  private var isClosed = false
  private var waitingBytes = 0
  private var completedWrites = 0
  private var stallCheck: Scheduled<Void>?
  private var onRelief: (() -> Void)?

  /// Makes a queue.
  ///
  /// - Parameters:
  ///   - limits: The bounds of the connection.
  ///   - context: Where buffers of whole frames can be written.
  ///   - endOfTick: What flushes this queue together with others; nil for one by itself.
  ///   - onStall: Takes the reason when the other end is too slow.
  init(
    limits: TransportLimits,
    context: ChannelHandlerContext,
    endOfTick: OutputTick? = nil,
    onStall: @escaping (String) -> Void
  ) {
    self.limits = limits
    self.context = context
    self.endOfTick = endOfTick ?? OutputTick(context.eventLoop)
    self.onStall = onStall
  }

  /// Whether so much waits that the other end does not keep up.
  var isCongested: Bool { waitingBytes > limits.congestionBytes }

  /// Calls a closure once, as soon as half of what makes a congestion is gone.
  func whenRelieved(_ body: @escaping () -> Void) {
    onRelief = body
  }

  private func wrote(_ count: Int) {
    waitingBytes -= count
    completedWrites += 1
    guard let onRelief, waitingBytes <= limits.congestionBytes / 2 else { return }
    self.onRelief = nil
    onRelief()
  }

  /// Sends frames with the others of this tick.
  func append(_ frames: ByteBuffer) {
    guard !isClosed else { return }
    guard waitingBytes <= limits.pendingBytes else {
      onStall("\(waitingBytes) bytes of output wait for it")
      return
    }
    waitingBytes += frames.readableBytes
    if var gathered = tick, gathered.readableBytes + frames.readableBytes <= Self.writeBytes {
      tick = nil
      gathered.writeImmutableBuffer(frames)
      tick = gathered
    } else {
      writeTick()
      tick = frames
    }
    scheduleFlush()
  }

  /// Sends what is waiting for the end of the tick right now.
  func flush() {
    isFlushScheduled = false
    guard !isClosed else { return }
    writeTick()
    context.flush()
    if waitingBytes > 0, stallCheck == nil { scheduleStallCheck() }
  }

  /// Takes nothing more and forgets what has not been written.
  func close() {
    isClosed = true
    tick = nil
    onRelief = nil
    stallCheck?.cancel()
    stallCheck = nil
  }

  private func scheduleFlush() {
    guard !isFlushScheduled else { return }
    isFlushScheduled = true
    endOfTick.flush(self)
  }

  private func writeTick() {
    guard var buffer = tick else { return }
    tick = nil
    while let piece = buffer.readSlice(length: min(Self.writeBytes, buffer.readableBytes)),
      piece.readableBytes > 0
    {
      let promise = context.eventLoop.makePromise(of: Void.self)
      let count = piece.readableBytes
      promise.futureResult.assumeIsolated().whenSuccess { self.wrote(count) }
      context.write(NIOAny(piece), promise: promise)
    }
  }

  private func scheduleStallCheck() {
    let completed = completedWrites
    stallCheck = context.eventLoop.assumeIsolated().scheduleTask(in: limits.stall) {
      self.stallCheck = nil
      guard !self.isClosed, self.waitingBytes > 0 else { return }
      if self.completedWrites == completed {
        self.onStall("it has read nothing of \(self.waitingBytes) bytes for some time")
      } else {
        self.scheduleStallCheck()
      }
    }
  }
}
