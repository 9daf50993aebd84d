import NIOCore

/// Keeps a number of requests under way on each connection: each answer makes room for the next.
///
/// State: warming up → counting → draining (nothing new is sent) → done, once every request is
/// answered. Confined to its event loop.
final class ClosedLoop {
  private enum Phase {
    case warmingUp
    case counting
    case draining
  }

  private static let warmUp = TimeAmount.milliseconds(200)

  private let lanes: RequestLanes
  private let connections: [LoadConnection]
  private let depth: Int
  private let eventLoop: any EventLoop
  private let finished: EventLoopPromise<Figure>
  private var phase = Phase.warmingUp
  private var sentAt: [CircularBuffer<UInt64>]
  private var underWay = 0
  private var samples: [UInt32] = []
  private var begin = NIODeadline.now()
  private var end = NIODeadline.now()

  init(_ lanes: RequestLanes, depth: Int, on eventLoop: any EventLoop) {
    self.lanes = lanes
    connections = lanes.connections.value
    self.depth = depth
    self.eventLoop = eventLoop
    finished = eventLoop.makePromise()
    sentAt = lanes.requests.map { _ in CircularBuffer(initialCapacity: depth) }
    samples.reserveCapacity(1 << 20)
  }

  func run(for duration: TimeAmount) -> EventLoopFuture<Figure> {
    for (lane, connection) in connections.enumerated() {
      connection.onFailure = { [finished] in finished.fail($0) }
      connection.onAnswer = { [self] text, now in try answered(lane, text, at: now) }
    }
    for lane in connections.indices {
      for _ in 0..<depth { send(lane) }
    }
    let isolated = eventLoop.assumeIsolated()
    isolated.scheduleTask(in: Self.warmUp) { [self] in
      phase = .counting
      begin = .now()
    }
    isolated.scheduleTask(in: Self.warmUp + duration) { [self] in
      phase = .draining
      end = .now()
    }
    isolated.scheduleTask(in: Self.warmUp + duration + .seconds(30)) { [finished] in
      finished.fail(LoadError("requests were not answered within half a minute"))
    }
    return finished.futureResult
  }

  private func send(_ lane: Int) {
    let requests = lanes.requests[lane]
    let number = lanes.sent.value[lane]
    lanes.sent.value[lane] += 1
    sentAt[lane].append(NIODeadline.now().uptimeNanoseconds)
    underWay += 1
    connections[lane].send(requests[number % requests.count])
  }

  private func answered(_ lane: Int, _ text: UnsafeRawBufferPointer, at now: UInt64) throws {
    guard !connections[lane].dialect.isRefusal(text) else {
      throw LoadError("refused: \(String(decoding: text, as: UTF8.self))")
    }
    guard let then = sentAt[lane].popFirst() else {
      throw LoadError("an answer to nothing: \(String(decoding: text, as: UTF8.self))")
    }
    underWay -= 1
    switch phase {
    case .warmingUp: send(lane)
    case .counting:
      samples.append(UInt32(clamping: now - then))
      send(lane)
    case .draining: if underWay == 0 { finish() }
    }
  }

  private func finish() {
    for connection in connections { connection.onAnswer = { _, _ in } }
    let time = Duration.nanoseconds((end - begin).nanoseconds)
    finished.succeed(.rate(samples.count, in: time, samples: samples))
  }
}
