import RealtimeCore
import Testing

/// A client that knows only what it receives: it applies pushes to a copy for each listen.
struct ReplayClient {
  struct Listen {
    let path: Path
    let query: Query
    let tag: Int64?
    var node: Node
    /// Whether the response to the listen has arrived.
    var isComplete = false
  }

  private(set) var listens: [Int64: Listen] = [:]
  /// The numbers of answered requests, with their statuses.
  private(set) var answers: [Int64: StatusCode] = [:]
  private var hasStopped = false

  mutating func start(_ listen: Listen, request: Int64) {
    listens[request] = listen
  }

  mutating func stop(_ request: Int64) {
    hasStopped = true
    listens[request] = nil
  }

  mutating func receive(_ bytes: [UInt8]) throws {
    switch try ServerMessage(decoding: bytes) {
    case .response(let id, let response):
      answers[id] = response.status
      listens[id]?.isComplete = true
    case .push(.data(let path, let node, let tag)): apply([Change(path, to: node)], tag: tag)
    case .push(.merge(let path, let changes, let tag)):
      apply(changes.map { Change(path.appending($0.path), to: $0.node) }, tag: tag)
    case .push, .hello, .reset, .shutdown, .error, .pong: Issue.record("an unexpected message")
    }
  }

  private mutating func apply(_ changes: [Change], tag: Int64?) {
    // A push in transit to a listen that has been stopped may be news to no listen.
    var isNews = hasStopped
    for (id, listen) in listens where listen.tag == tag {
      var node = listen.node
      for change in changes {
        if let relative = change.path.relative(to: listen.path) {
          expectApplicable(node, relative)
          node.update(at: relative, to: change.node)
        } else if let relative = listen.path.relative(to: change.path) {
          node = change.node[relative]
        }
      }
      if node != listen.node || !listen.isComplete { isNews = true }
      listens[id]?.node = node
    }
    #expect(isNews, "a push that changes nothing: \(changes)")
  }

  /// A client can apply neither data below a leaf nor a priority to one.
  private func expectApplicable(_ node: Node, _ path: Path) {
    var node = node
    for key in path.keys {
      #expect(node.leafValue == nil, "a push below a leaf at \(path)")
      node = node[key]
    }
  }
}
