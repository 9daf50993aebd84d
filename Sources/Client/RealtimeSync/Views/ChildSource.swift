import RealtimeCore

/// Where a limited view finds children that it does not show.
struct ChildSource: Sendable {
  /// The pending writes over the view's location.
  let overlay: Overlay
  /// What events were raised for.
  let event: KnownData
  /// The server's data as the view knows them.
  let server: CacheNode
  /// The server's complete data of the location as another view knows them, or nil.
  let covering: Node?
  let index: Index

  /// The child with pending writes, or nil when it is not known.
  func completeChild(_ key: ChildKey) -> Node? {
    if event.isComplete(for: key) { return event.node[key] }
    let hidden = overlay[key]
    if let node = hidden.completeNode { return node }
    if let covering { return hidden.applied(to: covering[key]) }
    return server.isComplete(for: key) ? hidden.applied(to: server.node[key]) : nil
  }

  /// The complete data of the server in order, from the cheapest place that has them.
  private var base: IndexedNode? {
    if case .node(let node) = overlay { return IndexedNode(node, by: index) }
    if server.isComplete, !server.isFiltered { return server.indexed }
    if let covering { return IndexedNode(covering, by: index) }
    return server.isComplete ? server.indexed : nil
  }

  /// The next children beyond a position, nearest first, away from the side a limit keeps.
  ///
  /// - Parameters:
  ///   - position: Where to start; a child at the position itself does not count.
  ///   - side: The side of the range that the limit keeps.
  ///   - isWanted: Whether a child may be returned.
  /// - Returns: The nearest wanted child, or nil when there is none or it is not known.
  /// - Complexity: O(log n + pending writes at children + unwanted children passed)
  func nearest(
    beyond position: IndexEntry,
    keeping side: Query.LimitSide,
    where isWanted: (ChildKey) -> Bool
  ) -> (key: ChildKey, node: Node)? {
    guard let base else { return nil }
    let touched = overlay.touchedKeys
    let hidden = Set(touched)
    func isBeyond(_ entry: IndexEntry) -> Bool {
      side == .first ? position < entry : entry < position
    }
    let rest =
      side == .first
      ? base.ascending { !isBeyond($0) } : base.descending { isBeyond($0) }
    var best = rest.first { !hidden.contains($0.key) && isWanted($0.key) }
    for key in touched where isWanted(key) {
      let node = overlay[key].applied(to: base.node[key])
      if node.isEmpty { continue }
      let entry = index.entry(key, node)
      guard isBeyond(entry) else { continue }
      if let present = best {
        let other = index.entry(present.key, present.node)
        if side == .first ? other < entry : entry < other { continue }
      }
      best = (key, node)
    }
    return best
  }
}
