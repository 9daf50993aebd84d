import NIOCore
import NIOPosix

/// Where the connections of a load live: one event loop, driven from the thread of the benchmarks.
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
  ///   - server: Where to.
  ///   - openings: For each connection what is said before it counts as open.
  /// - Returns: The connections in this order.
  /// - Throws: What goes wrong with the first that cannot be opened.
  func connect(to server: LoadTarget, _ openings: [[Exchange]]) throws -> Connections {
    try eventLoop.flatSubmit { [eventLoop] in
      Dialing(to: server, openings, on: eventLoop).dial()
    }.wait()
  }

  /// Keeps connections busy with requests for some time.
  ///
  /// - Parameters:
  ///   - lanes: The connections with what they send.
  ///   - depth: How many requests of a connection are under way.
  ///   - duration: For how long.
  /// - Returns: The answers of a second, and how long one took.
  /// - Throws: ``LoadError`` when a request is refused or a connection breaks.
  func run(_ lanes: RequestLanes, depth: Int, for duration: TimeAmount) throws -> Figure {
    try eventLoop.flatSubmit { [eventLoop] in
      ClosedLoop(lanes, depth: depth, on: eventLoop).run(for: duration)
    }.wait()
  }

  /// Publishes to many for some time.
  ///
  /// - Parameters:
  ///   - publisher: One connection with its publications.
  ///   - listeners: Those who get each of them.
  ///   - depth: How many publications are under way.
  ///   - duration: For how long.
  /// - Returns: The deliveries of a second, and how long one took.
  /// - Throws: ``LoadError`` when a publication is refused or a connection breaks.
  func fanOut(
    _ publisher: RequestLanes,
    to listeners: Connections,
    depth: Int,
    for duration: TimeAmount
  ) throws -> Figure {
    try eventLoop.flatSubmit { [eventLoop] in
      FanOut(publisher, listeners, depth: depth, on: eventLoop).run(for: duration)
    }.wait()
  }

  /// Closes connections.
  func close(_ connections: Connections) throws {
    try eventLoop.submit { for connection in connections.value { connection.close() } }.wait()
  }
}
