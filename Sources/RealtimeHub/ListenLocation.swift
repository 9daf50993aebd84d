internal import RealtimeProtocol
internal import RealtimeTree

/// All listens at one location, with the windows and orders that they need.
struct ListenLocation: Sendable {
  let path: Path
  /// The peers that want everything, each with its tag, which is nil as a rule.
  private(set) var whole = SortedMap<PeerID, Int64?>()
  private var windows: [QueryWindow] = []
  private var indexes: [SharedIndex] = []

  init(_ path: Path) {
    self.path = path
  }

  var isEmpty: Bool { whole.isEmpty && windows.isEmpty }

  /// Whether a peer is told of all changes here, without a tag.
  func isUntaggedListener(_ peer: PeerID) -> Bool {
    if case .some(.none) = whole[peer] { true } else { false }
  }

  /// Adds a listen, or changes its tag, and returns what it selects.
  ///
  /// - Complexity: O(n log n) for the first of an order, then O(window)
  mutating func add(_ peer: PeerID, _ query: Query, tag: Int64?, at node: Node) -> Node {
    guard !query.loadsAllData, let tag else {
      whole.updateValue(tag, forKey: peer)
      return node
    }
    if let position = windows.firstIndex(where: { $0.query == query }) {
      windows[position].listeners.updateValue(tag, forKey: peer)
      return windows[position].node(from: indexed(query.index, node))
    }
    let slot: Int
    if let present = indexes.firstIndex(where: { $0.index == query.index }) {
      slot = present
    } else {
      slot = indexes.count
      indexes.append(SharedIndex(node, by: query.index))
    }
    indexes[slot].users += 1
    var window = QueryWindow(query, of: indexes[slot].indexed)
    window.listeners.updateValue(tag, forKey: peer)
    windows.append(window)
    return window.node(from: indexes[slot].indexed)
  }

  mutating func remove(_ peer: PeerID, _ query: Query) {
    if query.loadsAllData {
      whole.removeValue(forKey: peer)
      return
    }
    guard let position = windows.firstIndex(where: { $0.query == query }) else { return }
    windows[position].listeners.removeValue(forKey: peer)
    guard windows[position].listeners.isEmpty else { return }
    windows.remove(at: position)
    guard let slot = indexes.firstIndex(where: { $0.index == query.index }) else { return }
    indexes[slot].users -= 1
    if indexes[slot].users == 0 { indexes.remove(at: slot) }
  }

  private func indexed(_ index: Index, _ node: Node) -> IndexedNode {
    indexes.first { $0.index == index }?.indexed ?? IndexedNode(node, by: index)
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
  ///   - emit: Called for each listener.
  mutating func updateWindows(_ effect: CommitEffect, _ emit: (PeerID, [UInt8]) -> Void) {
    guard !windows.isEmpty else { return }
    if effect.places.contains(where: { $0.contains(path) }) {
      replaceWindows(effect, emit)
    } else {
      changeWindows(effect, emit)
    }
  }

  /// The location itself or something above has been written.
  private mutating func replaceWindows(
    _ effect: CommitEffect,
    _ emit: (PeerID, [UInt8]) -> Void
  ) {
    let before = indexes
    let node = effect.after[path]
    for slot in indexes.indices { indexes[slot].replace(by: node) }
    for position in windows.indices {
      let index = windows[position].query.index
      let old = before.first { $0.index == index }?.indexed ?? IndexedNode(.empty, by: index)
      let new = indexed(index, node)
      let oldNode = windows[position].node(from: old)
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
    _ emit: (PeerID, [UInt8]) -> Void
  ) {
    var places: [ChildKey: [Path]] = [:]
    var keys: [ChildKey] = []
    for place in effect.places {
      guard let relative = place.relative(to: path), let key = relative.first,
        key != .priority
      else { continue }
      if places[key] == nil { keys.append(key) }
      places[key, default: []].append(relative)
    }
    guard !keys.isEmpty else { return }
    let before = effect.before[path]
    let node = effect.after[path]
    for slot in indexes.indices { indexes[slot].update(keys, to: node) }
    for position in windows.indices {
      let indexed = indexed(windows[position].query.index, node)
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
