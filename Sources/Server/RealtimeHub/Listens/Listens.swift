internal import RealtimeCore

/// What peers listen to, and what they are to be told of a commit.
///
/// A listen is granted and added, told of commits, and ended by its peer or since it may not be read
/// any more. One whose permission depends on data or on the time is conditional: it is looked at again
/// whenever there is something to tell.
struct Listens: Sendable {
  private var registry = ListenRegistry()
  private var conditional = ConditionalListens()
  private var cache: IndexCache
  /// The listens of each peer that has any.
  private var keys: [PeerID: Set<ListenKey>] = [:]
  /// The last commit when a condition of a peer that listens failed last.
  private var lastStale: [PeerID: Int64] = [:]
  private let limits: HubLimits

  init(_ limits: HubLimits) {
    self.limits = limits
    cache = IndexCache(limits)
  }

  // MARK: Of a peer

  /// The number of listens of all peers.
  ///
  /// - Complexity: O(peers)
  var count: Int { keys.values.reduce(0) { $0 + $1.count } }

  /// The peers that have listens.
  var peers: Dictionary<PeerID, Set<ListenKey>>.Keys { keys.keys }

  /// What a peer listens to.
  func keys(of peer: PeerID) -> Set<ListenKey> { keys[peer] ?? [] }

  /// Whether a peer has a listen.
  func contains(_ key: ListenKey, of peer: PeerID) -> Bool { keys[peer]?.contains(key) == true }

  /// What pushes for a listen of a peer are marked with, or nil.
  func tag(of key: ListenKey, peer: PeerID) -> Int64? { registry.tag(of: key, peer: peer) }

  /// Adds a listen, or changes its tag, and returns what it selects.
  mutating func add(_ listen: RegisteredListen, of peer: PeerID, in root: Node) -> Node {
    keys[peer, default: []].insert(listen.key)
    return registry.add(listen, of: peer, in: root, cache: &cache)
  }

  /// Forgets a listen; one that does not exist, or was never granted, is no error.
  mutating func end(_ key: ListenKey, of peer: PeerID) {
    conditional.remove(key, of: peer)
    guard keys[peer]?.remove(key) != nil else { return }
    if keys[peer]?.isEmpty == true { keys[peer] = nil }
    registry.remove(key, of: peer, cache: &cache)
  }

  /// Forgets a peer.
  mutating func endAll(of peer: PeerID) {
    for key in keys(of: peer) { end(key, of: peer) }
    lastStale[peer] = nil
  }

  /// Forgets all listens, none of which matches the tree any more.
  mutating func removeAll() {
    self = Listens(limits)
  }

  // MARK: Permissions

  /// Notes whether a listen that has been granted is to be looked at again when there is something to
  /// tell.
  mutating func setConditional(_ isConditional: Bool, for key: ListenKey, of peer: PeerID) {
    if isConditional {
      conditional.insert(key, of: peer)
    } else {
      conditional.remove(key, of: peer)
    }
  }

  /// The conditional listens that may be told of a commit, in the order of paths, queries and peers.
  func conditional(affectedBy effect: CommitEffect) -> [(peer: PeerID, key: ListenKey)] {
    conditional.isEmpty ? [] : conditional.affected(by: effect)
  }

  // MARK: Data

  /// Follows a commit, and returns the pushes to listeners.
  mutating func update(_ effect: CommitEffect, revision: Int64) -> [ListenRegistry.Push] {
    let replaced = cache.update(effect)
    return registry.update(effect, revision: revision, cache: cache, replaced: replaced)
  }

  /// The listen through which a peer whose condition has failed is sent the data that are there now.
  ///
  /// A large value is not sent to who is being told of its changes anyway, which comes before the
  /// answer: many who change it at once would all be sent the whole of it with each failure. Who fails
  /// again with nothing told in between has not understood, and gets the data.
  ///
  /// - Parameters:
  ///   - path: Where the condition has failed.
  ///   - peer: Whose it is.
  ///   - root: The tree.
  ///   - revision: The number of the last commit.
  /// - Returns: The path of what is to be sent, or nil when nothing is.
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

  /// How many children have been looked at to bring them into an order.
  var orderedChildren: Int { cache.visited }

  /// The children of a location in an order, for a query.
  mutating func indexed(by index: Index, at path: Path, _ node: Node) -> IndexedNode {
    cache.indexed(by: index, at: path, node)
  }

  /// Forgets which indexes the rules declare.
  mutating func forgetDeclarations() { cache.forgetDeclarations() }
}

/// The listens whose permission can end though neither the peer nor the rules change.
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

  /// The listens that may be told of a commit, in the order of paths, queries and peers.
  func affected(by effect: CommitEffect) -> [(peer: PeerID, key: ListenKey)] {
    effect.affectedPaths(in: locations).flatMap { path in
      (locations[path] ?? [:]).sorted { $0.key < $1.key }.flatMap { key, peers in
        peers.sorted().map { ($0, key) }
      }
    }
  }
}
