import CEpoll
import Glibc
import NIOCore

/// What each connection sends repeatedly; a run continues where the last one ended.
final class RequestLanes {
  let connections: [LoadConnection]
  private let requests: [[ByteBuffer]]
  /// The number of requests that each connection has sent.
  private var sent: [Int]

  /// Assigns each connection its requests.
  init(_ connections: [LoadConnection], sending requests: [[ByteBuffer]]) {
    self.connections = connections
    self.requests = requests
    sent = [Int](repeating: 0, count: requests.count)
  }

  /// Sends the next requests of a connection together.
  func send(_ count: Int, on lane: Int) throws {
    let all = requests[lane]
    let first = sent[lane]
    sent[lane] += count
    guard count > 1 else { return try connections[lane].send(all[first % all.count]) }
    var together = ByteBuffer()
    for number in first..<first + count {
      together.writeImmutableBuffer(all[number % all.count])
    }
    try connections[lane].send(together)
  }
}

/// The time of a run: some to warm up, then what is counted, then what is under way drains.
private struct Schedule {
  enum Phase {
    case warmingUp
    case counting
    case draining
  }

  private static let warmUp: UInt64 = 200_000_000

  let duration: Duration
  private let begin: UInt64
  private let end: UInt64

  init(for duration: Duration) {
    self.duration = duration
    begin = Self.now() + Self.warmUp
    end = begin + UInt64(duration.nanoseconds)
  }

  func phase(at time: UInt64) -> Phase {
    if time < begin { return .warmingUp }
    return time < end ? .counting : .draining
  }

  /// Nanoseconds since some moment.
  static func now() -> UInt64 { NIODeadline.now().uptimeNanoseconds }
}

/// Waits until something has arrived at some of many connections.
private final class Arrivals {
  private static let none = epoll_event()

  private let descriptor: Int32
  private var events = [epoll_event](repeating: none, count: 256)

  init(at connections: [LoadConnection]) throws {
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    for (number, connection) in connections.enumerated() {
      var event = epoll_event()
      event.events = EPOLLIN.rawValue
      event.data.u64 = UInt64(number)
      guard epoll_ctl(descriptor, EPOLL_CTL_ADD, connection.descriptor, &event) == 0 else {
        throw LoadError("a connection cannot be waited for")
      }
    }
  }

  deinit {
    close(descriptor)
  }

  /// Calls a closure with the number of each connection at which something has arrived.
  func wait(_ body: (Int) throws -> Void) throws {
    let count = epoll_wait(descriptor, &events, Int32(events.count), 30_000)
    guard count > 0 else { throw LoadError("nothing was answered within half a minute") }
    for event in events.prefix(Int(count)) { try body(Int(event.data.u64)) }
  }
}

extension RequestLanes {
  /// A pass that keeps some requests under way on each connection for a second, and servers alive.
  func closedLoop(depth: Int = 1, keeping servers: [AnyObject?]) -> Benchmark.Pass {
    {
      defer { withExtendedLifetime(servers) {} }
      return try ClosedLoop(self, depth: depth).run(for: .seconds(1))
    }
  }

  /// A pass that publishes to listeners for a second, and keeps servers alive.
  func fanOut(
    to listeners: [LoadConnection],
    depth: Int = 1,
    keeping servers: [AnyObject?]
  ) -> Benchmark.Pass {
    {
      defer { withExtendedLifetime(servers) {} }
      return try FanOut(from: self, to: listeners, depth: depth).run(for: .seconds(1))
    }
  }
}

/// Keeps a number of requests under way on each connection: each response makes room for the next.
final class ClosedLoop {
  private let lanes: RequestLanes
  private let connections: [LoadConnection]
  private let depth: Int
  private let arrivals: Arrivals
  private var room = LoadRoom()
  /// When the requests under way on each connection were sent, and how many were answered.
  private var sentAt: [[UInt64]]
  private var answered: [Int]
  private var underWay = 0
  private var samples: [UInt32] = []

  init(_ lanes: RequestLanes, depth: Int) throws {
    self.lanes = lanes
    connections = lanes.connections
    self.depth = depth
    arrivals = try Arrivals(at: connections)
    sentAt = connections.map { _ in [UInt64](repeating: 0, count: depth) }
    answered = connections.map { _ in 0 }
    samples.reserveCapacity(1 << 20)
  }

  /// Keeps the connections busy for a time; returns the responses per second, and their latency.
  func run(for duration: Duration) throws -> Figure {
    let schedule = Schedule(for: duration)
    for lane in connections.indices {
      let now = Schedule.now()
      for place in 0..<depth { sentAt[lane][place] = now }
      underWay += depth
      try lanes.send(depth, on: lane)
    }
    while underWay > 0 {
      try arrivals.wait { try receive(on: $0, by: schedule) }
    }
    return .rate(samples.count, in: duration, samples: samples)
  }

  private func receive(on lane: Int, by schedule: Schedule) throws {
    let connection = connections[lane]
    let now = Schedule.now()
    let phase = schedule.phase(at: now)
    var count = 0
    try connection.receive(into: &room) { answer in
      guard !connection.dialect.isRefusal(answer) else {
        throw LoadError("refused: \(String(decoding: answer, as: UTF8.self))")
      }
      let place = answered[lane] % depth
      answered[lane] += 1
      count += 1
      if phase == .counting { samples.append(UInt32(clamping: now - sentAt[lane][place])) }
      sentAt[lane][place] = now
    }
    if phase == .draining {
      underWay -= count
    } else if count > 0 {
      try lanes.send(count, on: lane)
    }
  }
}

/// Lets one connection publish and many listen: the next publication is sent when all listeners
/// have received an earlier one.
final class FanOut {
  private let publisher: RequestLanes
  /// The listeners, and then the publisher.
  private let connections: [LoadConnection]
  private let depth: Int
  private let arrivals: Arrivals
  private var room = LoadRoom()
  /// When the latest publications were sent, by number.
  private var sentAt = [UInt64](repeating: 0, count: 1_024)
  private var published = 0
  /// The number of publications that each listener has received.
  private var received: [Int]
  private var delivered = 0
  private var samples: [UInt32] = []

  init(from publisher: RequestLanes, to listeners: [LoadConnection], depth: Int) throws {
    self.publisher = publisher
    connections = listeners + publisher.connections
    self.depth = depth
    arrivals = try Arrivals(at: connections)
    received = [Int](repeating: 0, count: listeners.count)
    samples.reserveCapacity(1 << 20)
  }

  /// Publishes for a time; returns the deliveries per second, and their latency.
  func run(for duration: Duration) throws -> Figure {
    let schedule = Schedule(for: duration)
    for _ in 0..<depth { try publish() }
    while delivered < published * received.count {
      try arrivals.wait { number in
        if number < received.count {
          try receive(by: number, schedule)
        } else {
          try check(connections[number])
        }
      }
    }
    return .rate(samples.count, in: duration, samples: samples)
  }

  private func publish() throws {
    sentAt[published % sentAt.count] = Schedule.now()
    published += 1
    try publisher.send(1, on: 0)
  }

  private func receive(by listener: Int, _ schedule: Schedule) throws {
    let now = Schedule.now()
    let phase = schedule.phase(at: now)
    var complete = 0
    try connections[listener].receive(into: &room) { _ in
      let number = received[listener]
      received[listener] += 1
      delivered += 1
      if delivered.isMultiple(of: received.count) { complete += 1 }
      if phase == .counting {
        samples.append(UInt32(clamping: now - sentAt[number % sentAt.count]))
      }
    }
    guard phase != .draining else { return }
    for _ in 0..<complete { try publish() }
  }

  /// Makes sure that no publication was refused.
  private func check(_ author: LoadConnection) throws {
    try author.receive(into: &room) { answer in
      guard author.dialect.isRefusal(answer), author.dialect.isStatus(answer) else { return }
      throw LoadError("refused: \(String(decoding: answer, as: UTF8.self))")
    }
  }
}
