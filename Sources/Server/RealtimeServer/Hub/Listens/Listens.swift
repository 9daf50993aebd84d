internal import RealtimeCore

/// The listens of all peers, and the pushes that a commit causes.
///
/// A listen is granted and added and then receives commits. It ends at the request of its peer, or
/// when the peer may no longer read the data. A listen whose permission depends on data or on the
/// time is conditional: it is reviewed whenever there is something to push.
struct Listens: Sendable {
  private(set) var registry = ListenRegistry()
  private var conditional = ConditionalListens()
  private(set) var cache: IndexCache
  private(set) var accounts: ListenAccounts
  /// For each peer with listens, the last commit at the time its condition last failed.
  private var lastStale: [PeerID: Int64] = [:]
  private let limits: ServerLimits

  init(_ limits: ServerLimits) {
    self.limits = limits
    cache = IndexCache(limits)
    accounts = ListenAccounts(limits)
  }

  // MARK: Listens of a peer

  /// Why a peer cannot have another listen, or nil if it can.
  func refusal(
    of key: ListenKey,
    isIndexed: Bool,
    for peer: PeerID,
    payer: ListenAccounts.Payer?,
    in root: Node
  ) -> RequestError? {
    if accounts.contains(key, of: peer) { return nil }
    if accounts.count(of: peer) >= limits.listens {
      return RequestError(
        .unavailable,
        reason: "one connection cannot have more than \(limits.listens) listens"
      )
    }
    if !isIndexed, !hasOrder(for: key),
      cache[key.path].count(where: { !$0.isDeclared }) >= limits.undeclaredOrders
    {
      return RequestError(
        .unavailable,
        reason: "one location cannot have more than \(limits.undeclaredOrders) orders without an "
          + "index in the rules"
      )
    }
    let cost = cost(of: key, isIndexed: isIndexed, for: peer, in: root)
    guard accounts.canAfford(cost, payer: payer) else {
      return RequestError(.unavailable, reason: "the listens of this user cost others too much")
    }
    return nil
  }

  /// Whether the order that a listen needs exists.
  private func hasOrder(for key: ListenKey) -> Bool {
    cache[key.path].contains { $0.index == key.query.index }
  }

  /// What a listen costs others: the time that each commit takes longer, and memory.
  ///
  /// A filtered listen adds to the work of every commit at its location. An order without an index
  /// in the rules also takes memory for each child.
  private func cost(
    of key: ListenKey,
    isIndexed: Bool,
    for peer: PeerID,
    in root: Node
  ) -> Int {
    guard !key.query.loadsAllData else { return 1 }
    var cost = 1 + accounts.windowCount(of: peer, at: key.path) / 8
    if let others = registry.windows(beside: key) { cost += 8 + others / 64 }
    if !isIndexed, !hasOrder(for: key) { cost += root[key.path].childCount / 10 }
    return cost
  }

  mutating func add(
    _ listen: RegisteredListen,
    of peer: PeerID,
    payer: ListenAccounts.Payer?,
    in root: Node
  ) -> Node {
    let key = listen.key
    if !accounts.contains(key, of: peer) {
      let cost = cost(of: key, isIndexed: listen.isIndexed, for: peer, in: root)
      accounts.add(key, cost: cost, of: peer, payer: payer)
    }
    return registry.add(listen, of: peer, in: root, cache: &cache)
  }

  /// Removes a listen; it is not an error if the listen does not exist or was never granted.
  mutating func end(_ key: ListenKey, of peer: PeerID) {
    conditional.remove(key, of: peer)
    guard accounts.remove(key, of: peer) else { return }
    registry.remove(key, of: peer, cache: &cache)
  }

  mutating func endAll(of peer: PeerID) {
    for key in accounts.keys(of: peer) { end(key, of: peer) }
    lastStale[peer] = nil
  }

  /// Removes all listens, since none of them matches the tree any more.
  mutating func removeAll() {
    self = Listens(limits)
  }

  // MARK: Permissions

  /// Sets whether a granted listen must be reviewed when there is something to push.
  mutating func setConditional(_ isConditional: Bool, for key: ListenKey, of peer: PeerID) {
    if isConditional {
      conditional.insert(key, of: peer)
    } else {
      conditional.remove(key, of: peer)
    }
  }

  /// The conditional listens that a commit may affect, ordered by path, query and peer.
  func conditional(affectedBy effect: CommitEffect) -> [(peer: PeerID, key: ListenKey)] {
    conditional.isEmpty ? [] : conditional.affected(by: effect)
  }

  // MARK: Data

  /// Applies a commit and returns the pushes to listeners.
  mutating func update(_ effect: CommitEffect, revision: Int64) -> [ListenRegistry.Push] {
    let replaced = cache.update(effect)
    return registry.update(effect, revision: revision, cache: cache, replaced: replaced)
  }

  /// The listen through which a peer whose condition has failed is sent the current data.
  ///
  /// A large value is not sent to a peer that is sent its changes anyway, ahead of the response:
  /// otherwise each failure would send the whole value again to every one of many peers that change
  /// it at once. A peer that fails again without a push in between is evidently out of step, and
  /// gets the data.
  ///
  /// - Returns: The path of the data to send, or nil when nothing is to be sent.
  mutating func pathOfFreshData(
    at path: Path,
    for peer: PeerID,
    in root: Node,
    revision: Int64
  ) -> Path? {
    guard let covering = registry.coveringListen(of: peer, at: path) else { return nil }
    let last = lastStale[peer] ?? 0
    lastStale[peer] = revision
    let smallest = CommitEffect.smallestPath(for: path, before: root, after: root)
    let target = smallest.count < covering.count ? covering : smallest
    let isLarge = root[target].children?.isPacked == false
    return isLarge && registry.lastTold(at: covering) > last ? nil : target
  }

  /// The children of a location in a certain order, for a query.
  mutating func indexed(by index: Index, at path: Path, _ node: Node) -> IndexedNode {
    cache.indexed(by: index, at: path, node)
  }

  /// Forgets which indexes the rules declare.
  mutating func forgetDeclarations() { cache.forgetDeclarations() }
}

/// The listens whose permission can end without a change of the peer or of the rules.
private struct ConditionalListens: Sendable {
  private var locations = SortedMap<Path, [ListenKey: Set<PeerID>]>()

  var isEmpty: Bool { locations.isEmpty }

  mutating func insert(_ key: ListenKey, of peer: PeerID) {
    if locations[key.path] == nil { locations.updateValue([:], forKey: key.path) }
    _ = locations.modify(key.path) { $0[key, default: []].insert(peer) }
  }

  mutating func remove(_ key: ListenKey, of peer: PeerID) {
    let isEmpty = locations.modify(key.path) { listens in
      listens[key]?.remove(peer)
      if listens[key]?.isEmpty == true { listens[key] = nil }
      return listens.isEmpty
    }
    if isEmpty == true { locations.removeValue(forKey: key.path) }
  }

  /// The listens that a commit may affect, ordered by path, query and peer.
  func affected(by effect: CommitEffect) -> [(peer: PeerID, key: ListenKey)] {
    effect.affectedPaths(in: locations).flatMap { path in
      (locations[path] ?? [:]).sorted { $0.key < $1.key }.flatMap { key, peers in
        peers.sorted().map { ($0, key) }
      }
    }
  }
}
