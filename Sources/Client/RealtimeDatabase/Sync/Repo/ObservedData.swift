import RealtimeCore

struct DataChange: Sendable {
  var outputs: [RepoOutput] = []
  /// Whether any registration saw a difference, including those of transactions.
  var hasEvents = false
}

/// The result of a change to registrations: first perform the commands, then the outputs.
struct RegistrationChange: Sendable {
  var commands: [ListenCommand] = []
  var outputs: [RepoOutput] = []
}

/// The client's knowledge of the database: the views of all registrations, the listens that feed
/// these views, and what a store keeps of them.
///
/// It also issues the numbers that put things in order: writes (and so their keys), waiting
/// requests and transactions.
struct ObservedData: Sendable {
  private(set) var sync = SyncTree()
  private(set) var listens = ListenTable()
  private var info = InfoTree()
  private var listeners: [ListenerID: QuerySpec] = [:]
  private var keptSynced: Set<QuerySpec> = []
  private var offline: OfflineCache?
  private var lastNumber: Int64 = 0
  /// The server's clock minus the local one, in milliseconds.
  private(set) var serverTimeOffset: Int64 = 0

  mutating func makeNumber() -> Int64 {
    lastNumber += 1
    return lastNumber
  }

  /// The server's time, as estimated locally.
  func serverTime(at time: RepoTime) -> Int64 { time.wall &+ serverTimeOffset }

  // MARK: Registrations

  mutating func observe(
    _ listener: ListenerID,
    spec: QuerySpec,
    kinds: Set<DataEventType>,
    at time: RepoTime
  ) -> RegistrationChange {
    listeners[listener] = spec
    return register(Registration(owner: .listener(listener), kinds: kinds), spec: spec, at: time)
  }

  mutating func stopObserving(_ listener: ListenerID, at time: RepoTime) -> RegistrationChange {
    guard let spec = listeners.removeValue(forKey: listener) else { return RegistrationChange() }
    return unregister(.listener(listener), spec: spec, at: time)
  }

  mutating func setKeptSynced(
    _ spec: QuerySpec,
    to isOn: Bool,
    at time: RepoTime
  ) -> RegistrationChange {
    let owner = Registration.Owner.keepSynced(spec.query)
    if isOn {
      guard keptSynced.insert(spec).inserted else { return RegistrationChange() }
      let change = register(Registration(owner: owner, kinds: []), spec: spec, at: time)
      offline?.setKept(spec, to: true)
      return change
    }
    let wasKept = keptSynced.remove(spec) != nil
    // The previous process may have kept it.
    if !keepsSynced(spec.normalized) { offline?.setKept(spec, to: false) }
    return wasKept ? unregister(owner, spec: spec, at: time) : RegistrationChange()
  }

  /// Whether the data of a listen is kept synced, in any order.
  private func keepsSynced(_ listen: QuerySpec) -> Bool {
    keptSynced.contains { $0.path == listen.path && $0.normalized == listen }
  }

  mutating func register(
    _ registration: Registration,
    spec: QuerySpec,
    at time: RepoTime
  ) -> RegistrationChange {
    if spec.path.isInfo {
      return RegistrationChange(outputs: raising { $0.info.add(registration, spec: spec) }.outputs)
    }
    var stored: (node: Node, isExact: Bool)?
    var children = Node.empty
    if sync.isUnknown(at: spec.path, query: spec.query) {
      stored = offline?.load(spec, now: time.wall)
      if stored == nil { children = offline?.children(for: spec) ?? .empty }
    }
    let result = sync.add(
      registration,
      at: spec.path,
      query: spec.query,
      stored: stored?.node,
      storedChildren: children
    )
    let loaded = stored.map { (spec: spec.normalized, node: $0.node, isExact: $0.isExact) }
    let commands = carryOut(result.actions, loaded: loaded, at: time)
    if stored != nil, result.actions.isEmpty, let target = sync.covering(spec) {
      // The listen above has yet to confirm this data.
      listens.startedFromStore(target)
    }
    return RegistrationChange(commands: commands, outputs: raised(result.events).outputs)
  }

  mutating func unregister(
    _ owner: Registration.Owner,
    spec: QuerySpec,
    at time: RepoTime
  ) -> RegistrationChange {
    if spec.path.isInfo {
      return RegistrationChange(outputs: raising { $0.info.remove(owner, spec: spec) }.outputs)
    }
    let result = sync.remove(owner, at: spec.path, query: spec.query)
    return RegistrationChange(commands: carryOut(result.actions, at: time))
  }

  /// Starts and stops listens; one of them may start with data from the store.
  private mutating func carryOut(
    _ actions: [ListenAction],
    loaded: (spec: QuerySpec, node: Node, isExact: Bool)? = nil,
    at time: RepoTime
  ) -> [ListenCommand] {
    var commands: [ListenCommand] = []
    for action in actions {
      switch action {
      case .start(let target):
        let serial = listens.start(target)
        let stored = loaded?.spec == target.spec ? loaded : nil
        if stored != nil { listens.startedFromStore(target) }
        let exact = stored?.isExact == true ? stored?.node : nil
        offline?.begin(target, loaded: exact, now: time.wall)
        if keepsSynced(target.spec) { offline?.setKept(target.spec, to: true) }
        commands.append(.listen(serial: serial, target, known: sync.serverNode(of: target)))
      case .stop(let target):
        guard listens.stop(target) else { continue }
        offline?.end(target, now: time.wall)
        commands.append(.unlisten(target))
      }
    }
    return commands
  }

  // MARK: Listens

  /// The commands that give a new connection all listens, in the order in which they were started.
  var allListenCommands: [ListenCommand] {
    listens.targets.map { serial, target in
      .listen(serial: serial, target, known: sync.serverNode(of: target))
    }
  }

  /// The command that restarts a listen; nil if it has ended.
  func listenCommand(for target: ListenTarget) -> ListenCommand? {
    listens.serial(of: target).map { serial in
      .listen(serial: serial, target, known: sync.serverNode(of: target))
    }
  }

  /// The server has sent all data of a listen, or the listen was sent with these data already.
  mutating func listenCompleted(_ target: ListenTarget, known: Node) -> DataChange {
    let confirmed = listens.isCurrent(target) ? nil : known
    listens.markCurrent(target)
    let events = sync.applyListenComplete(
      at: target.path,
      tag: target.tag,
      confirming: confirmed
    )
    offline?.complete(target, with: sync.serverNode(of: target))
    return raised(events)
  }

  /// The server rejected a listen: removes and reports all registrations that depend on it.
  mutating func cancel(
    _ target: ListenTarget,
    with outcome: Outcome,
    at time: RepoTime
  ) -> RegistrationChange {
    listens.stop(target)
    offline?.refuse(target)
    let result = sync.cancel(target)
    var change = RegistrationChange(commands: carryOut(result.actions, at: time))
    keptSynced = keptSynced.filter {
      $0.path != target.path || (target.tag != nil && $0.query != target.query)
    }
    for case .listener(let listener) in result.ended {
      listeners[listener] = nil
      change.outputs.append(.listenerCancelled(listener, outcome))
    }
    return change
  }

  mutating func connectionLost() {
    listens.connectionLost()
  }

  // MARK: Data from the server

  mutating func applyServerOverwrite(at path: Path, with node: Node, tag: Int64?) -> DataChange {
    let events = sync.applyServerOverwrite(at: path, with: node, tag: tag)
    offline?.follow([path], tag: tag, in: sync)
    if let target = sync.target(at: path, tag: tag) {
      // This is all data of a listen, even if its answer is still to come.
      listens.markCurrent(target)
      offline?.complete(target, with: sync.serverNode(of: target))
    }
    return raised(events)
  }

  mutating func applyServerMerge(at path: Path, changes: [Change], tag: Int64?) -> DataChange {
    let events = sync.applyServerMerge(at: path, changes: changes, tag: tag)
    if offline != nil {
      let changed = Overlay(changes).changes.map { path.appending($0.path) }
      offline?.follow(changed, tag: tag, in: sync)
    }
    return raised(events)
  }

  /// The server answered a compound hash with the ranges that differ.
  ///
  /// The closure tells whether a listen (a target and its serial number) is still unanswered.
  mutating func applyServerRanges(
    _ ranges: [RangeMerge],
    at path: Path,
    tag: Int64?,
    isAwaited: (ListenTarget, Int64) -> Bool
  ) -> DataChange {
    // The ranges are relative to the data that the listen was sent with.
    guard let target = sync.target(at: path, tag: tag),
      let serial = listens.serial(of: target), isAwaited(target, serial)
    else { return DataChange() }
    listens.markCurrent(target)
    let events = sync.applyServerRanges(ranges, to: target)
    offline?.follow([path], tag: tag, in: sync)
    return raised(events)
  }

  mutating func applyGet(_ node: Node, spec: QuerySpec, at time: RepoTime) -> DataChange {
    offline?.keep(node, of: spec, now: time.wall)
    return raising { $0.sync.applyServerOverwrite(of: spec, with: node) }
  }

  /// The server denied a read.
  mutating func refuseGet(_ spec: QuerySpec) { offline?.refuse(spec) }

  /// The connection has ended, so the server performs the write that was scheduled for its end.
  mutating func applyDisconnectWrite(_ change: Change, at time: RepoTime) -> DataChange {
    let node = resolve(change.node, at: change.path, time: time)
    let events = sync.applyServerOverwrite(at: change.path, with: node)
    offline?.follow([change.path], tag: nil, in: sync)
    let known = Change(change.path, to: node)
    offline?.acknowledge(
      [known],
      in: sync,
      now: time.wall,
      isUnconfirmed: listens.isUnconfirmed
    )
    return raised(events)
  }

  // MARK: Writes of this client

  /// Shows a write and keeps it until it is answered; a stored one may be sent by a later process.
  mutating func applyUserWrite(
    _ request: WriteRequest,
    number: Int64,
    owner: String?,
    key: @autoclosure () -> WriteKey,
    isStored: Bool,
    at time: RepoTime
  ) -> DataChange {
    let path = request.path
    let estimate = resolve(request.operation, at: path, time: time)
    if isStored, offline != nil {
      let write = StoredWrite(
        number: number,
        key: key(),
        path: path,
        operation: request.operation,
        estimate: estimate,
        owner: owner
      )
      offline?.append(.saveWrite(write))
    }
    let pending = PendingWrite(id: number, path: path, operation: estimate, isVisible: true)
    return raising { $0.sync.applyUserWrite(pending) }
  }

  /// The server answered a write, or the write was discarded.
  mutating func ackUserWrite(_ number: Int64, isAccepted: Bool, at time: RepoTime) -> DataChange {
    offline?.append(.removeWrite(number))
    if isAccepted, offline != nil, let parts = sync.writes.parts(of: number) {
      offline?.acknowledge(
        parts,
        in: sync,
        now: time.wall,
        isUnconfirmed: listens.isUnconfirmed
      )
    }
    return raising { $0.sync.ackUserWrite(number, isAccepted: isAccepted) }
  }

  /// Shows the output of a transaction, in place of its earlier output if it had one.
  mutating func applyTransaction(_ write: PendingWrite, replacing earlier: Int64?) -> DataChange {
    var events = sync.applyUserWrite(write)
    if let earlier { events += sync.ackUserWrite(earlier, isAccepted: false) }
    return raised(events)
  }

  /// The write of a transaction was accepted or withdrawn.
  mutating func ackTransaction(_ number: Int64, isAccepted: Bool) -> DataChange {
    raising { $0.sync.ackUserWrite(number, isAccepted: isAccepted) }
  }

  /// Reverts all writes at once, so that no intermediate state is shown.
  mutating func revertAllWrites() -> DataChange {
    raising { $0.sync.removeAllWrites() }
  }

  // MARK: Server values

  private mutating func resolve(
    _ operation: WriteOperation,
    at path: Path,
    time: RepoTime
  ) -> WriteOperation {
    switch operation {
    case .set(let node): return .set(resolve(node, at: path, time: time))
    case .merge(let changes):
      return .merge(
        changes.map {
          Change($0.path, to: resolve($0.node, at: path.appending($0.path), time: time))
        }
      )
    }
  }

  /// Estimates the server values in a node, based on the data that this client would see.
  private mutating func resolve(_ node: Node, at path: Path, time: RepoTime) -> Node {
    guard node.hasDeferredValues else { return node }
    let isUnknown = sync.isUnknown(at: path, query: .all)
    let spec = QuerySpec(path: path, query: .all)
    let stored = isUnknown ? offline?.load(spec, now: time.wall)?.node : nil
    return node.resolvingDeferred(
      existing: sync.latest(at: path, stored: stored),
      timestamp: serverTime(at: time)
    )
  }

  // MARK: Reading

  /// The data that an observer of a query would see now, or nil while it is incomplete.
  func cachedValue(of spec: QuerySpec) -> Node? {
    spec.path.isInfo
      ? info.value(of: spec) : sync.cachedValue(at: spec.path, query: spec.query)
  }

  /// Like ``cachedValue(of:)``, but nil for data from a store that no server has confirmed.
  func confirmedValue(of spec: QuerySpec) -> (node: Node, metadata: DataMetadata)? {
    if !spec.path.isInfo, let target = sync.covering(spec), listens.isUnconfirmed(target) {
      return nil
    }
    return cachedValue(of: spec).map { ($0, metadata(of: $0, spec: spec)) }
  }

  /// What an observer of a query would see of all locally known data, however old.
  mutating func knownValue(
    of spec: QuerySpec,
    at time: RepoTime
  ) -> (node: Node, metadata: DataMetadata)? {
    if let node = cachedValue(of: spec) { return (node, metadata(of: node, spec: spec)) }
    guard !spec.path.isInfo, let stored = offline?.load(spec, now: time.wall) else { return nil }
    let node = sync.value(of: spec, over: stored.node)
    return (node, metadata(of: node, spec: spec))
  }

  private func metadata(of node: Node, spec: QuerySpec) -> DataMetadata {
    if spec.path.isInfo { return DataMetadata() }
    return DataMetadata(
      isFromCache: !isCurrent(spec),
      hasPendingWrites: sync.hasPendingWrites(spec, child: nil, in: node)
    )
  }

  /// Whether the data of a query is the server's, on this connection.
  private func isCurrent(_ spec: QuerySpec) -> Bool {
    sync.covering(spec).map { listens.isCurrent($0) } ?? false
  }

  /// Changes the data, and raises the events of that.
  private mutating func raising(_ change: (inout ObservedData) -> [ViewEvent]) -> DataChange {
    // Made in the argument of the next call, the change would copy all of the data.
    let events = change(&self)
    return raised(events)
  }

  /// Addresses events to their listeners, and adds metadata on where the data comes from.
  private func raised(_ events: [ViewEvent]) -> DataChange {
    var change = DataChange(hasEvents: !events.isEmpty)
    var source: (spec: QuerySpec, isCurrent: Bool)?
    for event in events {
      guard case .listener(let listener) = event.owner, let spec = listeners[listener] else {
        continue
      }
      var data = event.event
      if !spec.path.isInfo {
        let isCurrent = source?.spec == spec ? source?.isCurrent == true : isCurrent(spec)
        source = (spec, isCurrent)
        data.metadata.isFromCache = !isCurrent
        data.metadata.hasPendingWrites =
          sync.hasPendingWrites(spec, child: data.key, in: data.node)
      }
      change.outputs.append(.raise(listener, data))
    }
    return change
  }

  // MARK: The client's own data

  mutating func setConnected(_ isConnected: Bool) -> DataChange {
    raising { $0.info.set(InfoPath.connected, to: .bool(isConnected)) }
  }

  /// Sets the server's clock; a time that no key can tell counts as the nearest that one can, so that
  /// programs may reckon with it.
  mutating func setServerTime(_ serverTime: Int64, at time: RepoTime) -> DataChange {
    serverTimeOffset = min(max(0, serverTime), PushIDGenerator.latest) &- time.wall
    let offset = Node.integer(serverTimeOffset)
    return raising { $0.info.set(InfoPath.serverTimeOffset, to: offset) }
  }

  // MARK: The store

  /// Restores what previous processes stored; from then on, changes are collected for the store.
  mutating func restore(_ state: OfflineState, read: @escaping @Sendable (Int64) -> Node?) {
    assert(lastNumber == 0, "the engine has already been used")
    offline = OfflineCache(state.queries, read: read)
    for write in state.writes {
      lastNumber = max(lastNumber, write.number)
      let pending = PendingWrite(
        id: write.number,
        path: write.path,
        operation: write.estimate,
        isVisible: true
      )
      _ = sync.applyUserWrite(pending)
    }
  }

  /// Removes and returns the changes for the store since the last call.
  mutating func takeStoreChanges() -> [OfflineChange] { offline?.takeChanges() ?? [] }

  /// Drops the least recently used data from the store, if it has grown too large.
  mutating func pruneStore(ofSize size: Int64, configuration: RepoConfiguration) {
    offline?.prune(
      size: size,
      byteLimit: configuration.offlineBytes,
      queryLimit: configuration.offlineQueries
    )
  }
}
