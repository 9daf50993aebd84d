internal import RealtimeCore

/// The listens whose permission can end though neither the peer nor the rules change.
struct ConditionalListens: Sendable {
  private var locations = SortedMap<Path, [ListenKey: Set<PeerID>]>()

  var isEmpty: Bool { locations.isEmpty }

  mutating func insert(_ peer: PeerID, _ key: ListenKey) {
    if locations[key.path] == nil { locations.updateValue([:], forKey: key.path) }
    _ = locations.modify(key.path) { $0[key, default: []].insert(peer) }
  }

  mutating func remove(_ peer: PeerID, _ key: ListenKey) {
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
