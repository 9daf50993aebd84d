internal import NIOCore

/// Promises memory to input before it is read.
///
/// A message or body is promised all the memory that it may need at once, because partial promises
/// could deadlock. Strangers, who have not signed in, and others have separate pools, so that the
/// former never delay the latter. A connection that holds a promise and sends hardly anything while
/// others wait is ended.
final class InputPromises {
  /// A connection that holds or awaits a promise.
  final class Holder {
    /// Whether it uses the pool of clients that have not signed in.
    var isStranger = true
    /// The promised bytes.
    fileprivate(set) var promised = 0
    /// The bytes that have arrived since the last check.
    fileprivate var arrived = 0
    /// Whether all of the promised input has arrived.
    var isComplete = false
    fileprivate var pool: Pool?
    /// Ends the connection because others wait for its memory.
    private let end: () -> Void

    init(end: @escaping () -> Void) {
      self.end = end
    }

    func received(_ bytes: Int) {
      arrived += bytes
    }

    fileprivate func giveUp() {
      end()
    }
  }

  fileprivate final class Pool {
    let bound: Int
    var used = 0
    var holders: [ObjectIdentifier: Holder] = [:]
    var waiting: [(holder: Holder, bytes: Int, grant: () -> Void)] = []

    init(_ bound: Int) {
      self.bound = bound
    }

    /// Whether there is room; a single promise always fits, however large.
    func fits(_ bytes: Int) -> Bool { used == 0 || bytes <= bound - used }

    func promise(_ bytes: Int, to holder: Holder) {
      used += bytes
      holder.promised += bytes
      holder.pool = self
      holders[ObjectIdentifier(holder)] = holder
    }
  }

  /// The interval of checks for connections that hold up others.
  private static let inspection = TimeAmount.seconds(2)
  /// The bytes that must arrive between two checks.
  private static let progress = 64 * 1_024
  /// The use from which on `onRelief` is called once it ends.
  private static let burst = 4 * 1_024 * 1_024

  /// Called when nothing is in use after much was.
  var onRelief: () -> Void = {}

  private let strangers: Pool
  private let others: Pool
  private let eventLoop: any EventLoop
  private var peak = 0
  private var look: Scheduled<Void>?

  init(strangers: Int, others: Int, eventLoop: any EventLoop) {
    self.strangers = Pool(strangers)
    self.others = Pool(others)
    self.eventLoop = eventLoop
  }

  /// The promised bytes of all connections.
  var promised: Int { strangers.used + others.used }

  /// Promises memory for input that begins to arrive.
  ///
  /// - Parameters:
  ///   - bytes: The most memory that it can need.
  ///   - holder: The connection, whose promise grows to this number of bytes.
  ///   - grant: Called once if there is room later; never after ``release(_:)``.
  /// - Returns: Whether there is room now.
  func promise(_ bytes: Int, to holder: Holder, whenRoom grant: @escaping () -> Void) -> Bool {
    guard bytes > holder.promised else { return true }
    let pool = holder.pool ?? (holder.isStranger ? strangers : others)
    // A growing promise does not queue behind those that wait for its memory.
    let (more, isFirst) = (bytes - holder.promised, holder.promised > 0 || pool.waiting.isEmpty)
    guard isFirst, pool.fits(more) || pool.used == holder.promised else {
      holder.pool = pool
      pool.waiting.append((holder, more, grant))
      scheduleLook()
      return false
    }
    pool.promise(more, to: holder)
    peak = max(peak, promised)
    return true
  }

  /// Releases a promise, or withdraws the request for one.
  func release(_ holder: Holder) {
    holder.isComplete = false
    guard let pool = holder.pool else { return }
    holder.pool = nil
    pool.used -= holder.promised
    holder.promised = 0
    pool.holders[ObjectIdentifier(holder)] = nil
    pool.waiting.removeAll { $0.holder === holder }
    grantWaiting(pool)
    guard promised == 0, peak > Self.burst else { return }
    peak = 0
    onRelief()
  }

  private func grantWaiting(_ pool: Pool) {
    while let next = pool.waiting.first, pool.fits(next.bytes) {
      pool.waiting.removeFirst()
      pool.promise(next.bytes, to: next.holder)
      peak = max(peak, promised)
      // Deferred, because the caller that releases memory may be in the middle of a change.
      eventLoop.assumeIsolated().execute {
        if next.holder.promised > 0 { next.grant() }
      }
    }
  }

  private func scheduleLook() {
    guard look == nil else { return }
    for pool in [strangers, others] {
      for holder in pool.holders.values { holder.arrived = 0 }
    }
    look = eventLoop.assumeIsolated().scheduleTask(in: Self.inspection) { [weak self] in
      self?.inspect()
    }
  }

  /// Ends connections that hold up others.
  private func inspect() {
    look = nil
    for pool in [strangers, others] where !pool.waiting.isEmpty {
      let idle = pool.holders.values.filter { !$0.isComplete && $0.arrived < Self.progress }
      for holder in idle { holder.giveUp() }
    }
    if !strangers.waiting.isEmpty || !others.waiting.isEmpty { scheduleLook() }
  }
}
