internal import NIOConcurrencyHelpers
package import NIOCore
private import Synchronization

/// The memory that the connections of a server share for input and output.
///
/// Memory for input is promised before the input is read: a connection that needs more than the
/// small share that every connection has is not read until there is room. Output is counted while
/// it waits to be read, so that responses are not produced faster than clients read them.
///
/// Each event loop of connections has a branch of the memory, to which it is confined; the branches
/// count together, and have the same bounds.
package final class ConnectionMemory {
  /// The limits of the memory.
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

  /// The bounds.
  package let bounds: Bounds
  /// Returns the output that has not reached a connection yet, in bytes; nil on other branches than
  /// the first, which use the last known number.
  package var pendingOutput: (() -> Int)?
  /// Called when a lot of memory has been in use and may soon be free.
  package var onBurst: () -> Void = {}

  let input: InputPromises
  let total: OutputTotal
  let eventLoop: any EventLoop
  /// The queues with waiting output.
  private var outputs: [ObjectIdentifier: OutputQueue] = [:]
  private var waiters = CircularBuffer<() -> Void>()
  private var look: Scheduled<Void>?
  private var nextInspection: NIODeadline?

  /// Creates the first branch of a memory, of which nothing is in use yet.
  package init(_ bounds: Bounds = Bounds(), eventLoop: any EventLoop) {
    self.bounds = bounds
    self.eventLoop = eventLoop
    let total = OutputTotal(bound: bounds.output)
    self.total = total
    input = InputPromises(
      strangers: bounds.strangers,
      others: bounds.others,
      eventLoop: eventLoop,
      onRelief: { total.reportBurst() }
    )
    let first = NIOLoopBoundBox(Weak(self), eventLoop: eventLoop)
    total.onBurst = { eventLoop.run { first.value.memory?.onBurst() } }
    total.add { eventLoop.run { first.value.memory?.scheduleLook() } }
  }

  /// Creates another branch of a memory.
  private init(_ bounds: Bounds, input: InputPromises, total: OutputTotal, eventLoop: any EventLoop)
  {
    self.bounds = bounds
    self.input = input
    self.total = total
    self.eventLoop = eventLoop
    onBurst = { total.reportBurst() }
  }

  private struct Weak {
    weak var memory: ConnectionMemory?

    init(_ memory: ConnectionMemory) {
      self.memory = memory
    }
  }

  /// Creates another branch of this memory, for the connections of another event loop.
  func branch(on eventLoop: any EventLoop) -> NIOLoopBoundBox<ConnectionMemory> {
    let box = NIOLoopBoundBox.makeBoxSendingValue(
      ConnectionMemory(bounds, input: input, total: total, eventLoop: eventLoop),
      eventLoop: eventLoop
    )
    total.add { [weak box] in
      guard let box else { return }
      eventLoop.run { box.value.scheduleLook() }
    }
    return box
  }

  /// Leaves the event loops of the other branches, which are about to end, alone.
  package func end() {
    total.removeLooks()
  }

  /// The memory promised to input, in bytes.
  package var promisedInput: Int { input.promised }

  /// The known waiting output, in bytes.
  package var outputBytes: Int {
    if let pendingOutput { total.pendingBytes = pendingOutput() }
    return total.waitingBytes + total.pendingBytes
  }

  // MARK: Output

  /// Whether no more long responses should be produced for a client.
  ///
  /// - Parameter isWaiting: Whether the client has not read all of its output yet.
  /// - Returns: Whether the waiting output of all connections leaves no room.
  package func isExhausted(isWaiting: Bool) -> Bool {
    guard outputBytes > bounds.output else { return false }
    for queue in outputs.values { queue.noteWaiting() }
    let bytes = outputBytes
    return bytes > (isWaiting ? bounds.output : bounds.output.doubled)
  }

  /// Whether the waiting output exceeds its bound.
  var isTight: Bool { total.isTight }

  /// Calls a closure once, later, as soon as long responses may be produced again.
  package func whenRelieved(_ body: @escaping () -> Void) {
    waiters.append(body)
    total.haveAllLook()
    scheduleLook()
  }

  /// Records that the waiting output of a queue has changed.
  ///
  /// - Parameters:
  ///   - queue: The queue.
  ///   - old: The bytes that were waiting.
  ///   - new: The bytes that are waiting.
  ///   - arrived: The bytes of these that were counted already, on their way to the queue.
  func note(_ queue: OutputQueue, from old: Int, to new: Int, arrived: Int) {
    if (old == 0) != (new == 0) { total.countQueue(new > 0 ? 1 : -1) }
    total.count(new - old - arrived)
    outputs[ObjectIdentifier(queue)] = new > 0 ? queue : nil
    if isTight {
      total.haveAllLook()
      scheduleLook()
    }
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
      total.haveAllLook()
      scheduleLook()
    } else {
      total.allHaveRoom()
      nextInspection = nil
      onBurst()
    }
  }

  /// Ends connections that hold up others: they have more output waiting than their fair share and
  /// hardly read it.
  private func endStragglers() {
    let fairShare = total.waitingBytes / max(1, total.queueCount)
    for queue in Array(outputs.values) where queue.isStraggling(beyond: fairShare) {
      queue.end()
    }
  }
}

/// The waiting output of all connections of a server, over all branches of its memory.
final class OutputTotal: Sendable {
  private let bound: Int
  private let waiting = Atomic(0)
  private let pending = Atomic(0)
  private let queues = Atomic(0)
  private let allLook = Atomic(false)
  private let looks = NIOLockedValueBox<[@Sendable () -> Void]>([])
  private let burst = NIOLockedValueBox<@Sendable () -> Void>({})

  fileprivate init(bound: Int) {
    self.bound = bound
  }

  /// The output that waits in connections, or is on its way to their event loop, in bytes.
  var waitingBytes: Int { waiting.load(ordering: .relaxed) }

  /// Whether the waiting output exceeds its bound.
  var isTight: Bool { waitingBytes > bound }

  /// Counts output that starts to wait; a negative number counts output that no longer does.
  func count(_ bytes: Int) {
    waiting.add(bytes, ordering: .relaxed)
  }

  /// The output that had not reached a connection when that was last determined, in bytes.
  fileprivate var pendingBytes: Int {
    get { pending.load(ordering: .relaxed) }
    set { pending.store(newValue, ordering: .relaxed) }
  }

  /// The number of connections with waiting output.
  fileprivate var queueCount: Int { queues.load(ordering: .relaxed) }

  fileprivate func countQueue(_ number: Int) {
    queues.add(number, ordering: .relaxed)
  }

  /// Adds a branch, by a closure that has it look for room.
  fileprivate func add(_ look: @escaping @Sendable () -> Void) {
    looks.withLockedValue { $0.append(look) }
  }

  fileprivate func removeLooks() {
    looks.withLockedValue { $0 = [] }
  }

  /// Has all branches look for room: each knows only how much of its own output has been read.
  fileprivate func haveAllLook() {
    guard !allLook.exchange(true, ordering: .relaxed) else { return }
    for look in looks.withLockedValue({ $0.count > 1 ? $0 : [] }) { look() }
  }

  /// Notes that a branch has found room, and that the others need not be told to look again.
  fileprivate func allHaveRoom() {
    allLook.store(false, ordering: .relaxed)
  }

  fileprivate var onBurst: @Sendable () -> Void {
    get { burst.withLockedValue { $0 } }
    set { burst.withLockedValue { $0 = newValue } }
  }

  fileprivate func reportBurst() {
    onBurst()
  }
}

extension Int {
  /// Twice the number, saturating.
  fileprivate var doubled: Int { multipliedReportingOverflow(by: 2).overflow ? .max : self * 2 }
}
