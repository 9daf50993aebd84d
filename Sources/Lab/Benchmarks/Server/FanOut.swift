import NIOCore

/// Lets one connection publish and many listen: the next publication leaves when all have an
/// earlier one.
///
/// State: warming up → counting → draining → done, as for ``ClosedLoop``. Confined to its event
/// loop.
final class FanOut {
  private enum Phase {
    case warmingUp
    case counting
    case draining
  }

  private static let warmUp = TimeAmount.milliseconds(200)

  private let publisher: RequestLanes
  private let listeners: [LoadConnection]
  private let depth: Int
  private let eventLoop: any EventLoop
  private let finished: EventLoopPromise<Figure>
  private var phase = Phase.warmingUp
  /// When the last publications were sent, by their number.
  private var sentAt: [UInt64]
  private var published = 0
  /// How many publications each listener has got.
  private var received: [Int]
  private var delivered = 0
  private var samples: [UInt32] = []
  private var begin = NIODeadline.now()
  private var end = NIODeadline.now()

  /// Makes a run.
  ///
  /// - Parameters:
  ///   - publisher: One connection with its publications.
  ///   - listeners: Those who get each of them.
  ///   - depth: How many publications are under way.
  ///   - eventLoop: The event loop of all connections.
  init(
    _ publisher: RequestLanes,
    _ listeners: LoadGenerator.Connections,
    depth: Int,
    on eventLoop: any EventLoop
  ) {
    self.publisher = publisher
    self.listeners = listeners.value
    self.depth = depth
    self.eventLoop = eventLoop
    finished = eventLoop.makePromise()
    sentAt = [UInt64](repeating: 0, count: 1_024)
    received = [Int](repeating: 0, count: listeners.value.count)
    samples.reserveCapacity(1 << 22)
  }

  func run(for duration: TimeAmount) -> EventLoopFuture<Figure> {
    for (number, listener) in listeners.enumerated() {
      listener.onFailure = { [finished] in finished.fail($0) }
      listener.onAnswer = { [self] _, now in receive(number, at: now) }
    }
    for connection in publisher.connections.value {
      connection.onFailure = { [finished] in finished.fail($0) }
      connection.onAnswer = { text, _ in
        guard connection.dialect.isRefusal(text) else { return }
        throw LoadError("refused: \(String(decoding: text, as: UTF8.self))")
      }
    }
    for _ in 0..<depth { publish() }
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
      finished.fail(LoadError("publications were not delivered within half a minute"))
    }
    return finished.futureResult
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
    if phase == .counting {
      samples.append(UInt32(clamping: now - sentAt[number % sentAt.count]))
    }
    guard delivered.isMultiple(of: listeners.count) else { return }
    if phase != .draining {
      publish()
    } else if delivered == published * listeners.count {
      finish()
    }
  }

  private func finish() {
    for listener in listeners { listener.onAnswer = { _, _ in } }
    let time = Duration.nanoseconds((end - begin).nanoseconds)
    finished.succeed(.rate(samples.count, in: time, samples: samples))
  }
}
