package import NIOCore

/// The memory that the connections of a server share for input and output.
///
/// Memory for input is promised before the input is read: a connection that needs more than the
/// small share that every connection has is not read until there is room. Output is counted while
/// it waits to be read, so that responses are not produced faster than clients read them. Confined to
/// the server's event loop.
package final class ConnectionMemory {
  package struct Bounds: Sendable {
    /// The input that each connection may hold without a promise, in bytes.
    package var share = 64 * 1_024
    /// The input promised to all clients that have not signed in, in bytes.
    package var strangers = Int.max
    /// The input promised to all other clients, in bytes.
    package var others = Int.max
    /// The waiting output, in bytes, above which clients with waiting output get no more responses.
    package var output = Int.max

    /// Makes bounds that are practically unlimited.
    package init() {}
  }

  /// The interval between checks for room while a client waits for it.
  private static let interval = TimeAmount.milliseconds(20)
  /// The interval between checks for connections that hold up others.
  private static let inspection = TimeAmount.seconds(1)
  /// The waiting output of one connection that counts as a burst, in bytes.
  private static let burst = 1_024 * 1_024

  package let bounds: Bounds
  /// Returns the output that has not reached a connection yet, in bytes.
  package var pendingOutput: () -> Int = { 0 }
  /// Called when a lot of memory has been in use and may soon be free.
  package var onBurst: () -> Void = {}

  let input: InputPromises
  let eventLoop: any EventLoop
  /// The output that waits in connections, in bytes.
  private var waitingBytes = 0
  /// The queues with waiting output.
  private var outputs: [ObjectIdentifier: OutputQueue] = [:]
  private var waiters = CircularBuffer<() -> Void>()
  private var look: Scheduled<Void>?
  private var nextInspection: NIODeadline?

  package init(_ bounds: Bounds = Bounds(), eventLoop: any EventLoop) {
    self.bounds = bounds
    self.eventLoop = eventLoop
    input = InputPromises(
      strangers: bounds.strangers,
      others: bounds.others,
      eventLoop: eventLoop
    )
    input.onRelief = { [weak self] in self?.onBurst() }
  }

  package var promisedInput: Int { input.promised }

  /// The known waiting output, in bytes.
  package var outputBytes: Int {
    waitingBytes + pendingOutput()
  }

  // MARK: Output

  /// Whether no more long responses should be produced for a client.
  ///
  /// - Returns: Whether the waiting output of all connections leaves no room.
  package func isExhausted(isWaiting: Bool) -> Bool {
    guard outputBytes > bounds.output else { return false }
    for queue in outputs.values { queue.noteWaiting() }
    let bytes = outputBytes
    return bytes > (isWaiting ? bounds.output : bounds.output.doubled)
  }

  var isTight: Bool { waitingBytes > bounds.output }

  /// Calls a closure once, later, as soon as long responses may be produced again.
  package func whenRelieved(_ body: @escaping () -> Void) {
    waiters.append(body)
    scheduleLook()
  }

  /// Counts output that starts to wait outside of queues; a negative number, what no longer does.
  func count(_ bytes: Int) {
    waitingBytes += bytes
  }

  /// Records that the waiting output of a queue has changed.
  func note(_ queue: OutputQueue, from old: Int, to new: Int) {
    count(new - old)
    outputs[ObjectIdentifier(queue)] = new > 0 ? queue : nil
    if isTight { scheduleLook() }
    if new > Self.burst { onBurst() }
  }

  private func scheduleLook() {
    guard look == nil else { return }
    if nextInspection == nil { nextInspection = eventLoop.now + Self.inspection }
    look = eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { [weak self] in
      self?.look = nil
      self?.lookForRoom()
    }
  }

  private func lookForRoom() {
    for queue in outputs.values {
      queue.noteWaiting()
      queue.relieveEarly()
    }
    if let nextInspection, nextInspection <= eventLoop.now {
      self.nextInspection = eventLoop.now + Self.inspection
      endStragglers()
    }
    // A waiter that is still blocked registers again for the next check.
    for _ in 0..<waiters.count where !isExhausted(isWaiting: true) { waiters.removeFirst()() }
    if isTight || !waiters.isEmpty {
      scheduleLook()
    } else {
      nextInspection = nil
      onBurst()
    }
  }

  /// Ends connections that hold up others: they have more output waiting than their fair share and
  /// hardly read it.
  private func endStragglers() {
    let fairShare = waitingBytes / max(1, outputs.count)
    for queue in Array(outputs.values) where queue.isStraggling(beyond: fairShare) {
      queue.end()
    }
  }
}

extension Int {
  /// Twice the number, saturating.
  fileprivate var doubled: Int { multipliedReportingOverflow(by: 2).overflow ? .max : self * 2 }
}
