import NIOCore
import RealtimeCore
import Testing

@testable import RealtimeServer

/// Other clients must not wait for all the work that strangers cause on the event loop.
@Suite("Fair scheduling on an event loop", .timeLimit(.minutes(2)))
struct FairSchedulerAttackTests {
  /// An event loop whose time advances only when work is done.
  private final class ManualLoop {
    var time = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private var endOfTick: [() -> Void] = []
    private var nextTick: [() -> Void] = []
    /// The workers that have had a turn.
    var log: [String] = []

    var loop: FairScheduler.Loop {
      FairScheduler.Loop(
        now: { self.time },
        atEndOfTick: { self.endOfTick.append($0) },
        inNextTick: { self.nextTick.append($0) }
      )
    }

    /// Ends the tick and begins the next one; true when there was anything to do.
    func tick() -> Bool {
      let tasks = endOfTick
      endOfTick = []
      for task in tasks { task() }
      let next = nextTick
      nextTick = []
      for task in next { task() }
      return !next.isEmpty
    }
  }

  private final class Worker: Schedulable {
    let account = SchedulerAccount()
    var isWaiting = false
    private(set) var pieces: Int
    private let name: String
    private let cost: TimeAmount
    private let loop: ManualLoop

    init(_ name: String, pieces: Int, cost: TimeAmount, _ loop: ManualLoop) {
      self.name = name
      self.pieces = pieces
      self.cost = cost
      self.loop = loop
    }

    var isReady: Bool { pieces > 0 }

    func takeTurn() {
      pieces -= 1
      loop.time = loop.time + cost
      loop.log.append(name)
    }

    func ask(_ pieces: Int) { self.pieces += pieces }
  }

  private let loop = ManualLoop()
  private let scheduler: FairScheduler

  init() { scheduler = FairScheduler(loop.loop) }

  @Test("When there is little to do, work runs as soon as it arrives")
  func quiet() {
    for number in 0..<10 {
      let worker = Worker("\(number)", pieces: 1, cost: .microseconds(20), loop)
      scheduler.request(by: worker)
      #expect(worker.pieces == 0)
    }
    #expect(!loop.tick())
  }

  @Test("A client with little work waits for one piece of each endless worker at most")
  func overtaking() {
    let attackers = (0..<40).map { _ in
      Worker("attacker", pieces: 100, cost: .milliseconds(20), loop)
    }
    for attacker in attackers { scheduler.request(by: attacker) }
    // No worker has any cost at first, so each gets one piece done.
    for _ in 0..<100 { _ = loop.tick() }
    let client = Worker("client", pieces: 0, cost: .microseconds(20), loop)
    for _ in 0..<20 {
      loop.log = []
      client.ask(1)
      scheduler.request(by: client)
      while client.isReady { #expect(loop.tick()) }
      #expect(loop.log.firstIndex(of: "client").map { $0 <= 1 } == true, "\(loop.log)")
    }
  }

  @Test("A newcomer does not overtake clients known to be cheap")
  func newcomers() {
    let client = Worker("client", pieces: 1, cost: .microseconds(20), loop)
    scheduler.request(by: client)
    for _ in 0..<20 {
      for _ in 0..<40 {
        scheduler.request(by: Worker("newcomer", pieces: 1, cost: .milliseconds(20), loop))
      }
      loop.log = []
      client.ask(1)
      scheduler.request(by: client)
      while client.isReady { #expect(loop.tick()) }
      #expect(loop.log.first == "client", "\(loop.log)")
    }
  }

  @Test("Endless workers take turns, and all of their work gets done")
  func roundRobin() {
    let attackers = (0..<5).map { Worker("\($0)", pieces: 20, cost: .milliseconds(20), loop) }
    for attacker in attackers {
      // No worker is favoured for having no cost yet.
      attacker.account.charge(.milliseconds(20), at: loop.time)
      scheduler.request(by: attacker)
    }
    while loop.tick() {
      let left = attackers.map(\.pieces)
      // The first had a piece done before any other waited, and was ahead of the others in the
      // queue.
      #expect((left.max() ?? 0) - (left.min() ?? 0) <= 2, "\(left)")
    }
    #expect(attackers.allSatisfy { $0.pieces == 0 })
  }

  @Test("Many light clients do not starve a heavy one")
  func noStarvation() {
    let heavy = Worker("heavy", pieces: 10, cost: .milliseconds(20), loop)
    scheduler.request(by: heavy)
    let clients = (0..<200).map { _ in Worker("client", pieces: 0, cost: .microseconds(100), loop) }
    for _ in 0..<12 {
      for client in clients {
        client.ask(1)
        scheduler.request(by: client)
      }
      _ = loop.tick()
    }
    #expect(heavy.pieces == 0)
  }

  @Test("Sockets are polled after each slice, however much work waits")
  func slices() {
    let workers = (0..<100).map { _ in Worker("worker", pieces: 50, cost: .microseconds(500), loop)
    }
    for worker in workers { scheduler.request(by: worker) }
    var isBusy = true
    while isBusy {
      let start = loop.time
      isBusy = loop.tick()
      // One more turn may begin just before the end of the slice, and one is for the heavy worker.
      #expect(loop.time - start <= FairScheduler.slice + FairScheduler.turn + FairScheduler.turn)
    }
    #expect(workers.allSatisfy { $0.pieces == 0 })
  }

  @Test("A debt decays over time")
  func debt() {
    let account = SchedulerAccount()
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    account.charge(.milliseconds(20), at: start)
    #expect(!account.isLight(at: start))
    #expect(!account.isLight(at: start + .milliseconds(200)))
    #expect(account.isLight(at: start + .milliseconds(300)))
    // No debt lasts forever.
    account.charge(.hours(1), at: start + .seconds(1))
    #expect(account.isLight(at: start + .seconds(90)))
  }
}
