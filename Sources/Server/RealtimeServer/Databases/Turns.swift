internal import NIOCore

/// A source of work for the event loop that comes in pieces.
protocol TurnTaker: AnyObject {
  /// What it has cost lately.
  var account: CostAccount { get }
  /// Whether it waits for its turn; only ``Turns`` changes it.
  var isWaiting: Bool { get set }
  /// Whether there is a piece that can be done now.
  var isReady: Bool { get }

  /// Does one piece.
  func takeTurn()
}

/// What somebody has cost lately, in time of the event loop and of the workbench.
///
/// The debt goes down by itself, slowly: who asks for little is always free of it.
final class CostAccount {
  /// From which debt on others go first.
  static let allowance = TimeAmount.milliseconds(5)
  /// Which part of the time that goes by pays for what was done.
  private static let share: Int64 = 16
  /// What nobody owes more than.
  private static let worst = TimeAmount.seconds(5)

  /// In which line one waits.
  enum Line {
    /// What it has cost is little.
    case light
    /// It has cost nothing yet, so its cost is unknown.
    case new
    /// It has cost much lately.
    case heavy
  }

  private var debt = TimeAmount.zero
  private var isNew = true
  private var settled = NIODeadline.uptimeNanoseconds(0)

  /// Adds the cost of something.
  func charge(_ cost: TimeAmount, at now: NIODeadline) {
    settle(at: now)
    debt = min(debt + cost, Self.worst)
    isNew = false
  }

  /// In which line it waits now.
  func line(at now: NIODeadline) -> Line {
    isLight(at: now) ? (isNew ? .new : .light) : .heavy
  }

  /// Whether it has cost so little lately that it goes before those that have cost more.
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

/// What waits, in three lines: those who are known to cost little go before those who cost much, and
/// before those of whom nothing is known, or who comes back as somebody else would always go first.
struct TurnQueue<Element> {
  private var light = CircularBuffer<Element>()
  private var new = CircularBuffer<Element>()
  private var heavy = CircularBuffer<Element>()
  private var isNewNext = false

  var isEmpty: Bool { light.isEmpty && new.isEmpty && heavy.isEmpty }

  mutating func append(_ element: Element, to line: CostAccount.Line) {
    switch line {
    case .light: light.append(element)
    case .new: new.append(element)
    case .heavy: heavy.append(element)
    }
  }

  /// Takes the next that is known to cost little, or else the next of all.
  mutating func popFirst() -> Element? { popFirstLight() ?? popFirstOther() }

  /// Takes the next that is known to cost little.
  mutating func popFirstLight() -> Element? { light.popFirst() }

  /// Takes the next of the others, from one line and from the other in turn.
  mutating func popFirstOther() -> Element? {
    isNewNext.toggle()
    return isNewNext ? new.popFirst() ?? heavy.popFirst() : heavy.popFirst() ?? new.popFirst()
  }
}

/// Whose turn it is on an event loop of which more is asked than it can do at once.
///
/// While there is little to do, everything is done as soon as it comes. Work that has taken a while
/// makes what comes after it wait: for the end of the tick, so that the event loop can see who else has
/// come meanwhile, and then for its turn, one after the other. Who is known to cost little goes first,
/// and overtakes those whose work never ends; these share what is left. Confined to the event loop.
final class Turns {
  /// How long the event loop works before it looks at its sockets again.
  static let slice = TimeAmount.milliseconds(4)
  /// How long one turn lasts, if the work comes in smaller pieces.
  static let turn = TimeAmount.milliseconds(1)
  /// How long the event loop waits for its sockets between slices; any time makes it look at them.
  private static let pause = TimeAmount.microseconds(50)

  /// The time, and the tasks of an event loop.
  struct Loop {
    var now: () -> NIODeadline
    /// Runs a task at the end of the tick.
    var atEndOfTick: (@escaping () -> Void) -> Void
    /// Runs a task a little later, in another tick.
    var inNextTick: (@escaping () -> Void) -> Void
  }

  private let loop: Loop
  private var queue = TurnQueue<any TurnTaker>()
  /// How long this slice has lasted.
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

  /// Gives somebody turns until it is not ready any more: at once, or when those before it had theirs.
  func request(by taker: any TurnTaker) {
    guard taker.isReady, !taker.isWaiting else { return }
    guard !isRunning, queue.isEmpty, used < Self.slice else {
      wait(taker, at: loop.now())
      return scheduleNext()
    }
    awaitEndOfTick()
    run(taker)
    work()
  }

  private func wait(_ taker: any TurnTaker, at now: NIODeadline) {
    taker.isWaiting = true
    queue.append(taker, to: taker.account.line(at: now))
  }

  /// Gives turns until the slice is over or nobody waits.
  private func work() {
    while used < Self.slice, let taker = queue.popFirst() { run(taker) }
    scheduleNext()
  }

  private func run(_ taker: any TurnTaker) {
    taker.isWaiting = false
    isRunning = true
    let start = loop.now()
    var end = start
    while taker.isReady, end - start < Self.turn {
      taker.takeTurn()
      end = loop.now()
    }
    isRunning = false
    used = used + (end - start)
    taker.account.charge(end - start, at: end)
    // It may have asked again meanwhile.
    if taker.isReady, !taker.isWaiting { wait(taker, at: end) }
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
      while self.used < Self.slice, let taker = self.queue.popFirstLight() { self.run(taker) }
      // One of the others gets a turn in any case; otherwise many cheap clients could starve them.
      repeat {
        guard let taker = self.queue.popFirstOther() else { break }
        self.run(taker)
      } while self.used < Self.slice
      self.scheduleNext()
    }
  }
}
