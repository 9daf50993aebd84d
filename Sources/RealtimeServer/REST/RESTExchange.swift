internal import NIOCore
internal import RealtimeHub
internal import RealtimeProtocol
internal import RealtimeTransport
internal import RealtimeTree

/// Carries out one REST request as a peer of the hub, so that it has its place in the order of all.
///
/// State: asking (answers of the hub are awaited) → asking again, for the next version of a
/// condition → answered. Confined to the server's event loop.
final class RESTExchange: InternalPeer {
  private let request: RESTRequest
  private let core: ServerCore
  private let promise: EventLoopPromise<HTTPReply>
  private var peer: PeerID?
  private var lastRequest: Int64 = 0
  private var awaited = 0
  private var responses: [ServerMessage.Response] = []
  private var next: ([ServerMessage.Response]) -> Void = { _ in }
  private var timeout: Scheduled<Void>?

  private init(_ request: RESTRequest, _ core: ServerCore, _ promise: EventLoopPromise<HTTPReply>) {
    self.request = request
    self.core = core
    self.promise = promise
  }

  /// Carries a request out; the server holds the exchange until it is answered.
  static func run(_ request: RESTRequest, on core: ServerCore) -> EventLoopFuture<HTTPReply> {
    let promise = core.eventLoop.makePromise(of: HTTPReply.self)
    let exchange = RESTExchange(request, core, promise)
    exchange.peer = core.openInternal(exchange)
    exchange.start()
    return promise.futureResult
  }

  // MARK: Peer

  func receive(_ message: ServerMessage) {
    guard case .response(_, let response) = message, awaited > 0 else { return }
    responses.append(response)
    guard responses.count == awaited else { return }
    awaited = 0
    next(responses)
  }

  func disconnect(_ reason: DisconnectReason) {
    finish(RESTError(503, "\(reason)").answer)
  }

  /// Asks the hub several things at once, so that nothing comes between them.
  private func ask(
    _ requests: [ClientRequest],
    _ next: @escaping ([ServerMessage.Response]) -> Void
  ) {
    guard let peer else { return }
    responses = []
    awaited = requests.count
    self.next = next
    for request in requests {
      lastRequest += 1
      core.hand(.request(id: lastRequest, request), from: peer)
    }
  }

  private func finish(_ answer: HTTPAnswer) {
    guard let peer else { return }
    self.peer = nil
    next = { _ in }
    timeout?.cancel()
    promise.succeed(.answer(answer))
    core.closeInternal(peer)
  }

  // MARK: Requests

  private func start() {
    let write: RESTRequest.Write?
    do throws(RESTError) {
      write = try request.write()
    } catch {
      finish(error.answer)
      return
    }
    switch write {
    case nil: read()
    case .set(let path, let node)?: set(path, node, isRemoval: false, attempt: 0)
    case .remove(let path)?: set(path, .empty, isRemoval: true, attempt: 0)
    case .merge(let path, let changes)?: merge(path, changes)
    case .append(let path, let node)?: append(path, node)
    }
  }

  private func read() {
    if let time = request.options.timeout {
      timeout = core.eventLoop.assumeIsolated().scheduleTask(in: time) {
        self.finish(
          RESTError(400, "the data could not be read in the time that timeout allows").answer
        )
      }
    }
    ask([.get(path: request.path, query: request.query ?? .all)]) { [self] responses in
      guard let node = Self.node(responses.first) else { return refuse(responses.first) }
      let tag = request.wantsTag ? node.hash : nil
      if let tag, request.knows(tag) {
        finish(.empty(304, etag: EntityTag.text(ofHash: tag)))
        return
      }
      finish(answer(node, isSelection: request.query != nil, tag: tag))
    }
  }

  /// Replaces the data at a path, where they have one of the versions of a condition.
  private func set(_ path: Path, _ node: Node, isRemoval: Bool, attempt: Int) {
    let hashes = request.requiredHashes
    let hash = attempt < hashes.count ? hashes[attempt] : nil
    let wantsData =
      hash != nil || (!path.isPriority && (request.wantsTag || node.hasDeferredValues))
    let write = WriteRequest(path: path, operation: .set(node), hash: hash)
    let requests = [ClientRequest.write(write)]
    ask(requests + (wantsData ? [.get(path: path, query: .all)] : [])) { [self] responses in
      let data = Self.node(responses.last)
      switch responses.first?.status {
      case StatusCode.ok:
        let shown = isRemoval ? .empty : (wantsData ? data : nil) ?? node
        finish(answer(shown, tag: request.wantsTag && wantsData ? data?.hash : nil))
      case StatusCode.dataStale:
        if attempt + 1 < hashes.count {
          set(path, node, isRemoval: isRemoval, attempt: attempt + 1)
        } else if let data {
          finish(answer(data, status: 412, tag: data.hash))
        } else {
          refuse(responses.last)
        }
      default: refuse(responses.first)
      }
    }
  }

  /// Writes at several paths, and reads again what the server has decided.
  private func merge(_ path: Path, _ changes: [Change]) {
    let open = changes.indices.filter {
      changes[$0].node.hasDeferredValues && !changes[$0].path.isPriority
    }
    let write = WriteRequest(path: path, operation: .merge(changes))
    let reads = open.map { index in
      ClientRequest.get(path: path.appending(changes[index].path), query: .all)
    }
    ask([.write(write)] + reads) { [self] responses in
      guard responses.first?.status == .ok else { return refuse(responses.first) }
      var shown = changes
      for (index, response) in zip(open, responses.dropFirst()) {
        if let node = Self.node(response) { shown[index].node = node }
      }
      let options = request.options
      finish(
        options.answer(
          .object(shown.map { JSONMember($0.path.wireText, $0.node.json(options.form)) })
        )
      )
    }
  }

  private func append(_ path: Path, _ node: Node) {
    let name = core.makePushID()
    let child = path.appending(ChildKey(name))
    ask([.write(WriteRequest(path: child, operation: .set(node)))]) { [self] responses in
      guard responses.first?.status == .ok else { return refuse(responses.first) }
      finish(request.options.answer(.object(("name", .string(name)))))
    }
  }

  // MARK: Answers

  private func answer(
    _ node: Node,
    isSelection: Bool = false,
    status: Int = 200,
    tag: String?
  ) -> HTTPAnswer {
    request.options.answer(
      request.options.json(of: node, isSelection: isSelection),
      status: status,
      etag: tag.map { EntityTag.text(ofHash: $0) }
    )
  }

  private func refuse(_ response: ServerMessage.Response?) {
    finish(RESTError(response ?? ServerMessage.Response(.failure)).answer)
  }

  /// The data in an answer of the hub, or nil when it is a refusal.
  private static func node(_ response: ServerMessage.Response?) -> Node? {
    guard let response, response.status == .ok else { return nil }
    switch response.payload {
    case .json(let json): return try? Node(json: json)
    case .node(let node): return node
    }
  }
}
