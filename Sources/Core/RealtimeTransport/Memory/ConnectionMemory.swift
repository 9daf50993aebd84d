package import NIOCore

/// The memory that the connections of a server share for what is on its way in either direction.
///
/// What arrives is promised its memory before it is read: whoever wants more than the little that
/// everyone may have waits, unread, until there is room. What leaves is counted while it waits for its
/// reader, so that no more answers are made than readers take. Confined to the event loop of the
/// connections.
package final class ConnectionMemory {
  /// How much there is.
  package struct Bounds: Sendable {
    /// What may arrive on one connection without being promised anything, in bytes.
    package var share = 64 * 1_024
    /// What is promised to those who have not signed in, in bytes.
    package var strangers = Int.max
    /// What is promised to all others, in bytes.
    package var others = Int.max
    /// Output beyond which a client that has some waiting is answered no more, in bytes.
    package var output = Int.max

    /// Makes bounds that bound nothing.
    package init() {}
  }

  /// How often it is looked whether there is room again, while somebody waits for that.
  private static let interval = TimeAmount.milliseconds(20)
  /// How often it is looked who holds up others.
  private static let inspection = TimeAmount.seconds(1)
  /// Output of one connection that is much.
  private static let burst = 1_024 * 1_024

  /// The bounds.
  package let bounds: Bounds
  /// What else waits to be sent, in bytes, before it reaches a connection.
  package var pendingOutput: () -> Int = { 0 }
  /// Called when much has been in use, which may be free in a moment.
  package var onBurst: () -> Void = {}

  let input: InputPromises
  private let eventLoop: any EventLoop
  /// The connections that output waits for.
  private var outputs: [ObjectIdentifier: OutputQueue] = [:]
  private var waitingOutput = 0
  private var waiters = CircularBuffer<() -> Void>()
  private var look: Scheduled<Void>?
  private var nextInspection: NIODeadline?

  /// Makes memory of which nothing is in use.
  package init(_ bounds: Bounds = Bounds(), eventLoop: any EventLoop) {
    self.bounds = bounds
    self.eventLoop = eventLoop
    input = InputPromises(strangers: bounds.strangers, others: bounds.others, eventLoop: eventLoop)
    input.onRelief = { [weak self] in self?.onBurst() }
  }

  /// What has been promised to what arrives, in bytes.
  package var promisedInput: Int { input.promised }

  /// What waits to be sent, in bytes, as far as it is known.
  package var outputBytes: Int { waitingOutput + pendingOutput() }

  // MARK: Output

  /// Whether no answer of any length should be made for a client.
  ///
  /// - Parameter isWaiting: Whether the client has not taken all that it has been sent.
  /// - Returns: Whether what waits for all readers is too much for one more.
  package func isExhausted(isWaiting: Bool) -> Bool {
    guard outputBytes > bounds.output else { return false }
    for queue in outputs.values { queue.noteWaiting() }
    let bytes = outputBytes
    return bytes > (isWaiting ? bounds.output : bounds.output.doubled)
  }

  /// Whether more waits to be sent than should.
  var isTight: Bool { waitingOutput > bounds.output }

  /// Calls a closure once, as soon as an answer of any length may be made again; never at once.
  package func whenRelieved(_ body: @escaping () -> Void) {
    waiters.append(body)
    scheduleLook()
  }

  /// Notes what waits in a queue.
  func note(_ queue: OutputQueue, from old: Int, to new: Int) {
    waitingOutput += new - old
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
    // Who has to wait for something else as well asks again, for the next look.
    for _ in 0..<waiters.count where !isExhausted(isWaiting: true) { waiters.removeFirst()() }
    if isTight || !waiters.isEmpty {
      scheduleLook()
    } else {
      nextInspection = nil
      onBurst()
    }
  }

  /// Ends those who hold up others: they have more than most, and take next to nothing of it.
  private func endStragglers() {
    let fairShare = waitingOutput / max(1, outputs.count)
    for queue in Array(outputs.values) where queue.isStraggling(beyond: fairShare) {
      queue.end()
    }
  }
}

extension Int {
  /// Twice the number, or the largest there is.
  fileprivate var doubled: Int { multipliedReportingOverflow(by: 2).overflow ? .max : self * 2 }
}
