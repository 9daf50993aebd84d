internal import RealtimeProtocol
internal import RealtimeTree

/// The listens of all peers by location, and what each is to be told of a commit.
struct ListenRegistry: Sendable {
  /// In path order, so that what lies below a location follows it.
  private var locations = SortedMap<Path, ListenLocation>()

  /// Adds a listen, or changes its tag, and returns what it selects.
  mutating func add(_ peer: PeerID, _ key: ListenKey, tag: Int64?, root: Node) -> Node {
    let node = root[key.path]
    if locations[key.path] == nil {
      locations.updateValue(ListenLocation(key.path), forKey: key.path)
    }
    return locations.modify(key.path) { $0.add(peer, key.query, tag: tag, at: node) } ?? node
  }

  mutating func remove(_ peer: PeerID, _ key: ListenKey) {
    let isEmpty = locations.modify(key.path) { location in
      location.remove(peer, key.query)
      return location.isEmpty
    }
    if isEmpty == true { locations.removeValue(forKey: key.path) }
  }

  /// The path of an untagged listen of a peer that sees a location, or nil when there is none.
  func coveringListen(of peer: PeerID, at path: Path) -> Path? {
    for count in 0...path.count {
      let prefix = Path(path.keys.prefix(count))
      if locations[prefix]?.isUntaggedListener(peer) == true { return prefix }
    }
    return nil
  }

  /// Follows a commit and gives what listeners are to be told, outer locations first.
  ///
  /// - Complexity: O(depth · log locations) for a place, and for each window O(changed · log n)
  mutating func update(_ effect: CommitEffect) -> [(peer: PeerID, bytes: [UInt8])] {
    var pushes: [(peer: PeerID, bytes: [UInt8])] = []
    var shared: [UInt8]?
    var outer: [(path: Path, peers: SortedMap<PeerID, Int64?>)] = []
    let affected = affectedLocations(effect)
    for path in affected {
      outer.removeAll { !$0.path.contains(path) }
      let peers = locations.modify(path) { location in
        // A client applies what comes for an outer listen to all that it has below.
        location.tellWhole(effect, &shared) { peer, tag, bytes in
          if tag == nil, outer.contains(where: { $0.peers[peer] == .some(nil) }) { return }
          pushes.append((peer, bytes))
        }
        location.updateWindows(effect) { pushes.append(($0, $1)) }
        return location.whole
      }
      if affected.count > 1, let peers, !peers.isEmpty { outer.append((path, peers)) }
    }
    return pushes
  }

  /// The locations with listens above, at and below the places of a commit, in path order.
  private func affectedLocations(_ effect: CommitEffect) -> [Path] {
    var affected: [Path] = []
    for place in effect.places {
      for count in 0..<place.count {
        let prefix = Path(place.keys.prefix(count))
        if locations[prefix] != nil { affected.append(prefix) }
      }
      for (path, _) in locations.ascending(after: { $0 < place }) {
        guard place.contains(path) else { break }
        affected.append(path)
      }
    }
    guard effect.places.count > 1 else { return affected }
    var distinct: [Path] = []
    for path in affected.sorted() where distinct.last != path { distinct.append(path) }
    return distinct
  }
}
