import NIOCore
import NIOPosix

/// The owner of a load's connections: one event loop, driven from the benchmark thread.
final class LoadGenerator: Sendable {
  /// Several connections, to be used on the event loop only.
  typealias Connections = NIOLoopBound<[LoadConnection]>

  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let eventLoop: any EventLoop

  init() {
    eventLoop = group.next()
  }

  deinit {
    group.shutdownGracefully { _ in }
  }

  /// Opens connections, a few at a time.
  ///
  /// - Parameters:
  ///   - server: The server to connect to.
  ///   - openings: For each connection, the exchanges before it counts as open.
  /// - Returns: The connections, in the same order.
  /// - Throws: The error of the first connection that cannot be opened.
  func connect(to server: LoadTarget, _ openings: [[Exchange]]) throws -> Connections {
    try eventLoop.flatSubmit { [eventLoop] in
      Dialing(to: server, openings, on: eventLoop).dial()
    }.wait()
  }

  /// Joins several groups of connections into one.
  func join(_ groups: [Connections]) throws -> Connections {
    try eventLoop.submit { [eventLoop] in
      NIOLoopBound(groups.flatMap(\.value), eventLoop: eventLoop)
    }.wait()
  }

  /// Keeps connections busy with requests for a fixed time.
  ///
  /// - Parameters:
  ///   - lanes: The connections and what they send.
  ///   - depth: The number of concurrent requests on each connection.
  ///   - duration: How long the run lasts.
  /// - Returns: The responses per second, and their latency.
  /// - Throws: ``LoadError`` when a request is refused or a connection breaks.
  func run(_ lanes: RequestLanes, depth: Int, for duration: TimeAmount) throws -> Figure {
    try eventLoop.flatSubmit { [eventLoop] in
      ClosedLoop(lanes, depth: depth, on: eventLoop).run(for: duration)
    }.wait()
  }

  /// Publishes to many listeners for a fixed time.
  ///
  /// - Parameters:
  ///   - publisher: One connection with its publications.
  ///   - listeners: The connections that receive each publication.
  ///   - depth: The number of concurrent publications.
  ///   - duration: How long the run lasts.
  /// - Returns: The deliveries per second, and their latency.
  /// - Throws: ``LoadError`` when a publication is refused or a connection breaks.
  func fanOut(
    _ publisher: RequestLanes,
    to listeners: Connections,
    depth: Int,
    for duration: TimeAmount
  ) throws -> Figure {
    try eventLoop.flatSubmit { [eventLoop] in
      FanOut(from: publisher, to: listeners, depth: depth, on: eventLoop).run(for: duration)
    }.wait()
  }

  /// Closes connections.
  func close(_ connections: Connections) throws {
    try eventLoop.submit { for connection in connections.value { connection.close() } }.wait()
  }
}

/// What each connection sends repeatedly; a run continues where the last one ended.
struct RequestLanes: Sendable {
  let connections: LoadGenerator.Connections
  let requests: [[ByteBuffer]]
  /// The number of requests that each connection has sent.
  let sent: NIOLoopBoundBox<[Int]>

  /// Assigns each connection its requests.
  init(_ connections: LoadGenerator.Connections, sending requests: [[ByteBuffer]]) {
    self.connections = connections
    self.requests = requests
    sent = .makeBoxSendingValue(
      [Int](repeating: 0, count: requests.count),
      eventLoop: connections.eventLoop
    )
  }
}

/// Opens connections, at least one, a few at a time; confined to its event loop.
final class Dialing {
  /// The number of connections that are being opened at the same time.
  private static let width = 32

  /// The connections that are open or being opened.
  private var connections: [LoadConnection] = []
  private let target: LoadTarget
  private let openings: [[Exchange]]
  private let eventLoop: any EventLoop
  private let finished: EventLoopPromise<LoadGenerator.Connections>
  private var opened = 0

  init(to target: LoadTarget, _ openings: [[Exchange]], on eventLoop: any EventLoop) {
    self.target = target
    self.openings = openings
    self.eventLoop = eventLoop
    finished = eventLoop.makePromise()
  }

  /// Opens all connections.
  func dial() -> EventLoopFuture<LoadGenerator.Connections> {
    for _ in 0..<min(Self.width, openings.count) { dialNext() }
    let count = openings.count
    let deadline = eventLoop.scheduleTask(in: .seconds(60)) { [finished] in
      finished.fail(LoadError("\(count) connections could not be opened within a minute"))
    }
    finished.futureResult.whenComplete { _ in deadline.cancel() }
    return finished.futureResult
  }

  private func dialNext() {
    guard connections.count < openings.count else { return }
    let connection = LoadConnection(target.dialect, opening: openings[connections.count])
    connections.append(connection)
    connection.onOpen = { [self] in didOpen() }
    connection.onFailure = { [finished] in finished.fail($0) }
    let bound = NIOLoopBound(connection, eventLoop: eventLoop)
    ClientBootstrap(group: eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(bound.value)
        }
      }
      .connect(to: target.address)
      .whenFailure { [finished] in finished.fail($0) }
  }

  private func didOpen() {
    opened += 1
    guard opened == openings.count else { return dialNext() }
    finished.succeed(NIOLoopBound(connections, eventLoop: eventLoop))
  }
}

/// What a run measures: warming up → counting → draining (nothing new is sent) → done.
///
/// Confined to its event loop.
private final class MeasuredRun {
  private enum Phase {
    case warmingUp
    case counting(since: NIODeadline)
    case draining(counted: Duration)
  }

  private static let warmUp = TimeAmount.milliseconds(200)

  private let eventLoop: any EventLoop
  private let finished: EventLoopPromise<Figure>
  private var phase = Phase.warmingUp
  private var samples: [UInt32] = []

  init(expecting count: Int, on eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
    finished = eventLoop.makePromise()
    samples.reserveCapacity(count)
  }

  /// Whether nothing new is to be sent.
  var isDraining: Bool { if case .draining = phase { true } else { false } }

  /// Starts to warm up and to count; fails if the run is not finished half a minute after that.
  func begin(for duration: TimeAmount, orFail error: LoadError) -> EventLoopFuture<Figure> {
    let isolated = eventLoop.assumeIsolated()
    isolated.scheduleTask(in: Self.warmUp) { [self] in phase = .counting(since: .now()) }
    isolated.scheduleTask(in: Self.warmUp + duration) { [self] in
      guard case .counting(let begin) = phase else { return }
      phase = .draining(counted: .nanoseconds((NIODeadline.now() - begin).nanoseconds))
    }
    isolated.scheduleTask(in: Self.warmUp + duration + .seconds(30)) { [self] in fail(error) }
    return finished.futureResult
  }

  /// Takes a latency in nanoseconds, if this is the time to count.
  func add(_ latency: UInt64) {
    if case .counting = phase { samples.append(UInt32(clamping: latency)) }
  }

  /// Ends the run with its rate and latencies.
  func finish() {
    guard case .draining(let time) = phase else { return }
    finished.succeed(.rate(samples.count, in: time, samples: samples))
  }

  func fail(_ error: any Error) { finished.fail(error) }
}

/// Keeps a number of requests under way on each connection: each response makes room for the next.
///
/// Confined to its event loop.
final class ClosedLoop {
  private let lanes: RequestLanes
  private let connections: [LoadConnection]
  private let depth: Int
  private let measurement: MeasuredRun
  private var sentAt: [CircularBuffer<UInt64>]
  private var underWay = 0

  init(_ lanes: RequestLanes, depth: Int, on eventLoop: any EventLoop) {
    self.lanes = lanes
    connections = lanes.connections.value
    self.depth = depth
    measurement = MeasuredRun(expecting: 1 << 20, on: eventLoop)
    sentAt = lanes.requests.map { _ in CircularBuffer(initialCapacity: depth) }
  }

  func run(for duration: TimeAmount) -> EventLoopFuture<Figure> {
    for (lane, connection) in connections.enumerated() {
      connection.onFailure = { [measurement] in measurement.fail($0) }
      connection.onAnswer = { [self] text, now in try answered(text, on: lane, at: now) }
    }
    for lane in connections.indices {
      for _ in 0..<depth { send(lane) }
    }
    let error = LoadError("requests were not answered within half a minute")
    return measurement.begin(for: duration, orFail: error)
  }

  private func send(_ lane: Int) {
    let requests = lanes.requests[lane]
    let number = lanes.sent.value[lane]
    lanes.sent.value[lane] += 1
    sentAt[lane].append(NIODeadline.now().uptimeNanoseconds)
    underWay += 1
    connections[lane].send(requests[number % requests.count])
  }

  private func answered(_ text: UnsafeRawBufferPointer, on lane: Int, at now: UInt64) throws {
    guard !connections[lane].dialect.isRefusal(text) else {
      throw LoadError("refused: \(String(decoding: text, as: UTF8.self))")
    }
    guard let then = sentAt[lane].popFirst() else {
      throw LoadError("an answer to nothing: \(String(decoding: text, as: UTF8.self))")
    }
    underWay -= 1
    measurement.add(now - then)
    guard measurement.isDraining else { return send(lane) }
    guard underWay == 0 else { return }
    for connection in connections { connection.onAnswer = { _, _ in } }
    measurement.finish()
  }
}

/// Lets one connection publish and many listen: the next publication is sent when all listeners
/// have received an earlier one.
///
/// Confined to its event loop.
final class FanOut {
  private let publisher: RequestLanes
  private let listeners: [LoadConnection]
  private let depth: Int
  private let measurement: MeasuredRun
  /// When the latest publications were sent, by number.
  private var sentAt: [UInt64]
  private var published = 0
  /// The number of publications that each listener has received.
  private var received: [Int]
  private var delivered = 0

  /// Creates a run.
  ///
  /// - Parameters:
  ///   - publisher: One connection with its publications.
  ///   - listeners: The connections that receive each publication.
  ///   - depth: The number of concurrent publications.
  ///   - eventLoop: The event loop of all connections.
  init(
    from publisher: RequestLanes,
    to listeners: LoadGenerator.Connections,
    depth: Int,
    on eventLoop: any EventLoop
  ) {
    self.publisher = publisher
    self.listeners = listeners.value
    self.depth = depth
    measurement = MeasuredRun(expecting: 1 << 22, on: eventLoop)
    sentAt = [UInt64](repeating: 0, count: 1_024)
    received = [Int](repeating: 0, count: listeners.value.count)
  }

  func run(for duration: TimeAmount) -> EventLoopFuture<Figure> {
    for (number, listener) in listeners.enumerated() {
      listener.onFailure = { [measurement] in measurement.fail($0) }
      listener.onAnswer = { [self] _, now in receive(number, at: now) }
    }
    for connection in publisher.connections.value {
      connection.onFailure = { [measurement] in measurement.fail($0) }
      connection.onAnswer = { text, _ in
        guard connection.dialect.isRefusal(text) else { return }
        throw LoadError("refused: \(String(decoding: text, as: UTF8.self))")
      }
    }
    for _ in 0..<depth { publish() }
    let error = LoadError("publications were not delivered within half a minute")
    return measurement.begin(for: duration, orFail: error)
  }

  private func publish() {
    sentAt[published % sentAt.count] = NIODeadline.now().uptimeNanoseconds
    published += 1
    let number = publisher.sent.value[0]
    publisher.sent.value[0] += 1
    let publications = publisher.requests[0]
    publisher.connections.value[0].send(publications[number % publications.count])
  }

  private func receive(_ listener: Int, at now: UInt64) {
    let number = received[listener]
    received[listener] += 1
    delivered += 1
    measurement.add(now - sentAt[number % sentAt.count])
    guard delivered.isMultiple(of: listeners.count) else { return }
    guard measurement.isDraining else { return publish() }
    guard delivered == published * listeners.count else { return }
    for listener in listeners { listener.onAnswer = { _, _ in } }
    measurement.finish()
  }
}
