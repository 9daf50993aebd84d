import RealtimeCore

/// Restricts the data of a view to what its query selects, and tracks which children change.
struct QueryFilter: Sendable {
  let query: Query

  /// Whether the query may leave children out.
  var filters: Bool { !query.loadsAllData }

  /// The same order, but with every child.
  var unfiltered: QueryFilter { QueryFilter(query: Query(index: query.index)) }

  /// The part of a node that the query selects.
  ///
  /// - Complexity: O(n log n)
  func window(of node: Node) -> IndexedNode {
    IndexedNode(query.evaluate(node), by: query.index)
  }

  /// Replaces a child, restricted to the query, and tracks the resulting changes.
  ///
  /// Its data may differ from before only at and below the affected path. A child of the source
  /// fills a gap; without a source, the gap stays open.
  ///
  /// - Complexity: O(log n), plus the cost of finding another child
  func set(
    _ key: ChildKey,
    to child: Node,
    affected: Path,
    in cache: inout IndexedNode,
    source: ChildSource?,
    changes: inout ChangeSet
  ) {
    let new = query.contains(key, node: child) ? child : .empty
    let old = cache.node[key]
    if old.isEmpty == new.isEmpty, old[affected] == new[affected] { return }
    guard let limit = query.limit, cache.node.childCount >= limit.count else {
      return replace(key, from: old, with: new, in: &cache, changes: &changes)
    }
    if old.isEmpty {
      insert(key, node: new, limit: limit, in: &cache, changes: &changes)
    } else {
      update(key, from: old, to: new, limit: limit, in: &cache, source: source, changes: &changes)
    }
  }

  private func replace(
    _ key: ChildKey,
    from old: Node,
    with new: Node,
    in cache: inout IndexedNode,
    changes: inout ChangeSet
  ) {
    if new.isEmpty {
      if old.isEmpty { return }
      changes.track(.removed(old), of: key)
    } else {
      changes.track(old.isEmpty ? .added(new) : .changed(from: old, to: new), of: key)
    }
    cache.set(key, to: new)
  }

  /// A child outside a full window; it enters if it lies before the boundary.
  private func insert(
    _ key: ChildKey,
    node new: Node,
    limit: Query.Limit,
    in cache: inout IndexedNode,
    changes: inout ChangeSet
  ) {
    guard !new.isEmpty, let boundary = limit.side == .first ? cache.last : cache.first else {
      return
    }
    let position = query.index.entry(for: key, node: new)
    let edge = query.index.entry(for: boundary.key, node: boundary.node)
    guard limit.side == .first ? position < edge : edge < position else { return }
    changes.track(.removed(boundary.node), of: boundary.key)
    changes.track(.added(new), of: key)
    cache.set(boundary.key, to: .empty)
    cache.set(key, to: new)
  }

  /// A child inside a full window; it stays unless a child outside is nearer after the change.
  private func update(
    _ key: ChildKey,
    from old: Node,
    to new: Node,
    limit: Query.Limit,
    in cache: inout IndexedNode,
    source: ChildSource?,
    changes: inout ChangeSet
  ) {
    guard let boundary = limit.side == .first ? cache.last : cache.first else { return }
    let shown = cache.node
    let next = source?.nearest(
      beyond: query.index.entry(for: boundary.key, node: boundary.node),
      keeping: limit.side,
      where: { $0 != key && !shown.hasChild($0) }
    )
    if !new.isEmpty {
      guard let next else {
        return replace(key, from: old, with: new, in: &cache, changes: &changes)
      }
      let position = query.index.entry(for: key, node: new)
      let candidate = query.index.entry(for: next.key, node: next.node)
      if limit.side == .first ? position < candidate : candidate < position {
        return replace(key, from: old, with: new, in: &cache, changes: &changes)
      }
    }
    changes.track(.removed(old), of: key)
    cache.set(key, to: .empty)
    if let next, query.contains(next.key, node: next.node) {
      changes.track(.added(next.node), of: next.key)
      cache.set(next.key, to: next.node)
    }
  }
}

/// A source of children that a limited view does not show.
struct ChildSource: Sendable {
  /// The pending writes over the view's location.
  let overlay: Overlay
  /// The data for which events were raised.
  let event: KnownData
  /// The server's data, as far as the view knows it.
  let server: CacheNode
  /// The complete server data if another view has it, or nil.
  let covering: Node?
  let index: Index

  /// The child with pending writes applied, or nil if it is not known.
  func completeChild(_ key: ChildKey) -> Node? {
    if event.isComplete(for: key) { return event.node[key] }
    let hidden = overlay[key]
    if let node = hidden.completeNode { return node }
    if let covering { return hidden.applied(to: covering[key]) }
    return server.isComplete(for: key) ? hidden.applied(to: server.node[key]) : nil
  }

  /// The complete server data in order, from the cheapest source that has it.
  private var base: IndexedNode? {
    if case .node(let node) = overlay { return IndexedNode(node, by: index) }
    if server.isComplete, !server.isFiltered { return server.indexed }
    if let covering { return IndexedNode(covering, by: index) }
    return server.isComplete ? server.indexed : nil
  }

  /// The nearest child beyond a position, in the direction away from the side that the limit keeps.
  ///
  /// - Returns: The child, or nil if there is none or it is not known.
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
      let entry = index.entry(for: key, node: node)
      guard isBeyond(entry) else { continue }
      if let present = best {
        let other = index.entry(for: present.key, node: present.node)
        if side == .first ? other < entry : entry < other { continue }
      }
      best = (key, node)
    }
    return best
  }
}
