internal import RealtimeCore

/// The listens of all peers, and the pushes that a commit causes.
///
/// A listen is granted and added and then receives commits. It ends at the request of its peer, or
/// when the peer may no longer read the data. A listen whose permission depends on data or on the
/// time is conditional: it is reviewed whenever there is something to push.
struct Listens: Sendable {
  private var registry = ListenRegistry()
  private var conditional = ConditionalListens()
  private var cache: IndexCache
  /// The listens of each peer that has any.
  private var keys: [PeerID: Set<ListenKey>] = [:]
  /// For each peer with listens, the last commit at the time its condition last failed.
  private var lastStale: [PeerID: Int64] = [:]
  private let limits: HubLimits

  init(_ limits: HubLimits) {
    self.limits = limits
    cache = IndexCache(limits)
  }

  // MARK: Listens of a peer

  /// The number of listens across all peers.
  ///
  /// - Complexity: O(peers)
  var count: Int { keys.values.reduce(0) { $0 + $1.count } }

  /// The peers that have listens.
  var peers: Dictionary<PeerID, Set<ListenKey>>.Keys { keys.keys }

  /// The listens of a peer.
  func keys(of peer: PeerID) -> Set<ListenKey> { keys[peer] ?? [] }

  /// Whether a peer has a listen.
  func contains(_ key: ListenKey, of peer: PeerID) -> Bool { keys[peer]?.contains(key) == true }

  /// The tag of a peer's listen, which marks its pushes; nil when it has none.
  func tag(of key: ListenKey, peer: PeerID) -> Int64? { registry.tag(of: key, peer: peer) }

  /// Adds a listen, or changes its tag, and returns the data that it selects.
  mutating func add(_ listen: RegisteredListen, of peer: PeerID, in root: Node) -> Node {
    keys[peer, default: []].insert(listen.key)
    return registry.add(listen, of: peer, in: root, cache: &cache)
  }

  /// Removes a listen; it is no error if the listen does not exist or was never granted.
  mutating func end(_ key: ListenKey, of peer: PeerID) {
    conditional.remove(key, of: peer)
    guard keys[peer]?.remove(key) != nil else { return }
    if keys[peer]?.isEmpty == true { keys[peer] = nil }
    registry.remove(key, of: peer, cache: &cache)
  }

  /// Removes all listens of a peer.
  mutating func endAll(of peer: PeerID) {
    for key in keys(of: peer) { end(key, of: peer) }
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
  /// - Parameters:
  ///   - path: The path of the failed condition.
  ///   - peer: The peer whose condition failed.
  ///   - root: The tree.
  ///   - revision: The number of the last commit.
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

  /// The number of children visited to build and to update orders.
  var orderedChildren: Int { cache.visited }

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
