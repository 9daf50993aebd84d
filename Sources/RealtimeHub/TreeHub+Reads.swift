internal import RealtimeProtocol
internal import RealtimeTree

extension TreeHub {
  /// Starts a listen, or replaces one of the same path and query.
  mutating func handle(_ listen: ListenRequest, _ origin: RequestOrigin) {
    let key = ListenKey(listen.path, listen.query)
    if let refusal = refusal(of: listen, key, origin.peer) {
      answer(origin, refusal.response, .keep)
      return
    }
    peers[origin.peer]?.listens.insert(key)
    let value = registry.add(origin.peer, key, tag: listen.tag, root: root)
    if value.isEmpty ? !listen.hash.isEmpty : listen.hash.isEmpty || value.hash != listen.hash {
      append(ServerMessage.push(news(of: value, for: listen)).encoded(), to: origin.peer, .drop)
    }
    answer(
      origin,
      ServerMessage.Response(.ok, .json(.object([]))),
      .refuse(request: origin.request, nil)
    )
  }

  /// What a listener is told that has other data: the ranges that differ, where it can take them.
  private func news(of value: Node, for listen: ListenRequest) -> ServerPush {
    let ranges = listen.compoundHash.flatMap {
      CompoundHash(posts: $0.posts, hashes: $0.hashes).changes(to: value)
    }
    // Where all ranges agree, the hashes of the ranges have left the difference out.
    guard let ranges, !ranges.isEmpty else {
      return .data(path: listen.path, value, tag: listen.tag)
    }
    let changes = ranges.map { RangeChange(start: $0.start, end: $0.end, node: $0.node) }
    return .rangeMerge(path: listen.path, changes, tag: listen.tag)
  }

  private func refusal(of listen: ListenRequest, _ key: ListenKey, _ peer: PeerID) -> Refusal? {
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
    return access.refusal(toRead: key.path, key.query, of: root, as: state.credentials)
  }

  private func problem(withReadOf path: Path, _ query: Query) -> String? {
    if let problem = Validation.problem(withPath: path) { return problem }
    if case .child(let child) = query.index { return Validation.problem(withPath: child) }
    return nil
  }

  /// Ends a listen; one that does not exist is no error.
  mutating func unlisten(_ key: ListenKey, _ origin: RequestOrigin) {
    if peers[origin.peer]?.listens.remove(key) != nil { registry.remove(origin.peer, key) }
    answer(origin, .ok)
  }

  /// Reads once.
  mutating func get(_ path: Path, _ query: Query, _ origin: RequestOrigin) {
    if let problem = problem(withReadOf: path, query) {
      answer(origin, Refusal(.invalidData, problem).response, .keep)
      return
    }
    let credentials = peers[origin.peer]?.credentials
    if let refusal = access.refusal(toRead: path, query, of: root, as: credentials) {
      answer(origin, refusal.response, .keep)
      return
    }
    let value = query.evaluate(root[path])
    answer(
      origin,
      ServerMessage.Response(.ok, .node(value)),
      .refuse(request: origin.request, nil)
    )
  }
}
