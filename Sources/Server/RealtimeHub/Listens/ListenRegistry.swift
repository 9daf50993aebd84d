internal import RealtimeCore

/// The listens of all peers by location, and what each is to be told of a commit.
struct ListenRegistry: Sendable {
  /// A message to all who listen to the same.
  struct Push {
    /// At least one.
    var peers: [PeerID]
    let bytes: [UInt8]
  }

  /// In path order, so that what lies below a location follows it.
  private var locations = SortedMap<Path, ListenLocation>()

  /// Adds a listen, or changes its tag, and returns what it selects.
  mutating func add(
    _ peer: PeerID,
    _ listen: RegisteredListen,
    root: Node,
    _ orders: inout OrderShelf
  ) -> Node {
    let path = listen.key.path
    let node = root[path]
    if locations[path] == nil { locations.updateValue(ListenLocation(path), forKey: path) }
    return locations.modify(path) { $0.add(peer, listen, at: node, &orders) } ?? node
  }

  mutating func remove(_ peer: PeerID, _ key: ListenKey, _ orders: inout OrderShelf) {
    let isEmpty = locations.modify(key.path) { location in
      location.remove(peer, key.query, &orders)
      return location.isEmpty
    }
    if isEmpty == true { locations.removeValue(forKey: key.path) }
  }

  /// What pushes for a listen of a peer are marked with, or nil.
  func tag(of peer: PeerID, _ key: ListenKey) -> Int64? {
    locations[key.path]?.tag(of: peer, key.query)
  }

  /// The path of an untagged listen of a peer that sees a location, or nil when there is none.
  func coveringListen(of peer: PeerID, at path: Path) -> Path? {
    for count in 0...path.count {
      let prefix = Path(path.keys.prefix(count))
      if locations[prefix]?.isUntaggedListener(peer) == true { return prefix }
    }
    return nil
  }

  /// The last commit that the listeners to everything at a location were told of; 0 before the first.
  func lastTold(at path: Path) -> Int64 { locations[path]?.lastTold ?? 0 }

  /// Follows a commit.
  ///
  /// - Parameters:
  ///   - effect: What the commit did.
  ///   - revision: The number of the commit.
  ///   - orders: The orders of children after the commit.
  ///   - replaced: What the update of the orders has returned.
  /// - Returns: What listeners are to be told, outer locations first.
  /// - Complexity: O(depth · log locations) for a place, and for each window O(changed · log n)
  mutating func update(
    _ effect: CommitEffect,
    revision: Int64,
    _ orders: OrderShelf,
    replaced: [Path: [KeptOrder]]
  ) -> [Push] {
    var pushes: [Push] = []
    var shared: [UInt8]?
    var outer: [(path: Path, peers: SortedMap<PeerID, Int64?>)] = []
    let affected = effect.affectedPaths(in: locations)
    for path in affected {
      outer.removeAll { !$0.path.contains(path) }
      let peers = locations.modify(path) { location in
        var isTold = false
        // A client applies what comes for an outer listen to all that it has below.
        location.tellWhole(effect, &shared) { peer, tag, bytes in
          if tag == nil, outer.contains(where: { $0.peers[peer] == .some(nil) }) { return }
          pushes.add(peer, bytes)
          isTold = true
        }
        if isTold { location.lastTold = revision }
        location.updateWindows(effect, orders[path], replaced: replaced[path] ?? []) {
          pushes.add($0, $1)
        }
        return location.whole
      }
      if affected.count > 1, let peers, !peers.isEmpty { outer.append((path, peers)) }
    }
    return pushes
  }
}

extension [ListenRegistry.Push] {
  /// Adds a push, to the last one if that has the very same bytes.
  fileprivate mutating func add(_ peer: PeerID, _ bytes: [UInt8]) {
    if let last = indices.last, self[last].bytes.isSame(as: bytes) {
      self[last].peers.append(peer)
    } else {
      append(ListenRegistry.Push(peers: [peer], bytes: bytes))
    }
  }
}

extension [UInt8] {
  /// Whether another array shares its memory with this one, so that none need be compared.
  fileprivate func isSame(as other: [UInt8]) -> Bool {
    // Safety: the addresses are compared and never followed.
    withUnsafeBufferPointer { bytes in
      other.withUnsafeBufferPointer {
        bytes.baseAddress == $0.baseAddress && bytes.count == $0.count
      }
    }
  }
}
