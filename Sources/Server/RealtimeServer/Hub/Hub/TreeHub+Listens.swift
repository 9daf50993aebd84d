internal import RealtimeCore

extension TreeHub {
  /// Starts a listen, or replaces the peer's listen with the same path and query.
  mutating func handle(_ listen: ListenRequest, of origin: RequestOrigin) {
    let key = ListenKey(listen.path, query: listen.query)
    let isIndexed = isIndexed(key.query, at: key.path)
    if let error = error(in: listen, of: origin.peer, key: key, isIndexed: isIndexed) {
      // To a client that repeats a listen, the refusal means that the listen has ended.
      listens.end(key, of: origin.peer)
      return refuse(origin, with: error)
    }
    access.markAuthorized(origin.peer)
    let isPrompt = isPrompt(key, of: origin.peer)
    let registered = RegisteredListen(key: key, tag: listen.tag, isIndexed: isIndexed)
    let payer = payer(for: origin.peer)
    let value = listens.add(registered, of: origin.peer, payer: payer, in: durability.root)
    let remarks: JSONValue =
      isIndexed ? .object([]) : .object(("w", .array([.string("no_index")])))
    if isComposed(value, for: origin.peer) {
      let content = Composition.Content.listen(
        request: origin.request,
        listen,
        value,
        remarks: remarks
      )
      let output = output(composing: content, to: origin.peer)
      return answer(origin, with: output, isPrompt: isPrompt, orElse: .disconnect)
    }
    if let news = Composition.news(of: value, for: listen) {
      let push = output(.push(news), to: origin.peer)
      if let error = lengthError(of: push) {
        listens.end(key, of: origin.peer)
        return refuse(origin, with: error)
      }
      answer(origin, with: push, isPrompt: isPrompt, orElse: .drop)
    }
    // A refusal would end the listen for good; a disconnected client listens again.
    let response = ServerMessage.Response(.ok, payload: .json(remarks))
    let granted = output(.response(id: origin.request, response), to: origin.peer)
    answer(origin, with: granted, isPrompt: isPrompt, orElse: .disconnect)
  }

  /// Continues a listen of a peer that has the data, or ends it if it is not granted here.
  mutating func resume(_ listen: ListenRequest, of peer: PeerID) {
    let key = ListenKey(listen.path, query: listen.query)
    let isIndexed = isIndexed(key.query, at: key.path)
    let registered = RegisteredListen(key: key, tag: listen.tag, isIndexed: isIndexed)
    _ = listens.add(registered, of: peer, payer: payer(for: peer), in: durability.root)
    guard let state = access.state(of: peer), !grantsListen(key, to: peer, as: state) else {
      return
    }
    revoke(key, of: peer)
  }

  /// Whether a permitted read need not wait for the disk, although something is being stored.
  ///
  /// Its answer must show nothing that could still be lost: neither in the data nor by the decision
  /// of the rules, which may depend on other data. It must not overtake other answers to its peer.
  private func isPrompt(_ key: ListenKey, of peer: PeerID) -> Bool {
    guard durability.isBehind, access.hasDurableRules, durability.isDurable(key.path),
      durability.outbox.hasNone(for: peer), let state = access.state(of: peer)
    else { return false }
    return decision(toRead: key.path, query: key.query, as: state)
      .map { $0.isAllowed && $0.isLasting } ?? true
  }

  /// Why a listen is refused, or nil when it is granted.
  private mutating func error(
    in listen: ListenRequest,
    of peer: PeerID,
    key: ListenKey,
    isIndexed: Bool
  ) -> RequestError? {
    guard let state = access.state(of: peer) else { return nil }
    if let problem = problem(withReadAt: listen.path, query: listen.query) {
      return RequestError(.invalidData, reason: problem)
    }
    if !listen.query.loadsAllData, listen.tag == nil {
      return RequestError(.invalidData, reason: "a listen to a filtered query needs a tag \"t\"")
    }
    guard grantsListen(key, to: peer, as: state) else {
      return readError(at: key.path, query: key.query, as: state)
    }
    // An internal peer would never see the warning.
    if isInternal(peer), !isDeclared(listen.query.index, at: key.path) {
      return RequestError(.failure, reason: missingIndex(of: listen.query, at: key.path))
    }
    if !isIndexed, (durability.root[key.path].children?.count ?? 0) > limits.unindexedChildren {
      return RequestError(
        .failure,
        reason:
          "\(missingIndex(of: key.query, at: key.path)); only \(limits.unindexedChildren)"
          + " children are ordered without an index"
      )
    }
    return listens.refusal(
      of: key,
      isIndexed: isIndexed,
      for: peer,
      payer: payer(for: peer),
      in: durability.root
    )
  }

  /// Who is charged for the listens of a peer.
  private func payer(for peer: PeerID) -> ListenAccounts.Payer? {
    let identity = access.state(of: peer)?.identity ?? .anonymous
    return ListenAccounts.Payer(identity, from: connections[peer]?.network)
  }

  private func problem(withReadAt path: Path, query: Query) -> String? {
    if let problem = Validation.problem(withPath: path) { return problem }
    if case .child(let child) = query.index { return Validation.problem(withPath: child) }
    return nil
  }

  /// Answers a request that reads once.
  mutating func get(_ path: Path, query: Query, of origin: RequestOrigin) {
    do throws(RequestError) {
      let value = try value(of: query, at: path, for: origin.peer)
      let fallback = Outbox.Fallback.refuse(request: origin.request, key: nil)
      let isPrompt = isPrompt(ListenKey(path, query: query), of: origin.peer)
      access.markAuthorized(origin.peer)
      if isComposed(value, for: origin.peer) {
        let content = Composition.Content.answer(request: origin.request, value)
        let output = output(composing: content, to: origin.peer)
        return answer(origin, with: output, isPrompt: isPrompt, orElse: fallback)
      }
      let response = ServerMessage.Response(.ok, payload: .node(value))
      let output = output(.response(id: origin.request, response), to: origin.peer)
      if let error = lengthError(of: output) { throw error }
      answer(origin, with: output, isPrompt: isPrompt, orElse: fallback)
    } catch {
      refuse(origin, with: error)
    }
  }

  private mutating func value(
    of query: Query,
    at path: Path,
    for peer: PeerID
  ) throws(RequestError) -> Node {
    if let problem = problem(withReadAt: path, query: query) {
      throw RequestError(.invalidData, reason: problem)
    }
    if let state = access.state(of: peer),
      let error = readError(at: path, query: query, as: state)
    {
      throw error
    }
    let node = durability.root[path]
    // An internal request that names an order needs its index even if it selects everything.
    let needsIndex = !query.loadsAllData || isInternal(peer)
    guard !needsIndex || isDeclared(query.index, at: path) else {
      throw RequestError(.failure, reason: missingIndex(of: query, at: path))
    }
    if query.loadsAllData { return node }
    return query.evaluate(listens.indexed(by: query.index, at: path, node))
  }

  /// Whether a query needs no order, or an order that is declared and therefore worth keeping.
  private func isIndexed(_ query: Query, at path: Path) -> Bool {
    query.loadsAllData || isDeclared(query.index, at: path)
  }

  /// Whether the rules declare an index, or need not.
  ///
  /// As long as no one has written rules, an index cannot be declared. Every order then counts as
  /// declared, so that a database without rules works, and is fast.
  private func isDeclared(_ index: Index, at path: Path) -> Bool {
    !access.rules.isDocument || access.rules.isIndexed(path, by: index)
  }

  private func missingIndex(of query: Query, at path: Path) -> String {
    let name =
      switch query.index {
      case .key: ".key"
      case .priority: ".priority"
      case .value: ".value"
      case .child(let child): child.wireText
      }
    return "Index not defined, add \".indexOn\": \(JSONValue.string(name).text), "
      + "for path \(JSONValue.string(path.description).text), to the rules"
  }

  // MARK: Large data

  /// Ends the listen of a composition whose data turned out to be too long.
  ///
  /// The messages of such a composition include the refusal. Unknown peers are ignored.
  package mutating func compositionFailed(
    _ composition: Composition,
    of peer: PeerID
  ) -> [HubOutput] {
    if case .listen(_, let listen, _, _) = composition.content {
      listens.end(ListenKey(listen.path, query: listen.query), of: peer)
    }
    return flush()
  }

  /// Whether a node is so large that the owner should encode it for a peer, outside the hub.
  func isComposed(_ node: Node, for peer: PeerID) -> Bool {
    connections[peer]?.isInternal == false
      && NodeMeasure(of: node, bytes: limits.composedBytes).isExceeded
  }

  /// An output that has the owner compose messages.
  func output(composing content: Composition.Content, to peer: PeerID) -> HubOutput {
    .compose(peer, Composition(content: content, byteLimit: limits.responseBytes))
  }

  /// Why a message with data is too long to send, or nil.
  ///
  /// Internal peers check lengths themselves.
  private func lengthError(of output: HubOutput) -> RequestError? {
    guard case .send(_, let message) = output, message.bytes.count > limits.responseBytes else {
      return nil
    }
    return .tooLong(limits.responseBytes)
  }

  // MARK: Current data of listens

  /// The listens of a peer, outer locations first.
  package func listens(of peer: PeerID) -> [ListenKey] {
    listens.accounts.keys(of: peer).sorted { $0.path < $1.path }
  }

  /// A message with the current data of a peer's listen; nil when that no longer exists.
  ///
  /// It replaces pushes that were skipped. Later outputs build on it, provided that all earlier
  /// outputs of the hub have been processed.
  ///
  /// - Complexity: The size of small data; large data is encoded by the owner
  mutating func currentData(of peer: PeerID, listen key: ListenKey) -> HubOutput? {
    guard listens.accounts.contains(key, of: peer) else { return nil }
    let tag = listens.registry.tag(of: key, peer: peer)
    return output(of: durability.durableRoot[key.path], for: key, tag: tag, to: peer)
  }

  /// An output that shows a peer what a listen selects of the data at its path.
  func output(of node: Node, for key: ListenKey, tag: Int64?, to peer: PeerID) -> HubOutput {
    if isComposed(node, for: peer) {
      return output(composing: .data(key, node, tag: tag), to: peer)
    }
    let push = ServerPush.data(path: key.path, key.query.evaluate(node), tag: tag)
    return output(.push(push), to: peer)
  }
}
