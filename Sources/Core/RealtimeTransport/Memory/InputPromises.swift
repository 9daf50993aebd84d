internal import NIOCore

/// Promises memory to what arrives, before it is read.
///
/// A message or body is promised all that it may need at once: promises of parts could leave several
/// waiting for each other. Strangers and others have memory of their own, so that the former never
/// keep the latter waiting. Who is promised memory and sends next to nothing while others wait has to
/// give it back.
final class InputPromises {
  /// One connection.
  final class Holder {
    /// Whether it has the memory of those who have not signed in.
    var isStranger = true
    /// What it is promised.
    fileprivate(set) var promised = 0
    /// What has arrived since it was looked at last.
    fileprivate var arrived = 0
    /// Whether everything that it was promised the memory for has come.
    var isComplete = false
    fileprivate var pool: Pool?
    /// Ends the connection, since others wait for what it holds.
    private let end: () -> Void

    init(end: @escaping () -> Void) {
      self.end = end
    }

    /// Counts what has arrived.
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

    /// One always fits, however long it may be.
    func fits(_ bytes: Int) -> Bool { used == 0 || bytes <= bound - used }

    func promise(_ bytes: Int, to holder: Holder) {
      used += bytes
      holder.promised += bytes
      holder.pool = self
      holders[ObjectIdentifier(holder)] = holder
    }
  }

  /// How often it is looked who holds up others.
  private static let inspection = TimeAmount.seconds(2)
  /// What must arrive of a message from one look to the next.
  private static let progress = 64 * 1_024
  /// In use beyond which somebody is told when it is no more.
  private static let burst = 4 * 1_024 * 1_024

  /// Called when much was in use and nothing is.
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

  /// What has been promised, in bytes.
  var promised: Int { strangers.used + others.used }

  /// Promises memory for something that begins to arrive.
  ///
  /// - Parameters:
  ///   - bytes: The most that it can need.
  ///   - holder: Who is to be promised so much in all.
  ///   - grant: Called once when there is room later; never after ``release(_:)``.
  /// - Returns: Whether there is room now.
  func promise(_ bytes: Int, to holder: Holder, whenRoom grant: @escaping () -> Void) -> Bool {
    guard bytes > holder.promised else { return true }
    let pool = holder.pool ?? (holder.isStranger ? strangers : others)
    // Who grows does not queue behind those who wait for what it holds.
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

  /// Takes back what was promised, or was still to be.
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
      // Whoever gives memory back is in the middle of something.
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

  /// Ends those who hold up others.
  private func inspect() {
    look = nil
    for pool in [strangers, others] where !pool.waiting.isEmpty {
      let idle = pool.holders.values.filter { !$0.isComplete && $0.arrived < Self.progress }
      for holder in idle { holder.giveUp() }
    }
    if !strangers.waiting.isEmpty || !others.waiting.isEmpty { scheduleLook() }
  }
}
