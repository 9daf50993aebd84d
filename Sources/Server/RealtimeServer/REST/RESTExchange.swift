internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// Carries out one REST request as a peer of the hub.
///
/// State: reading the body → waiting for its turn, then until a user who writes too fast may write,
/// or for memory → asking (answers of the hub are awaited) → asking again, for the next version in
/// a condition → answered. Confined to the server's event loop.
struct RESTExchange {
  /// The size from which a body is decoded, and an answer encoded, off the event loop; in bytes.
  private static let largeBytes = 32 * 1_024
  /// The approximate size of a key with its quotes and the text after it, in bytes.
  private static let keyBytes = 32

  private let request: RESTRequest
  private let peer: RequestPeer
  private var core: DatabaseCore { peer.core }

  static func run(_ request: RESTRequest, on core: DatabaseCore) -> EventLoopFuture<HTTPReply> {
    let peer = RequestPeer(
      on: core,
      over: request.connection,
      stopReason: "the server is stopping; nothing was written"
    ) {
      request.isGivenUp
    }
    return peer.open(for: request.credential) { _ in
      RESTExchange(request: request, peer: peer).start()
    }
  }

  /// Does work, off the event loop if it is long, and continues with the result.
  private func compute<Result: Sendable>(
    ofBytes bytes: Int,
    mayBegin: @escaping () -> Bool = { true },
    _ work: @escaping @Sendable () -> Result,
    then next: @escaping (Result) -> Void
  ) {
    guard bytes > Self.largeBytes else { return next(work()) }
    core.context.workers.perform(
      for: peer.account,
      isLong: bytes > WorkerPool.longBytes,
      mayBegin: mayBegin,
      isGivenUp: { peer.giveUp() },
      work,
      then: next
    )
  }

  // MARK: Requests

  private func start() {
    guard !request.method.isRead else { return peer.whenItIsTurn { read() } }
    compute(ofBytes: request.bodyLength) { [request] in
      Result { () throws(RESTError) in try request.write() }
    } then: { write in
      peer.whenItIsTurn { start(write) }
    }
  }

  private func start(_ result: Result<RESTRequest.Write?, RESTError>) {
    let write: RESTRequest.Write?
    switch result {
    case .success(let value): write = value
    case .failure(let error): return peer.finish(error.answer)
    }
    guard let write else { return read() }
    guard isSmallEnough(write) else { return peer.finish(RESTError.writeTooBig.answer) }
    guard let id = peer.id, let delay = core.writeDelay(of: id, length: request.bodyLength) else {
      return perform(write)
    }
    // As over a WebSocket, a user who writes too fast has to wait, but is not refused.
    peer.isPending = true
    peer.timers.append(
      core.eventLoop.assumeIsolated().scheduleTask(in: delay) {
        peer.isPending = false
        perform(write)
      }
    )
  }

  /// Whether a write is within the size limit that the request itself sets.
  ///
  /// Data that is replaced counts only if it may be read: otherwise the answer would reveal its
  /// size.
  private func isSmallEnough(_ write: RESTRequest.Write) -> Bool {
    request.options.writeSize.allows { limit in
      var estimate = WriteEstimate(upTo: limit, bytes: request.bodyLength)
      let isKnown = peer.id.map { core.hub.mayRead(request.path, peer: $0) } ?? false
      let replaced = isKnown ? core.hub.snapshot : .empty
      switch write {
      case .set(let path, let node):
        estimate.add(node)
        estimate.add(replaced[path])
      case .remove(let path): estimate.add(replaced[path])
      case .merge(let path, let changes):
        for change in changes {
          estimate.add(change.node)
          estimate.add(replaced[path.appending(change.path)])
        }
      case .append(_, let node): estimate.add(node)
      }
      return estimate.duration
    }
  }

  private func perform(_ write: RESTRequest.Write) {
    switch write {
    case .set(let path, let node): set(path, to: node, isRemoval: false, attempt: 0)
    case .remove(let path): set(path, to: .empty, isRemoval: true, attempt: 0)
    case .merge(let path, let changes): merge(changes, at: path)
    case .append(let path, let node): append(node, at: path)
    }
  }

  private func read() {
    let deadline = request.options.timeout.map { NIODeadline.now() + $0 }
    if let deadline {
      peer.timers.append(
        core.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
          peer.finish(RESTError.readTooSlow.answer)
        }
      )
    }
    peer.whenPossible(toRead: request.options.isShallow ? [] : [request.path]) { get(deadline) }
  }

  private func get(_ deadline: NIODeadline?) {
    // A priority is not data of its own, but belongs to the data above it.
    let isPriority = request.path.isPriority
    let path = (isPriority ? request.path.parent : nil) ?? request.path
    peer.ask(.get(path: path, query: request.query ?? .all)) { response in
      guard response.status == .ok, let found = Self.node(response) else {
        return refuse(response)
      }
      let node = isPriority ? found[Path([.priority])] : found
      let limit = core.options.limits.responseBytes
      // An answer with only the keys is short, unless it includes the tag, which takes all of the
      // data.
      let isShort = request.options.isShallow && !request.wantsTag
      compute(
        ofBytes: isShort ? node.childCount * Self.keyBytes : Self.bytes(of: node),
        mayBegin: { [memory = core.context.memory] in
          isShort || !memory.isExhausted(isWaiting: false)
        }
      ) { [request] in
        let tag = request.wantsTag ? node.exactHash : nil
        if let tag, request.knows(tag) {
          return HTTPAnswer.empty(304, etag: EntityTag.text(ofHash: tag))
        }
        let isSelection = request.query != nil
        let answer = request.answer(node, isSelection: isSelection, tag: tag)
        return answer.body.count > limit ? RESTError.answerTooBig.answer : answer
      } then: { answer in
        // The timeout task cannot run while the answer is being made on this thread.
        let isTooLate = deadline.map { $0 < .now() } ?? false
        peer.finish(isTooLate ? RESTError.readTooSlow.answer : answer)
      }
    }
  }

  /// The approximate size of data as JSON, in bytes, counted only as far as it matters.
  private static func bytes(of node: Node) -> Int {
    NodeMeasure(of: node, bytes: WorkerPool.longBytes).bytes
  }

  /// Replaces the data at a path, if its version is one of those in the condition.
  private func set(_ path: Path, to node: Node, isRemoval: Bool, attempt: Int) {
    let hashes = request.requiredHashes
    let hash = attempt < hashes.count ? hashes[attempt] : nil
    peer.ask(.write(WriteRequest(path: path, operation: .set(node), hash: hash))) { response in
      let data = Self.node(response)
      switch response.status {
      case .ok:
        let wantsTag = request.wantsTag && !path.isPriority
        answer(isRemoval ? .empty : data ?? node, taggedBy: wantsTag ? data : nil)
      case .dataStale where attempt + 1 < hashes.count:
        set(path, to: node, isRemoval: isRemoval, attempt: attempt + 1)
      case .dataStale:
        // A client that may not read only learns that the data has changed.
        guard let data else { return refuse(response) }
        answer(data, status: 412, taggedBy: data)
      default: refuse(response)
      }
    }
  }

  /// Writes at several paths, and answers with the values that the server has determined for them.
  private func merge(_ changes: [Change], at path: Path) {
    peer.ask(.write(WriteRequest(path: path, operation: .merge(changes)))) { response in
      guard response.status == .ok else { return refuse(response) }
      let data = Self.node(response) ?? .empty
      let options = request.options
      let members = changes.map { change in
        let node = change.node.hasDeferredValues ? data[change.path] : change.node
        return JSONMember(change.path.wireText, node.json(options.form))
      }
      peer.finish(options.answer(.object(members)))
    }
  }

  private func append(_ node: Node, at path: Path) {
    let name = core.context.makePushID()
    let child = path.appending(ChildKey(name))
    peer.ask(.write(WriteRequest(path: child, operation: .set(node)))) { response in
      guard response.status == .ok else { return refuse(response) }
      peer.finish(request.options.answer(.object(("name", .string(name)))))
    }
  }

  // MARK: Answers

  /// Answers a write with data, tagged with the version of other data.
  private func answer(_ node: Node, status: Int = 200, taggedBy version: Node?) {
    compute(ofBytes: Self.bytes(of: node) + (version.map { Self.bytes(of: $0) } ?? 0)) {
      [request] in
      request.answer(node, status: status, tag: version?.exactHash)
    } then: { answer in
      peer.finish(answer)
    }
  }

  private func refuse(_ response: ServerMessage.Response) {
    peer.finish(core.restError(response).answer)
  }

  /// The data in an answer of the hub, or nil when there is none.
  private static func node(_ response: ServerMessage.Response) -> Node? {
    switch response.payload {
    case .json: nil
    case .node(let node): node
    }
  }
}
