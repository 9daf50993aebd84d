internal import RealtimeCore

/// All listens at one location, with the windows that they need.
struct ListenLocation: Sendable {
  let path: Path
  /// The peers that want everything, each with its tag, which is nil as a rule.
  private(set) var whole = SortedMap<PeerID, Int64?>()
  private var windows: [QueryWindow] = []
  /// The last commit that the peers that want everything were told of.
  var lastTold: Int64 = 0

  init(_ path: Path) {
    self.path = path
  }

  var isEmpty: Bool { whole.isEmpty && windows.isEmpty }

  /// What pushes for a listen of a peer are marked with, or nil.
  func tag(of peer: PeerID, _ query: Query) -> Int64? {
    guard !query.loadsAllData else { return whole[peer] ?? nil }
    return windows.first { $0.query == query }?.listeners[peer] ?? nil
  }

  /// Whether a peer is told of all changes here, without a tag.
  func isUntaggedListener(_ peer: PeerID) -> Bool {
    if case .some(.none) = whole[peer] { true } else { false }
  }

  /// Adds a listen, or changes its tag, and returns what it selects.
  ///
  /// - Complexity: O(n log n) for the first of an order that is not at hand, then O(window)
  mutating func add(
    _ peer: PeerID,
    _ listen: RegisteredListen,
    at node: Node,
    _ orders: inout OrderShelf
  ) -> Node {
    let query = listen.key.query
    guard !query.loadsAllData, let tag = listen.tag else {
      whole.updateValue(listen.tag, forKey: peer)
      return node
    }
    if let position = windows.firstIndex(where: { $0.query == query }) {
      windows[position].listeners.updateValue(tag, forKey: peer)
      return windows[position].node(from: Self.indexed(query.index, node, in: orders[path]))
    }
    let indexed = orders.retain(query.index, at: path, node, isDeclared: listen.isIndexed)
    var window = QueryWindow(query, of: indexed)
    window.listeners.updateValue(tag, forKey: peer)
    windows.append(window)
    return window.node(from: indexed)
  }

  mutating func remove(_ peer: PeerID, _ query: Query, _ orders: inout OrderShelf) {
    if query.loadsAllData {
      whole.removeValue(forKey: peer)
      return
    }
    guard let position = windows.firstIndex(where: { $0.query == query }) else { return }
    windows[position].listeners.removeValue(forKey: peer)
    guard windows[position].listeners.isEmpty else { return }
    windows.remove(at: position)
    orders.release(query.index, at: path)
  }

  private static func indexed(
    _ index: Index,
    _ node: Node,
    in orders: [KeptOrder]
  ) -> IndexedNode {
    orders.first { $0.index == index }?.indexed ?? IndexedNode(node, by: index)
  }

  /// Gives what the listeners to everything are to be told of a commit.
  ///
  /// - Parameters:
  ///   - effect: A commit with at least one place above, at or below this location.
  ///   - shared: The bytes that are the same for every location at or above the one place.
  ///   - emit: Called for each listener.
  func tellWhole(
    _ effect: CommitEffect,
    _ shared: inout [UInt8]?,
    _ emit: (PeerID, Int64?, [UInt8]) -> Void
  ) {
    guard !whole.isEmpty, let (push, isShared) = wholePush(effect) else { return }
    var plain = isShared ? shared : nil
    for (peer, tag) in whole {
      if let tag {
        emit(peer, tag, ServerMessage.push(push(tag)).encoded())
        continue
      }
      let bytes = plain ?? ServerMessage.push(push(nil)).encoded()
      plain = bytes
      emit(peer, nil, bytes)
    }
    if isShared { shared = plain }
  }

  /// What a listener to everything is told, and whether that is the same at other locations.
  private func wholePush(
    _ effect: CommitEffect
  ) -> (push: (Int64?) -> ServerPush, isShared: Bool)? {
    let path = path
    let after = effect.after
    let isSingle = effect.places.count == 1 && !effect.isMerge
    if let place = effect.places.first(where: { $0.contains(path) }) {
      let node = after[path]
      if place != path, effect.before[path] == node { return nil }
      return ({ .data(path: path, node, tag: $0) }, isSingle && place == path)
    }
    if isSingle, let place = effect.places.first {
      return ({ .data(path: place, after[place], tag: $0) }, true)
    }
    let changes = effect.places.compactMap { place in
      place.relative(to: path).map { Change($0, after[place]) }
    }
    if changes.isEmpty { return nil }
    return ({ .merge(path: path, changes, tag: $0) }, false)
  }

  /// Follows a commit and gives what the windows' listeners are to be told.
  ///
  /// - Parameters:
  ///   - effect: A commit with at least one place above, at or below this location.
  ///   - orders: The orders here after the commit.
  ///   - replaced: The orders here before the commit, when it changed the whole location.
  ///   - emit: Called for each listener.
  mutating func updateWindows(
    _ effect: CommitEffect,
    _ orders: [KeptOrder],
    replaced: [KeptOrder],
    _ emit: (PeerID, [UInt8]) -> Void
  ) {
    guard !windows.isEmpty else { return }
    if let (keys, places) = effect.changedChildren(of: path) {
      if !keys.isEmpty { changeWindows(effect, keys, places, orders, emit) }
    } else {
      replaceWindows(effect, orders, replaced, emit)
    }
  }

  /// The location itself or something above has been written.
  private mutating func replaceWindows(
    _ effect: CommitEffect,
    _ orders: [KeptOrder],
    _ replaced: [KeptOrder],
    _ emit: (PeerID, [UInt8]) -> Void
  ) {
    let before = effect.before[path]
    let node = effect.after[path]
    for position in windows.indices {
      let index = windows[position].query.index
      let new = Self.indexed(index, node, in: orders)
      let oldNode = windows[position].node(from: Self.indexed(index, before, in: replaced))
      let newNode = windows[position].node(from: new)
      windows[position].replace(from: new)
      guard oldNode != newNode else { continue }
      let path = path
      send(to: windows[position].listeners, emit) { .data(path: path, newNode, tag: $0) }
    }
  }

  /// Children have been written.
  private mutating func changeWindows(
    _ effect: CommitEffect,
    _ keys: [ChildKey],
    _ places: [ChildKey: [Path]],
    _ orders: [KeptOrder],
    _ emit: (PeerID, [UInt8]) -> Void
  ) {
    let before = effect.before[path]
    let node = effect.after[path]
    for position in windows.indices {
      let indexed = Self.indexed(windows[position].query.index, node, in: orders)
      let delta = windows[position].update(keys, before: before, after: indexed)
      var changes: [Change] = []
      for key in delta.kept {
        for place in places[key] ?? [] { changes.append(Change(place, node[place])) }
      }
      changes += delta.entered.map { Change(Path([$0]), node[$0]) }
      changes += delta.left.map { Change(Path([$0]), .empty) }
      guard let first = changes.first else { continue }
      let path = path
      let isMerge = effect.isMerge || changes.count > 1
      send(to: windows[position].listeners, emit) { tag in
        isMerge
          ? .merge(path: path, changes, tag: tag)
          : .data(path: path.appending(first.path), first.node, tag: tag)
      }
    }
  }

  /// Encodes a push once for each tag and hands it out.
  private func send(
    to listeners: SortedMap<PeerID, Int64>,
    _ emit: (PeerID, [UInt8]) -> Void,
    _ push: (Int64) -> ServerPush
  ) {
    var encoded: [Int64: [UInt8]] = [:]
    for (peer, tag) in listeners {
      let bytes = encoded[tag] ?? ServerMessage.push(push(tag)).encoded()
      encoded[tag] = bytes
      emit(peer, bytes)
    }
  }
}
