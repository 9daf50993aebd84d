internal import RealtimeCore

/// What a peer is told of much data, before it is encoded.
///
/// A hub that encodes large data keeps everybody waiting meanwhile. The data are a value that nothing
/// changes any more, so its owner may encode them when and where it likes, as long as the peer gets
/// the messages in the place that the composition has among its outputs.
package struct Composition: Sendable, Equatable {
  enum Content: Sendable, Equatable {
    /// The answer to a request that reads.
    case answer(request: Int64, Node)
    /// What a new listener is told, unless it has it already, and then the answer.
    case listen(request: Int64, ListenRequest, Node, remarks: JSONValue)
    /// The data of a listen as they are now.
    case data(ListenKey, Node, tag: Int64?)
  }

  /// What has come of a composition.
  package struct Messages: Sendable {
    /// Whole messages, JSON in UTF-8, in their order.
    package let texts: [[UInt8]]
    /// Whether the data were too long for an answer, so that the hub must be told of it by
    /// ``TreeHub/compositionFailed(_:of:)``.
    package let isRefused: Bool
  }

  let content: Content
  /// The longest message with data that is sent.
  let byteLimit: Int

  /// The node that takes time.
  private var node: Node {
    switch content {
    case .answer(_, let node), .listen(_, _, let node, _), .data(_, let node, _): node
    }
  }

  /// Whether there are about more than so many bytes to encode.
  ///
  /// - Complexity: O(bytes)
  package func isLonger(than bytes: Int) -> Bool {
    var measure = NodeMeasure(bytes: bytes)
    measure.add(node)
    return measure.isExceeded
  }

  /// Whether it shows data that newer data of the same listen may take the place of.
  package var isListen: Bool {
    switch content {
    case .answer: false
    case .listen, .data: true
    }
  }

  /// The answer that belongs to it by itself, for who is told of the data in another way.
  package var acknowledgement: [UInt8]? {
    guard case .listen(let request, _, _, let remarks) = content else { return nil }
    return Self.answer(request, with: ServerMessage.Response(.ok, payload: .json(remarks)))
  }

  /// Encodes the messages.
  ///
  /// - Complexity: O(size of the data)
  package func composed() -> Messages {
    switch content {
    case .answer(let request, let node):
      let text = Self.answer(request, with: ServerMessage.Response(.ok, payload: .node(node)))
      if text.count <= byteLimit { return Messages(texts: [text], isRefused: false) }
      return refused(request)
    case .listen(let request, let listen, let node, let remarks):
      let answer = Self.answer(request, with: ServerMessage.Response(.ok, payload: .json(remarks)))
      guard Self.isNews(node, for: listen) else {
        return Messages(texts: [answer], isRefused: false)
      }
      let push = ServerMessage.push(Self.news(of: node, for: listen)).encoded()
      if push.count <= byteLimit { return Messages(texts: [push, answer], isRefused: false) }
      return refused(request)
    case .data(let key, let node, let tag):
      // What the whole location has is cut down to the query only now, as that takes time as well.
      let push = ServerPush.data(path: key.path, key.query.evaluate(node), tag: tag)
      return Messages(texts: [ServerMessage.push(push).encoded()], isRefused: false)
    }
  }

  private func refused(_ request: Int64) -> Messages {
    let answer = Self.answer(request, with: RequestError.tooLong(byteLimit).response)
    return Messages(texts: [answer], isRefused: true)
  }

  private static func answer(_ request: Int64, with response: ServerMessage.Response) -> [UInt8] {
    ServerMessage.response(id: request, response).encoded()
  }

  /// Whether a listener has other data than those that there are.
  static func isNews(_ node: Node, for listen: ListenRequest) -> Bool {
    node.isEmpty ? !listen.hash.isEmpty : listen.hash.isEmpty || node.hash != listen.hash
  }

  /// What a listener is told that has other data: the ranges that differ, where it can take them.
  static func news(of node: Node, for listen: ListenRequest) -> ServerPush {
    let ranges = listen.compoundHash.flatMap {
      CompoundHash(posts: $0.posts, hashes: $0.hashes).changes(to: node)
    }
    // Where all ranges agree, the hashes of the ranges have left the difference out.
    guard let ranges, !ranges.isEmpty else {
      return .data(path: listen.path, node, tag: listen.tag)
    }
    let changes = ranges.map { RangeChange(start: $0.start, end: $0.end, node: $0.node) }
    return .rangeMerge(path: listen.path, changes, tag: listen.tag)
  }
}
