internal import NIOConcurrencyHelpers
internal import NIOCore
private import Synchronization

/// Promises memory to input before it is read.
///
/// A message or body is promised all the memory that it may need in one step, because partial
/// promises could deadlock. Clients that have not signed in (strangers) and all others have
/// separate pools, so that strangers never delay the others. A connection that holds a promise and
/// sends hardly anything while others wait is ended. Shared by all event loops of a server.
final class InputPromises: Sendable {
  /// A connection that holds or awaits a promise; used by its event loop.
  final class Holder: Sendable {
    private let promisedBytes = Atomic(0)
    private let arrivedBytes = Atomic(0)
    private let usesStrangers = Atomic(true)
    private let hasArrived = Atomic(false)
    fileprivate let eventLoop: any EventLoop
    /// Ends the connection because others are waiting for its memory.
    private let end: NIOLoopBound<() -> Void>

    init(on eventLoop: any EventLoop, end: @escaping () -> Void) {
      self.eventLoop = eventLoop
      self.end = NIOLoopBound(end, eventLoop: eventLoop)
    }

    /// Whether it uses the pool of clients that have not signed in.
    var isStranger: Bool {
      get { usesStrangers.load(ordering: .relaxed) }
      set { usesStrangers.store(newValue, ordering: .relaxed) }
    }

    /// Whether all of the promised input has arrived.
    var isComplete: Bool {
      get { hasArrived.load(ordering: .relaxed) }
      set { hasArrived.store(newValue, ordering: .relaxed) }
    }

    /// The number of bytes promised to it.
    fileprivate(set) var promised: Int {
      get { promisedBytes.load(ordering: .relaxed) }
      set { promisedBytes.store(newValue, ordering: .relaxed) }
    }

    func received(_ bytes: Int) {
      arrivedBytes.add(bytes, ordering: .relaxed)
    }

    /// Returns the bytes that have arrived since the last call.
    @discardableResult
    fileprivate func takeArrived() -> Int { arrivedBytes.exchange(0, ordering: .relaxed) }

    fileprivate func giveUp() {
      eventLoop.run { self.end.value() }
    }
  }

  private struct Pool {
    let bound: Int
    var used = 0
    var holders: [ObjectIdentifier: Holder] = [:]
    var waiting: [(holder: Holder, bytes: Int, grant: NIOLoopBound<() -> Void>)] = []

    init(_ bound: Int) {
      self.bound = bound
    }

    /// Whether there is room; a promise always fits into an empty pool, however large it is.
    func fits(_ bytes: Int) -> Bool { used == 0 || bytes <= bound - used }

    mutating func promise(_ bytes: Int, to holder: Holder) {
      used += bytes
      holder.promised += bytes
      holders[ObjectIdentifier(holder)] = holder
    }
  }

  private struct Pools {
    var strangers: Pool
    var others: Pool
    /// The holders that use, or wait for, the pool of strangers or the other one.
    var usesStrangers: [ObjectIdentifier: Bool] = [:]
    var peak = 0
    var isLookPlanned = false

    subscript(isStranger isStranger: Bool) -> Pool {
      _read { if isStranger { yield strangers } else { yield others } }
      _modify { if isStranger { yield &strangers } else { yield &others } }
    }

    var promised: Int { strangers.used + others.used }
    var isAwaited: Bool { !strangers.waiting.isEmpty || !others.waiting.isEmpty }
  }

  /// The interval between checks for connections that hold up others.
  private static let inspection = TimeAmount.seconds(2)
  /// The bytes that must arrive between two checks.
  private static let progress = 64 * 1_024
  /// The use, in bytes, above which `onRelief` is called once nothing is in use any more.
  private static let burst = 4 * 1_024 * 1_024

  private let eventLoop: any EventLoop
  private let pools: NIOLockedValueBox<Pools>
  private let onRelief: @Sendable () -> Void

  /// Makes pools, of which nothing is promised yet.
  ///
  /// - Parameters:
  ///   - strangers: The size of the pool of clients that have not signed in, in bytes.
  ///   - others: The size of the pool of all other clients, in bytes.
  ///   - eventLoop: The event loop of the checks.
  ///   - onRelief: Called on any event loop, when all memory is free after a lot of it was in use.
  init(
    strangers: Int,
    others: Int,
    eventLoop: any EventLoop,
    onRelief: @escaping @Sendable () -> Void
  ) {
    pools = NIOLockedValueBox(Pools(strangers: Pool(strangers), others: Pool(others)))
    self.eventLoop = eventLoop
    self.onRelief = onRelief
  }

  /// The promised bytes of all connections.
  var promised: Int { pools.withLockedValue { $0.promised } }

  /// Promises memory to input that has begun to arrive.
  ///
  /// - Parameters:
  ///   - bytes: The most memory that the input can need.
  ///   - holder: The connection, whose promise grows to this number of bytes.
  ///   - grant: Called once when room becomes available later; never after ``release(_:)``.
  /// - Returns: Whether there is room now.
  func promise(_ bytes: Int, to holder: Holder, whenRoom grant: @escaping () -> Void) -> Bool {
    guard bytes > holder.promised else { return true }
    let id = ObjectIdentifier(holder)
    return pools.withLockedValue { pools in
      let isStranger = pools.usesStrangers[id] ?? holder.isStranger
      pools.usesStrangers[id] = isStranger
      // A growing promise does not queue behind those that are waiting for its memory.
      let more = bytes - holder.promised
      let isFirst = holder.promised > 0 || pools[isStranger: isStranger].waiting.isEmpty
      guard isFirst,
        pools[isStranger: isStranger].fits(more)
          || pools[isStranger: isStranger].used == holder.promised
      else {
        let grant = NIOLoopBound(grant, eventLoop: holder.eventLoop)
        pools[isStranger: isStranger].waiting.append((holder, more, grant))
        scheduleLook(&pools)
        return false
      }
      pools[isStranger: isStranger].promise(more, to: holder)
      pools.peak = max(pools.peak, pools.promised)
      return true
    }
  }

  /// Releases a promise, or withdraws the request for one.
  func release(_ holder: Holder) {
    holder.isComplete = false
    let id = ObjectIdentifier(holder)
    let isRelieved = pools.withLockedValue { pools in
      guard let isStranger = pools.usesStrangers.removeValue(forKey: id) else { return false }
      pools[isStranger: isStranger].used -= holder.promised
      holder.promised = 0
      pools[isStranger: isStranger].holders[id] = nil
      pools[isStranger: isStranger].waiting.removeAll { $0.holder === holder }
      grantWaiting(isStranger: isStranger, of: &pools)
      guard pools.promised == 0, pools.peak > Self.burst else { return false }
      pools.peak = 0
      return true
    }
    if isRelieved { onRelief() }
  }

  private func grantWaiting(isStranger: Bool, of pools: inout Pools) {
    while let next = pools[isStranger: isStranger].waiting.first,
      pools[isStranger: isStranger].fits(next.bytes)
    {
      pools[isStranger: isStranger].waiting.removeFirst()
      pools[isStranger: isStranger].promise(next.bytes, to: next.holder)
      pools.peak = max(pools.peak, pools.promised)
      // Deferred, because the caller that releases memory may be in the middle of a change.
      next.holder.eventLoop.execute {
        if next.holder.promised > 0 { next.grant.value() }
      }
    }
  }

  private func scheduleLook(_ pools: inout Pools) {
    guard !pools.isLookPlanned else { return }
    pools.isLookPlanned = true
    for pool in [pools.strangers, pools.others] {
      for holder in pool.holders.values { holder.takeArrived() }
    }
    eventLoop.scheduleTask(in: Self.inspection) { [weak self] in self?.inspect() }
  }

  /// Ends connections that hold up others.
  private func inspect() {
    let idle = pools.withLockedValue { pools in
      pools.isLookPlanned = false
      return [pools.strangers, pools.others].filter { !$0.waiting.isEmpty }.flatMap { pool in
        pool.holders.values.filter { !$0.isComplete && $0.takeArrived() < Self.progress }
      }
    }
    for holder in idle { holder.giveUp() }
    pools.withLockedValue { pools in
      if pools.isAwaited { scheduleLook(&pools) }
    }
  }
}

/// The memory promised to the input of one connection; confined to its event loop.
struct PromisedInput {
  private let memory: ConnectionMemory?
  /// Most connections never need one.
  private var holder: InputPromises.Holder?
  /// Whether the next promise uses the pool of clients that have not signed in.
  var isStranger = true

  /// Makes a promise of nothing.
  ///
  /// - Parameter memory: The memory that connections share; nil if there is no bound.
  init(_ memory: ConnectionMemory?) {
    self.memory = memory
  }

  /// The number of bytes promised.
  var bytes: Int { holder?.promised ?? 0 }

  /// Asks for memory for input that has begun to arrive.
  ///
  /// - Parameters:
  ///   - bytes: The most memory that the input can need.
  ///   - grant: Called once when room becomes available later; never after ``release()``.
  ///   - end: Ends the connection because others are waiting for its memory.
  /// - Returns: Whether there is room now.
  mutating func ask(
    _ bytes: Int,
    whenRoom grant: @escaping () -> Void,
    orEnd end: @escaping () -> Void
  ) -> Bool {
    guard let memory else { return true }
    let holder = holder ?? InputPromises.Holder(on: memory.eventLoop, end: end)
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

extension EventLoop {
  /// Calls a closure on the event loop: at once if this is its thread.
  func run(_ body: @escaping @Sendable () -> Void) {
    if inEventLoop { body() } else { execute(body) }
  }
}
