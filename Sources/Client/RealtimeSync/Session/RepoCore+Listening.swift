import RealtimeCore

extension RepoCore {
  mutating func observe(
    _ listener: ListenerID,
    at path: Path,
    query: Query,
    _ events: Set<EventKind>
  ) {
    stopObserving(listener)
    let place = Place(path: path, query: query)
    listeners[listener] = place
    register(Registration(owner: .listener(listener), kinds: events), at: place)
  }

  mutating func stopObserving(_ listener: ListenerID) {
    guard let place = listeners.removeValue(forKey: listener) else { return }
    unregister(.listener(listener), at: place)
  }

  mutating func stopObservingAll(at path: Path, query: Query) {
    let tree = path.isInfo ? info : sync
    // The default query last, so that the others need not be listened to in between.
    let found = tree.registrations(at: path, query: query).sorted {
      !$0.query.loadsAllData && $1.query.loadsAllData
    }
    for (_, owner) in found {
      if case .listener(let listener) = owner { stopObserving(listener) }
    }
  }

  mutating func keepSynced(_ place: Place, _ isOn: Bool) {
    if isOn {
      guard keptSynced.insert(place).inserted else { return }
      register(Registration(owner: .keepSynced, kinds: []), at: place)
      offline?.setKept(place, true)
    } else if keptSynced.remove(place) != nil {
      offline?.setKept(place, false)
      unregister(.keepSynced, at: place)
    }
  }

  mutating func register(_ registration: Registration, at place: Place) {
    if place.path.isInfo {
      let result = info.add(registration, at: place.path, query: place.query)
      raise(result.events)
      for case .start(let target) in result.actions { fillInfo(target) }
      return
    }
    var stored: (node: Node, isExact: Bool)?
    var data = StoredData.nothing
    if sync.isUnknown(at: place.path, query: place.query) {
      stored = offline?.load(place, now: now.wall)
      data =
        stored.map { .all($0.node) } ?? .some(offline?.children(of: place.path) ?? .empty)
    }
    let result = sync.add(registration, at: place.path, query: place.query, stored: data)
    perform(result.actions, stored.map { (place.normalized, $0) })
    if stored != nil, result.actions.isEmpty, let target = sync.covering(place) {
      // The listen above has yet to confirm these data.
      listens.startedFromStore(target)
    }
    raise(result.events)
  }

  mutating func unregister(_ owner: Registration.Owner, at place: Place) {
    if place.path.isInfo {
      let result = info.remove(owner, at: place.path, query: place.query)
      for case .start(let target) in result.actions { fillInfo(target) }
    } else {
      perform(sync.remove(owner, at: place.path, query: place.query).actions)
    }
  }

  /// Starts and stops listens; one of them may start with data of the store.
  private mutating func perform(
    _ actions: [ListenAction],
    _ loaded: (place: Place, stored: (node: Node, isExact: Bool))? = nil
  ) {
    for action in actions {
      switch action {
      case .start(let target):
        let serial = listens.start(target)
        let stored = loaded?.place == target.place ? loaded?.stored : nil
        if stored != nil { listens.startedFromStore(target) }
        let exact = stored?.isExact == true ? stored?.node : nil
        offline?.begin(target, loaded: exact, now: now.wall)
        sendListen(target, serial: serial)
      case .stop(let target):
        guard listens.stop(target) else { continue }
        offline?.end(target, now: now.wall)
        send(.unlisten(path: target.path, query: target.query, tag: target.tag), for: .other)
      }
    }
  }

  mutating func sendListen(_ target: ListenTarget, serial: Int64) {
    guard isConnected else { return }
    let known = sync.serverNode(of: target)
    let compound = CompoundHash.worthSending(of: known)
    let request = ListenRequest(
      path: target.path,
      query: target.query,
      tag: target.tag,
      hash: known.hash,
      compoundHash: compound.map { .init(hashes: $0.hashes, posts: $0.posts) }
    )
    send(.listen(request), for: .listen(serial: serial, target))
  }

  /// Takes the answer to a listen; one that ended in the meantime does not count.
  mutating func listenAnswered(_ serial: Int64, _ response: ServerMessage.Response) {
    guard let target = listens.targets[serial] else { return }
    guard response.status == .ok else { return cancel(target, response.status, response.reason) }
    if let warnings = response.json?["w"]?.elements, !warnings.isEmpty {
      let text = warnings.compactMap(\.string).joined(separator: ", ")
      log("the server warns of the listen at \(target.path): \(text)")
    }
    listens.markCurrent(target)
    let events = sync.completeListen(at: target.path, tag: target.tag)
    offline?.complete(target, with: sync.serverNode(of: target))
    raise(events, changedAt: target.path)
  }

  /// Ends the listens that the server has revoked.
  mutating func listensRevoked(at path: Path, queries: [Query]?) {
    let targets = listens.targets(at: path, queries: queries)
    if connection.isAuthenticating {
      connection.unsettledTargets += targets
    } else {
      for target in targets { cancel(target, .permissionDenied, "") }
    }
  }

  private mutating func cancel(_ target: ListenTarget, _ status: StatusCode, _ reason: String) {
    listens.stop(target)
    offline?.refuse(target)
    let result = sync.cancel(target)
    perform(result.actions)
    let ended = keptSynced.filter {
      $0.path == target.path && (target.tag == nil || $0.query == target.query)
    }
    keptSynced.subtract(ended)
    for case .listener(let listener) in result.ended {
      listeners[listener] = nil
      outputs.append(.listenerCancelled(listener, status, reason: reason))
    }
  }

  // MARK: The client's own data

  mutating func updateInfo(_ path: Path, to node: Node) {
    guard infoData[path] != node else { return }
    infoData.update(at: path, to: node)
    raise(info.overwrite(at: path, with: node))
  }

  private mutating func fillInfo(_ target: ListenTarget) {
    let node = infoData[target.path]
    guard !node.isEmpty else { return }
    raise(info.overwrite(at: target.path, with: node, tag: target.tag))
  }
}
