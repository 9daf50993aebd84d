internal import NIOCore

/// Promises memory to input before it is read.
///
/// A message or body is promised all the memory that it may need in one step, because partial
/// promises could deadlock. Clients that have not signed in (strangers) and all others have
/// separate pools, so that strangers never delay the others. A connection that holds a promise and
/// sends hardly anything while others wait is ended. Confined to the server's event loop.
final class InputPromises {
  /// A connection that holds or awaits a promise.
  final class Holder {
    /// Whether it uses the pool of clients that have not signed in.
    var isStranger = true
    /// Whether all of the promised input has arrived.
    var isComplete = false
    /// The number of bytes promised to it.
    fileprivate(set) var promised = 0
    private var arrived = 0
    /// Ends the connection because others are waiting for its memory.
    fileprivate let end: () -> Void

    init(end: @escaping () -> Void) {
      self.end = end
    }

    func received(_ bytes: Int) { arrived += bytes }

    /// Returns the bytes that have arrived since the last call.
    @discardableResult
    fileprivate func takeArrived() -> Int {
      defer { arrived = 0 }
      return arrived
    }
  }

  private final class Pool {
    let bound: Int
    var used = 0
    var holders: [ObjectIdentifier: Holder] = [:]
    var waiting: [(holder: Holder, bytes: Int, grant: () -> Void)] = []

    init(bound: Int) { self.bound = bound }

    /// Whether there is room; a promise always fits into an empty pool, however large it is.
    func fits(_ bytes: Int) -> Bool { used == 0 || bytes <= bound - used }

    func promise(_ bytes: Int, to holder: Holder) {
      used += bytes
      holder.promised += bytes
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

  private let eventLoop: any EventLoop
  private let strangers: Pool
  private let others: Pool
  /// The pools that holders use, or wait for.
  private var pools: [ObjectIdentifier: Pool] = [:]
  private var peak = 0
  private var isLookPlanned = false

  /// Makes pools of these sizes in bytes, of which nothing is promised yet.
  init(strangers: Int, others: Int, eventLoop: any EventLoop) {
    self.strangers = Pool(bound: strangers)
    self.others = Pool(bound: others)
    self.eventLoop = eventLoop
  }

  var promised: Int { strangers.used + others.used }

  /// Promises a connection all the memory that input which has begun to arrive can need.
  ///
  /// - Returns: Whether there is room now. Otherwise `grant` is called once, when room becomes
  ///   available; never after ``release(_:)``.
  func promise(_ bytes: Int, to holder: Holder, whenRoom grant: @escaping () -> Void) -> Bool {
    guard bytes > holder.promised else { return true }
    let id = ObjectIdentifier(holder)
    let pool = pools[id] ?? (holder.isStranger ? strangers : others)
    pools[id] = pool
    // A growing promise does not queue behind those that are waiting for its memory.
    let more = bytes - holder.promised
    let isFirst = holder.promised > 0 || pool.waiting.isEmpty
    guard isFirst, pool.fits(more) || pool.used == holder.promised else {
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
    let id = ObjectIdentifier(holder)
    guard let pool = pools.removeValue(forKey: id) else { return }
    pool.used -= holder.promised
    holder.promised = 0
    pool.holders[id] = nil
    pool.waiting.removeAll { $0.holder === holder }
    grantWaiting(of: pool)
    guard promised == 0, peak > Self.burst else { return }
    peak = 0
    onRelief()
  }

  private func grantWaiting(of pool: Pool) {
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
    guard !isLookPlanned else { return }
    isLookPlanned = true
    for pool in [strangers, others] {
      for holder in pool.holders.values { holder.takeArrived() }
    }
    eventLoop.assumeIsolated().scheduleTask(in: Self.inspection) { [weak self] in self?.inspect() }
  }

  /// Ends connections that hold up others.
  private func inspect() {
    isLookPlanned = false
    let idle = [strangers, others].filter { !$0.waiting.isEmpty }.flatMap { pool in
      pool.holders.values.filter { !$0.isComplete && $0.takeArrived() < Self.progress }
    }
    for holder in idle { holder.end() }
    if !strangers.waiting.isEmpty || !others.waiting.isEmpty { scheduleLook() }
  }
}

/// The memory promised to the input of one connection; confined to its event loop.
struct PromisedInput {
  private let memory: ConnectionMemory?
  /// Most connections never need one.
  private var holder: InputPromises.Holder?
  /// Whether the next promise uses the pool of clients that have not signed in.
  var isStranger = true

  /// Makes a promise of nothing; without memory that connections share, there is no bound.
  init(_ memory: ConnectionMemory?) {
    self.memory = memory
  }

  var bytes: Int { holder?.promised ?? 0 }

  /// Asks for all the memory that input which has begun to arrive can need.
  ///
  /// - Returns: Whether there is room now. Otherwise `grant` is called once, when room becomes
  ///   available, or `end`, because others are waiting for memory; neither after ``release()``.
  mutating func ask(
    _ bytes: Int,
    whenRoom grant: @escaping () -> Void,
    orEnd end: @escaping () -> Void
  ) -> Bool {
    guard let memory else { return true }
    let holder = holder ?? InputPromises.Holder(end: end)
    self.holder = holder
    if holder.promised == 0 { holder.isStranger = isStranger }
    return memory.input.promise(bytes, to: holder, whenRoom: grant)
  }

  func received(_ bytes: Int) { holder?.received(bytes) }

  /// Records that all of the promised input has arrived.
  func complete() { holder?.isComplete = true }

  /// Releases the promise, or withdraws the request for one.
  func release() {
    if let holder { memory?.input.release(holder) }
  }
}
