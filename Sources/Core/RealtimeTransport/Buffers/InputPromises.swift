internal import NIOCore

/// Promises memory to input before it is read.
///
/// A message or body is promised all the memory that it may need in one step, because partial
/// promises could deadlock. Clients that have not signed in (strangers) and all others have
/// separate pools, so that strangers never delay the others. A connection that holds a promise and
/// sends hardly anything while others wait is ended.
final class InputPromises {
  /// A connection that holds or awaits a promise.
  final class Holder {
    /// Whether it uses the pool of clients that have not signed in.
    var isStranger = true
    /// The number of bytes promised to it.
    fileprivate(set) var promised = 0
    /// The number of bytes that have arrived since the last check.
    fileprivate var arrived = 0
    /// Whether all of the promised input has arrived.
    var isComplete = false
    fileprivate var pool: Pool?
    /// Ends the connection because others are waiting for its memory.
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

    /// Whether there is room; a promise always fits into an empty pool, however large it is.
    func fits(_ bytes: Int) -> Bool { used == 0 || bytes <= bound - used }

    func promise(_ bytes: Int, to holder: Holder) {
      used += bytes
      holder.promised += bytes
      holder.pool = self
      holders[ObjectIdentifier(holder)] = holder
    }
  }

  /// The interval between checks for connections that hold up others.
  private static let inspection = TimeAmount.seconds(2)
  /// The bytes that must arrive between two checks.
  private static let progress = 64 * 1_024
  /// The use, in bytes, above which `onRelief` is called once nothing is in use any more.
  private static let burst = 4 * 1_024 * 1_024

  /// Called when all memory is free after a lot of it was in use.
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

  /// Promises memory to input that has begun to arrive.
  ///
  /// - Parameters:
  ///   - bytes: The most memory that the input can need.
  ///   - holder: The connection, whose promise grows to this number of bytes.
  ///   - grant: Called once when room becomes available later; never after ``release(_:)``.
  /// - Returns: Whether there is room now.
  func promise(_ bytes: Int, to holder: Holder, whenRoom grant: @escaping () -> Void) -> Bool {
    guard bytes > holder.promised else { return true }
    let pool = holder.pool ?? (holder.isStranger ? strangers : others)
    // A growing promise does not queue behind those that are waiting for its memory.
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
