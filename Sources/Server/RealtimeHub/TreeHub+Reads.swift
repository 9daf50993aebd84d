internal import RealtimeCore
internal import SecurityRules

extension TreeHub {
  /// Starts a listen, or replaces one of the same path and query.
  mutating func handle(_ listen: ListenRequest, _ origin: RequestOrigin) {
    let key = ListenKey(listen.path, listen.query)
    let isIndexed = isIndexed(key.query, at: key.path)
    if let refusal = refusal(of: listen, key, isIndexed: isIndexed, origin.peer) {
      // A client takes the refusal for the end of a listen that it has repeated.
      endListen(key, of: origin.peer)
      answer(origin, refusal.response, .keep)
      return
    }
    peers[origin.peer]?.listens.insert(key)
    peers[origin.peer]?.isLetIn = true
    let registered = RegisteredListen(key: key, tag: listen.tag, isIndexed: isIndexed)
    let value = registry.add(origin.peer, registered, root: root, &orders)
    let remarks: JSONValue =
      isIndexed ? .object([]) : .object(("w", .array([.string("no_index")])))
    if isComposed(value, for: origin.peer) {
      let content = Composition.Content.listen(
        request: origin.request,
        listen,
        value,
        remarks: remarks
      )
      append(output(composing: content, to: origin.peer), to: origin.peer, .disconnect)
      return
    }
    if Composition.isNews(value, for: listen) {
      let push = output(.push(Composition.news(of: value, for: listen)), to: origin.peer)
      if let refusal = refusal(ofLength: push) {
        endListen(key, of: origin.peer)
        answer(origin, refusal.response, .keep)
        return
      }
      append(push, to: origin.peer, .drop)
    }
    // Refused it would be over for good; who has been disconnected asks again.
    answer(origin, ServerMessage.Response(.ok, .json(remarks)), .disconnect)
  }

  private mutating func refusal(
    of listen: ListenRequest,
    _ key: ListenKey,
    isIndexed: Bool,
    _ peer: PeerID
  ) -> Refusal? {
    guard let state = peers[peer] else { return nil }
    if let problem = problem(withReadOf: listen.path, listen.query) {
      return Refusal(.invalidData, problem)
    }
    if !listen.query.loadsAllData, listen.tag == nil {
      return Refusal(.invalidData, "a listen to a filtered query needs a tag \"t\"")
    }
    if state.listens.count >= limits.listensPerPeer, !state.listens.contains(key) {
      return Refusal(
        .unavailable,
        "one connection cannot have more than \(limits.listensPerPeer) listens"
      )
    }
    guard grantsListen(key, to: peer, as: state.standing) else {
      return refusal(toRead: key.path, key.query, as: state.standing)
    }
    // Where listens come from requests of other kinds, nobody would see the remark.
    if state.isInternal, !isDeclared(listen.query.index, at: key.path) {
      return Refusal(.failure, missingIndex(listen.query, at: key.path))
    }
    if !isIndexed, (root[key.path].children?.count ?? 0) > limits.unindexedChildren {
      return Refusal(
        .failure,
        "\(missingIndex(key.query, at: key.path)); only \(limits.unindexedChildren) children are "
          + "ordered without an index"
      )
    }
    return nil
  }

  private func problem(withReadOf path: Path, _ query: Query) -> String? {
    if let problem = Validation.problem(withPath: path) { return problem }
    if case .child(let child) = query.index { return Validation.problem(withPath: child) }
    return nil
  }

  /// Ends a listen; one that does not exist is no error.
  mutating func unlisten(_ key: ListenKey, _ origin: RequestOrigin) {
    endListen(key, of: origin.peer)
    answer(origin, .ok)
  }

  /// Reads once.
  mutating func get(_ path: Path, _ query: Query, _ origin: RequestOrigin) {
    do throws(Refusal) {
      let value = try value(of: query, at: path, for: origin.peer)
      peers[origin.peer]?.isLetIn = true
      if isComposed(value, for: origin.peer) {
        let content = Composition.Content.answer(request: origin.request, value)
        append(
          output(composing: content, to: origin.peer),
          to: origin.peer,
          .refuse(request: origin.request, nil)
        )
        return
      }
      let response = ServerMessage.Response(.ok, .node(value))
      let output = output(.response(id: origin.request, response), to: origin.peer)
      if let refusal = refusal(ofLength: output) { throw refusal }
      append(output, to: origin.peer, .refuse(request: origin.request, nil))
    } catch {
      answer(origin, error.response, .keep)
    }
  }

  private mutating func value(
    of query: Query,
    at path: Path,
    for peer: PeerID
  ) throws(Refusal) -> Node {
    if let problem = problem(withReadOf: path, query) { throw Refusal(.invalidData, problem) }
    if let standing = peers[peer]?.standing,
      let refusal = refusal(toRead: path, query, as: standing)
    {
      throw refusal
    }
    let node = root[path]
    // A request that names an order is told of a missing index also when it takes everything.
    let needsIndex = !query.loadsAllData || peers[peer]?.isInternal == true
    guard !needsIndex || isDeclared(query.index, at: path) else {
      throw Refusal(.failure, missingIndex(query, at: path))
    }
    if query.loadsAllData { return node }
    let indexed = orders.indexed(by: query.index, at: path, node)
    let selected = query.select(from: indexed).map { (key: $0.key, value: $0.node) }
    return Node(sortedChildren: selected.sorted { $0.key < $1.key })
  }

  /// Whether the order that a query needs, if it needs one, is worth keeping.
  private func isIndexed(_ query: Query, at path: Path) -> Bool {
    query.loadsAllData || isDeclared(query.index, at: path)
  }

  /// Whether the rules declare an index, or need not.
  ///
  /// While nobody has written rules there is no place to declare an index: every order counts as
  /// declared then, so that a database without rules works without them, and fast.
  private func isDeclared(_ index: Index, at path: Path) -> Bool {
    !rules.isDocument || rules.isIndexed(path, by: index)
  }

  private func missingIndex(_ query: Query, at path: Path) -> String {
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
}
