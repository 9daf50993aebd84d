package import RealtimeCore

/// Identifies a listen among those of one peer.
///
/// A server treats all queries that load all data as the same, whatever their order.
package struct ListenKey: Hashable, Sendable {
  package let path: Path
  let query: Query

  init(_ path: Path, query: Query) {
    self.path = path
    self.query = query.loadsAllData ? .all : query
  }
}

extension ListenKey: Comparable {
  package static func < (left: ListenKey, right: ListenKey) -> Bool {
    left.path == right.path ? left.query.id < right.query.id : left.path < right.path
  }
}

/// A listen as the registry keeps it.
struct RegisteredListen: Sendable {
  let key: ListenKey
  /// The tag that marks pushes; nil for the default query.
  let tag: Int64?
  /// Whether the order that the query needs is worth caching.
  let isIndexed: Bool
}

/// The listens of all peers by location, and the pushes that each commit causes.
struct ListenRegistry: Sendable {
  /// A message to all peers that have the same listen.
  struct Push {
    /// The recipients, at least one.
    var peers: [PeerID]
    let bytes: [UInt8]
  }

  /// In path order, so that the descendants of a location follow it.
  private var locations = SortedMap<Path, ListenLocation>()

  /// Adds a listen, or changes its tag, and returns the data that it selects.
  mutating func add(
    _ listen: RegisteredListen,
    of peer: PeerID,
    in root: Node,
    cache: inout IndexCache
  ) -> Node {
    let path = listen.key.path
    let node = root[path]
    if locations[path] == nil { locations.updateValue(ListenLocation(path), forKey: path) }
    return locations.modify(path) { $0.add(listen, of: peer, at: node, cache: &cache) } ?? node
  }

  mutating func remove(_ key: ListenKey, of peer: PeerID, cache: inout IndexCache) {
    let isEmpty = locations.modify(key.path) { location in
      location.remove(key.query, of: peer, cache: &cache)
      return location.isEmpty
    }
    if isEmpty == true { locations.removeValue(forKey: key.path) }
  }

  /// The number of other windows at a location, if a listen needs a window that nobody has yet.
  func windows(beside key: ListenKey) -> Int? {
    guard let location = locations[key.path] else { return 0 }
    return location.hasWindow(key.query) ? nil : location.windowCount
  }

  /// The tag of a peer's listen, which marks its pushes; nil when it has none.
  func tag(of key: ListenKey, peer: PeerID) -> Int64? {
    locations[key.path]?.tag(of: key.query, peer: peer)
  }

  /// The path of a peer's untagged listen that covers a location, or nil when there is none.
  func coveringListen(of peer: PeerID, at path: Path) -> Path? {
    path.prefixes.first { locations[$0]?.isUntaggedListener(peer) == true }
  }

  /// The last commit that was pushed to the listeners to everything at a location; 0 before the
  /// first.
  func lastTold(at path: Path) -> Int64 { locations[path]?.lastTold ?? 0 }

  /// Applies a commit, and returns the pushes to listeners, outer locations first.
  ///
  /// - Complexity: O(depth · log locations) for a path, and for each window O(changed · log n)
  mutating func update(
    _ effect: CommitEffect,
    revision: Int64,
    cache: IndexCache,
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
        // A client applies pushes for an outer listen to everything below it.
        location.tellWhole(effect, shared: &shared) { peer, tag, bytes in
          if tag == nil, outer.contains(where: { $0.peers[peer] == .some(nil) }) { return }
          pushes.add(bytes, for: peer)
          isTold = true
        }
        if isTold { location.lastTold = revision }
        location.updateWindows(effect, orders: cache[path], replaced: replaced[path] ?? []) {
          pushes.add($1, for: $0)
        }
        return location.whole
      }
      if affected.count > 1, let peers, !peers.isEmpty { outer.append((path, peers)) }
    }
    return pushes
  }
}

extension [ListenRegistry.Push] {
  /// Adds a push, merging it into the last one if that has the very same bytes.
  fileprivate mutating func add(_ bytes: [UInt8], for peer: PeerID) {
    if let last = indices.last, self[last].bytes.isSame(as: bytes) {
      self[last].peers.append(peer)
    } else {
      append(ListenRegistry.Push(peers: [peer], bytes: bytes))
    }
  }
}

extension [UInt8] {
  /// Whether another array shares its memory with this one, so that no bytes need to be compared.
  func isSame(as other: [UInt8]) -> Bool {
    // Safety: the addresses are compared and never followed.
    withUnsafeBufferPointer { bytes in
      other.withUnsafeBufferPointer {
        bytes.baseAddress == $0.baseAddress && bytes.count == $0.count
      }
    }
  }
}

/// All listens at one location, with the windows that they need.
struct ListenLocation: Sendable {
  let path: Path
  /// The peers that listen to everything, each with its tag, which is usually nil.
  private(set) var whole = SortedMap<PeerID, Int64?>()
  private var windows: [QueryWindow] = []
  /// Where the window of a query is among all.
  private var positions: [Query: Int] = [:]
  /// The last commit that was pushed to the peers that listen to everything.
  var lastTold: Int64 = 0

  init(_ path: Path) {
    self.path = path
  }

  var isEmpty: Bool { whole.isEmpty && windows.isEmpty }

  /// The number of different queries that are listened to.
  var windowCount: Int { windows.count }

  func hasWindow(_ query: Query) -> Bool { positions[query] != nil }

  func tag(of query: Query, peer: PeerID) -> Int64? {
    guard !query.loadsAllData else { return whole[peer] ?? nil }
    return positions[query].flatMap { windows[$0].listeners[peer] }
  }

  /// Whether a peer gets all changes here, without a tag.
  func isUntaggedListener(_ peer: PeerID) -> Bool {
    if case .some(.none) = whole[peer] { true } else { false }
  }

  /// Adds a listen, or changes its tag, and returns the data that it selects.
  ///
  /// - Complexity: O(n log n) for the first listen by an order that is not cached, then O(window)
  mutating func add(
    _ listen: RegisteredListen,
    of peer: PeerID,
    at node: Node,
    cache: inout IndexCache
  ) -> Node {
    let query = listen.key.query
    guard !query.loadsAllData, let tag = listen.tag else {
      whole.updateValue(listen.tag, forKey: peer)
      return node
    }
    if let position = positions[query] {
      windows[position].listeners.updateValue(tag, forKey: peer)
      return query.evaluate(Self.indexed(node, by: query.index, in: cache[path]))
    }
    let indexed = cache.retain(query.index, at: path, node: node, isDeclared: listen.isIndexed)
    var window = QueryWindow(query, of: indexed)
    window.listeners.updateValue(tag, forKey: peer)
    positions[query] = windows.count
    windows.append(window)
    return query.evaluate(indexed)
  }

  mutating func remove(_ query: Query, of peer: PeerID, cache: inout IndexCache) {
    if query.loadsAllData {
      whole.removeValue(forKey: peer)
      return
    }
    guard let position = positions[query] else { return }
    windows[position].listeners.removeValue(forKey: peer)
    guard windows[position].listeners.isEmpty else { return }
    positions[query] = nil
    // The last window takes the place of this one, so that no other has to move.
    let last = windows.removeLast()
    if position < windows.count {
      windows[position] = last
      positions[last.query] = position
    }
    cache.release(query.index, at: path)
  }

  private static func indexed(
    _ node: Node,
    by index: Index,
    in orders: [KeptOrder]
  ) -> IndexedNode {
    orders.first { $0.index == index }.map { IndexedNode(node, in: $0.order) }
      ?? IndexedNode(node, by: index)
  }

  /// Emits to each listener without a query the pushes of a commit that touches this location.
  ///
  /// The shared bytes are the same for every location at or above the only path.
  func tellWhole(
    _ effect: CommitEffect,
    shared: inout [UInt8]?,
    emit: (PeerID, Int64?, [UInt8]) -> Void
  ) {
    guard !whole.isEmpty, let (push, isShared) = wholePush(effect) else { return }
    var plain = isShared ? shared : nil
    for (peer, tag) in whole {
      let bytes = plain ?? ServerMessage.push(push(nil)).encoded()
      plain = bytes
      emit(peer, tag, tag.map { Self.tagged(bytes, $0) } ?? bytes)
    }
    if isShared { shared = plain }
  }

  /// The push for listeners to everything, and whether it is the same at other locations.
  private func wholePush(
    _ effect: CommitEffect
  ) -> (push: (Int64?) -> ServerPush, isShared: Bool)? {
    let path = path
    let after = effect.after
    let changedPaths = effect.paths
    let isSingle = changedPaths.count == 1 && !effect.isMerge
    if let changed = changedPaths.first(where: { $0.contains(path) }) {
      let node = after[path]
      if changed != path, effect.before(at: path) == node { return nil }
      return ({ .data(path: path, node, tag: $0) }, isSingle && changed == path)
    }
    if isSingle, let changed = changedPaths.first {
      return ({ .data(path: changed, after[changed], tag: $0) }, true)
    }
    let changes = changedPaths.compactMap { changed in
      changed.relative(to: path).map { Change($0, to: after[changed]) }
    }
    if changes.isEmpty { return nil }
    return ({ .merge(path: path, changes, tag: $0) }, false)
  }

  /// Applies a commit that touches this location, and emits the pushes to listeners of windows.
  ///
  /// The orders are those at this location after the commit, and those replaced are from before it,
  /// if it changed the location as a whole.
  mutating func updateWindows(
    _ effect: CommitEffect,
    orders: [KeptOrder],
    replaced: [KeptOrder],
    emit: (PeerID, [UInt8]) -> Void
  ) {
    guard !windows.isEmpty else { return }
    if let (keys, paths) = effect.changedChildren(of: path) {
      if !keys.isEmpty {
        changeWindows(effect, keys: keys, paths: paths, orders: orders, emit: emit)
      }
    } else {
      replaceWindows(effect, orders: orders, replaced: replaced, emit: emit)
    }
  }

  /// Handles a write to the location itself or to one above it.
  private mutating func replaceWindows(
    _ effect: CommitEffect,
    orders: [KeptOrder],
    replaced: [KeptOrder],
    emit: (PeerID, [UInt8]) -> Void
  ) {
    let before = effect.before(at: path)
    let node = effect.after[path]
    for position in windows.indices {
      let query = windows[position].query
      let new = Self.indexed(node, by: query.index, in: orders)
      let oldNode = query.evaluate(Self.indexed(before, by: query.index, in: replaced))
      let newNode = query.evaluate(new)
      windows[position].replace(from: new)
      guard oldNode != newNode else { continue }
      let path = path
      send(to: windows[position].listeners, emit: emit) { .data(path: path, newNode, tag: $0) }
    }
  }

  private mutating func changeWindows(
    _ effect: CommitEffect,
    keys: [ChildKey],
    paths: [ChildKey: [Path]],
    orders: [KeptOrder],
    emit: (PeerID, [UInt8]) -> Void
  ) {
    let before = effect.children(keys, before: path)
    let node = effect.after[path]
    for position in windows.indices {
      let indexed = Self.indexed(node, by: windows[position].query.index, in: orders)
      let delta = windows[position].update(keys, before: before, after: indexed)
      var changes: [Change] = []
      for key in delta.kept {
        for path in paths[key] ?? [] { changes.append(Change(path, to: node[path])) }
      }
      changes += delta.entered.map { Change(Path([$0]), to: node[$0]) }
      changes += delta.left.map { Change(Path([$0]), to: .empty) }
      guard let first = changes.first else { continue }
      let path = path
      let isMerge = effect.isMerge || changes.count > 1
      send(to: windows[position].listeners, emit: emit) { tag in
        isMerge
          ? .merge(path: path, changes, tag: tag)
          : .data(path: path.appending(first.path), first.node, tag: tag)
      }
    }
  }

  /// Encodes a push and emits it to the listeners, each with its tag.
  private func send(
    to listeners: SortedMap<PeerID, Int64>,
    emit: (PeerID, [UInt8]) -> Void,
    push: (Int64?) -> ServerPush
  ) {
    guard !listeners.isEmpty else { return }
    let plain = ServerMessage.push(push(nil)).encoded()
    var tagged: [Int64: [UInt8]] = [:]
    for (peer, tag) in listeners {
      let bytes = tagged[tag] ?? Self.tagged(plain, tag)
      tagged[tag] = bytes
      emit(peer, bytes)
    }
  }

  /// Adds a tag to an encoded push.
  ///
  /// Everybody may have a tag of their own, so that encoding the data for each would cost too much.
  private static func tagged(_ plain: [UInt8], _ tag: Int64) -> [UInt8] {
    // The tag is the last member of the innermost of three objects.
    assert(plain.suffix(3) == Array("}}}".utf8)[...])
    return plain.dropLast(3) + Array(",\"t\":\(tag)}}}".utf8)
  }
}
