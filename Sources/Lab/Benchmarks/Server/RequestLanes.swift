import NIOCore

/// What each connection sends, over and over; it goes on where the last run has ended.
struct RequestLanes: Sendable {
  let connections: LoadGenerator.Connections
  let requests: [[ByteBuffer]]
  /// How many requests each connection has sent.
  let sent: NIOLoopBoundBox<[Int]>

  /// Gives each connection its requests.
  init(_ connections: LoadGenerator.Connections, _ requests: [[ByteBuffer]]) {
    self.connections = connections
    self.requests = requests
    sent = .makeBoxSendingValue(
      [Int](repeating: 0, count: requests.count),
      eventLoop: connections.eventLoop
    )
  }
}
