internal import RealtimeCore

/// Messages with much data for one peer, not encoded yet.
///
/// A hub that encoded large data would keep everyone waiting. The data is an immutable value, so
/// the owner of the hub may encode it at any time and on any thread, as long as the peer gets the
/// messages at the position of the composition among its outputs.
package struct Composition: Sendable, Equatable {
  enum Content: Sendable, Equatable {
    /// The response to a request that reads.
    case answer(request: Int64, Node)
    /// The data for a new listener, unless it already has it, followed by the response.
    case listen(request: Int64, ListenRequest, Node, remarks: JSONValue)
    case data(ListenKey, Node, tag: Int64?)
  }

  package struct Result: Sendable {
    package let messages: [HubMessage]
    /// Whether the data was too long for a response.
    ///
    /// Then the owner must call ``TreeHub/compositionFailed(_:of:)``.
    package let isRefused: Bool
  }

  let content: Content
  /// The maximum length of a message with data.
  let byteLimit: Int

  /// The node that takes time to encode.
  private var node: Node {
    switch content {
    case .answer(_, let node), .listen(_, _, let node, _), .data(_, let node, _): node
    }
  }

  /// Whether there are more than about this many bytes to encode.
  ///
  /// - Complexity: O(bytes)
  func isLonger(than bytes: Int) -> Bool {
    NodeMeasure(of: node, bytes: bytes).isExceeded
  }

  /// Whether it shows data that newer data of the same listen may replace.
  var isListen: Bool {
    switch content {
    case .answer: false
    case .listen, .data: true
    }
  }

  /// The response to a new listen on its own, for a peer that receives the data in another way.
  var acknowledgement: HubMessage? {
    guard case .listen(let request, _, _, let remarks) = content else { return nil }
    return Self.answer(request, with: ServerMessage.Response(.ok, payload: .json(remarks)))
  }

  /// Encodes the messages.
  ///
  /// - Complexity: O(size of the data)
  package func composed() -> Result {
    switch content {
    case .answer(let request, let node):
      let answer = Self.answer(request, with: ServerMessage.Response(.ok, payload: .node(node)))
      if answer.bytes.count <= byteLimit { return Result(messages: [answer], isRefused: false) }
      return refused(request)
    case .listen(let request, let listen, let node, let remarks):
      let answer = Self.answer(request, with: ServerMessage.Response(.ok, payload: .json(remarks)))
      guard let news = Self.news(of: node, for: listen) else {
        return Result(messages: [answer], isRefused: false)
      }
      let push = HubMessage(.push(news))
      if push.bytes.count <= byteLimit {
        return Result(messages: [push, answer], isRefused: false)
      }
      return refused(request)
    case .data(let key, let node, let tag):
      // The query is applied to the data of the location only here, since that takes time as well.
      let push = ServerPush.data(path: key.path, key.query.evaluate(node), tag: tag)
      return Result(messages: [HubMessage(.push(push))], isRefused: false)
    }
  }

  private func refused(_ request: Int64) -> Result {
    let answer = Self.answer(request, with: RequestError.tooLong(byteLimit).response)
    return Result(messages: [answer], isRefused: true)
  }

  private static func answer(_ request: Int64, with response: ServerMessage.Response) -> HubMessage
  {
    HubMessage(.response(id: request, response))
  }

  /// The push for a listener whose data may differ: only the ranges that differ, if it supports
  /// that.
  ///
  /// Where other data would have the same hashes, the listener's data is unknown, and it receives
  /// all.
  ///
  /// - Returns: The push; nil if the listener has the data already.
  static func news(of node: Node, for listen: ListenRequest) -> ServerPush? {
    let isKnown =
      listen.hash != ListenRequest.unknownHash && node.isEmpty == listen.hash.isEmpty
      && node.exactHash == listen.hash
    guard !isKnown else { return nil }
    let ranges = listen.compoundHash?.changes(to: node)
    if let ranges, !ranges.isEmpty {
      return .rangeMerge(path: listen.path, ranges, tag: listen.tag)
    }
    // Ranges tell apart what the hash of all data does not, unless they cover less than it.
    if ranges != nil, node.hash == listen.hash { return nil }
    return .data(path: listen.path, node, tag: listen.tag)
  }
}
