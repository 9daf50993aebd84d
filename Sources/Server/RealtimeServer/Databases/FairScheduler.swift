internal import NIOCore

/// A source of work for the event loop that comes in pieces.
protocol Schedulable: AnyObject {
  /// The account that its work is charged to.
  var account: SchedulerAccount { get }
  /// Whether it is waiting for its turn; only ``FairScheduler`` changes this.
  var isWaiting: Bool { get set }
  /// Whether a piece of work can be done at this moment.
  var isReady: Bool { get }

  /// Does one piece of work.
  func takeTurn()
}

/// What a client has cost recently, in time on the event loop and the worker pool.
///
/// The debt decreases slowly over time, so a client that asks for little never owes anything.
final class SchedulerAccount {
  /// The debt from which other clients go first.
  static let allowance = TimeAmount.milliseconds(5)
  /// The fraction of elapsed time by which the debt shrinks, as a divisor.
  private static let share: Int64 = 16
  private static let worst = TimeAmount.seconds(5)

  /// The line that a client waits in.
  enum Line {
    /// It has cost little recently.
    case light
    /// It has not been charged yet, so its cost is unknown.
    case new
    /// It has cost much recently.
    case heavy
  }

  private var debt = TimeAmount.zero
  private var isNew = true
  private var settled = NIODeadline.uptimeNanoseconds(0)

  func charge(_ cost: TimeAmount, at now: NIODeadline) {
    settle(at: now)
    debt = min(debt + cost, Self.worst)
    isNew = false
  }

  /// The line that it has to wait in at a time.
  func line(at now: NIODeadline) -> Line {
    isLight(at: now) ? (isNew ? .new : .light) : .heavy
  }

  /// Whether it has cost so little recently that it goes before others that have cost more.
  func isLight(at now: NIODeadline) -> Bool {
    settle(at: now)
    return debt < Self.allowance
  }

  private func settle(at now: NIODeadline) {
    guard now > settled else { return }
    debt = max(.zero, debt - .nanoseconds((now - settled).nanoseconds / Self.share))
    settled = now
  }
}

/// A queue with three lines.
///
/// Elements known to cost little go before those that cost much. They also go before those of
/// unknown cost, or a client that keeps coming back under a new name would always go first.
struct FairQueue<Element> {
  private var light = CircularBuffer<Element>()
  private var new = CircularBuffer<Element>()
  private var heavy = CircularBuffer<Element>()
  private var isNewNext = false

  var isEmpty: Bool { light.isEmpty && new.isEmpty && heavy.isEmpty }

  mutating func append(_ element: Element, to line: SchedulerAccount.Line) {
    switch line {
    case .light: light.append(element)
    case .new: new.append(element)
    case .heavy: heavy.append(element)
    }
  }

  /// Takes the next element that is known to cost little, or else the next of the others.
  mutating func popFirst() -> Element? { popFirstLight() ?? popFirstOther() }

  /// Takes the next element that is known to cost little.
  mutating func popFirstLight() -> Element? { light.popFirst() }

  /// Takes the next of the other elements, alternating between the two lines.
  mutating func popFirstOther() -> Element? {
    isNewNext.toggle()
    return isNewNext ? new.popFirst() ?? heavy.popFirst() : heavy.popFirst() ?? new.popFirst()
  }
}

/// Decides whose turn it is on an event loop that is asked for more than it can do at once.
///
/// While there is little to do, all work is done as soon as it arrives. Once the work of a tick has
/// taken a while, later work waits: first for the end of the tick, so that the event loop can see
/// which other clients have work, then for its turn, one client after another. Clients known to
/// cost little go first, and overtake clients whose work never ends; those share the remaining
/// time. Confined to the event loop.
final class FairScheduler {
  /// How long the event loop works before it checks its sockets again.
  static let slice = TimeAmount.milliseconds(4)
  /// How long one turn lasts, if the pieces of work are smaller.
  static let turn = TimeAmount.milliseconds(1)
  /// How long the event loop waits for its sockets between slices; any delay makes it check them.
  static let pause = TimeAmount.microseconds(50)

  /// The clock and the scheduling of an event loop.
  struct Loop {
    var now: () -> NIODeadline
    /// Runs a task at the end of the tick.
    var atEndOfTick: (@escaping () -> Void) -> Void
    /// Runs a task a little later, in another tick.
    var inNextTick: (@escaping () -> Void) -> Void
  }

  private let loop: Loop
  private var queue = FairQueue<any Schedulable>()
  /// How much of this slice has been used.
  private var used = TimeAmount.zero
  private var isRunning = false
  private var isEndAwaited = false
  private var isNextAwaited = false

  init(_ loop: Loop) {
    self.loop = loop
  }

  convenience init(_ eventLoop: any EventLoop) {
    self.init(
      Loop(
        now: { .now() },
        atEndOfTick: { eventLoop.assumeIsolated().execute($0) },
        inNextTick: { eventLoop.assumeIsolated().scheduleTask(in: Self.pause, $0) }
      )
    )
  }

  /// Gives a client turns until it is no longer ready: at once, or after those ahead of it.
  func request(by client: any Schedulable) {
    guard client.isReady, !client.isWaiting else { return }
    guard !isRunning, queue.isEmpty, used < Self.slice else {
      wait(client, at: loop.now())
      return scheduleNext()
    }
    awaitEndOfTick()
    run(client)
    while used < Self.slice, let client = queue.popFirst() { run(client) }
    scheduleNext()
  }

  private func wait(_ client: any Schedulable, at now: NIODeadline) {
    client.isWaiting = true
    queue.append(client, to: client.account.line(at: now))
  }

  private func run(_ client: any Schedulable) {
    client.isWaiting = false
    isRunning = true
    let start = loop.now()
    var end = start
    while client.isReady, end - start < Self.turn {
      client.takeTurn()
      end = loop.now()
    }
    isRunning = false
    used = used + (end - start)
    client.account.charge(end - start, at: end)
    // It may have requested another turn in the meantime.
    if client.isReady, !client.isWaiting { wait(client, at: end) }
  }

  private func awaitEndOfTick() {
    guard !isEndAwaited else { return }
    isEndAwaited = true
    loop.atEndOfTick {
      self.isEndAwaited = false
      self.used = .zero
    }
  }

  private func scheduleNext() {
    guard !queue.isEmpty, !isNextAwaited else { return }
    isNextAwaited = true
    loop.inNextTick {
      self.isNextAwaited = false
      self.used = .zero
      self.awaitEndOfTick()
      while self.used < Self.slice, let client = self.queue.popFirstLight() { self.run(client) }
      // One of the others gets a turn in any case; otherwise many cheap clients could starve them.
      repeat {
        guard let client = self.queue.popFirstOther() else { break }
        self.run(client)
      } while self.used < Self.slice
      self.scheduleNext()
    }
  }
}
