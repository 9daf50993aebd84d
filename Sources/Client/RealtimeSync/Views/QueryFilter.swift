import RealtimeCore

/// Keeps the data of a view cut to what its query selects, and tells which children changed.
struct QueryFilter: Sendable {
  let query: Query

  /// Whether the query may leave children out.
  var filters: Bool { !query.loadsAllData }

  /// The same order without leaving anything out.
  var unfiltered: QueryFilter { QueryFilter(query: Query(index: query.index)) }

  /// What the query selects of a node.
  ///
  /// - Complexity: O(n log n)
  func window(of node: Node) -> IndexedNode {
    IndexedNode(query.evaluate(node), by: query.index)
  }

  /// Replaces a child, cutting to the query, and tracks what that changed.
  ///
  /// - Parameters:
  ///   - key: The child.
  ///   - child: Its new data.
  ///   - affected: The only place below the child where its data may differ from before.
  ///   - cache: The data to change.
  ///   - source: Where to look for children to fill a gap with; nil is nowhere.
  ///   - changes: Takes the changes.
  /// - Complexity: O(log n), and what looking for another child costs
  func set(
    _ key: ChildKey,
    to child: Node,
    affected: Path,
    in cache: inout IndexedNode,
    source: ChildSource?,
    changes: inout ChangeSet
  ) {
    let new = query.contains(key, child) ? child : .empty
    let old = cache.node[key]
    if old.isEmpty == new.isEmpty, old[affected] == new[affected] { return }
    guard let limit = query.limit, cache.node.childCount >= limit.count else {
      return replace(key, old, with: new, in: &cache, changes: &changes)
    }
    if old.isEmpty {
      insert(key, new, limit: limit, in: &cache, changes: &changes)
    } else {
      update(key, old, to: new, limit: limit, in: &cache, source: source, changes: &changes)
    }
  }

  private func replace(
    _ key: ChildKey,
    _ old: Node,
    with new: Node,
    in cache: inout IndexedNode,
    changes: inout ChangeSet
  ) {
    if new.isEmpty {
      if old.isEmpty { return }
      changes.track(key, .removed(old))
    } else {
      changes.track(key, old.isEmpty ? .added(new) : .changed(from: old, to: new))
    }
    cache.set(key, to: new)
  }

  /// A child outside a full window: it comes in if it lies before the boundary.
  private func insert(
    _ key: ChildKey,
    _ new: Node,
    limit: Query.Limit,
    in cache: inout IndexedNode,
    changes: inout ChangeSet
  ) {
    guard !new.isEmpty, let boundary = limit.side == .first ? cache.last : cache.first else {
      return
    }
    let position = query.index.entry(key, new)
    let edge = query.index.entry(boundary.key, boundary.node)
    guard limit.side == .first ? position < edge : edge < position else { return }
    changes.track(boundary.key, .removed(boundary.node))
    changes.track(key, .added(new))
    cache.set(boundary.key, to: .empty)
    cache.set(key, to: new)
  }

  /// A child inside a full window: it stays unless another one is now nearer.
  private func update(
    _ key: ChildKey,
    _ old: Node,
    to new: Node,
    limit: Query.Limit,
    in cache: inout IndexedNode,
    source: ChildSource?,
    changes: inout ChangeSet
  ) {
    guard let boundary = limit.side == .first ? cache.last : cache.first else { return }
    let shown = cache.node
    let next = source?.nearest(
      beyond: query.index.entry(boundary.key, boundary.node),
      keeping: limit.side,
      where: { $0 != key && !shown.hasChild($0) }
    )
    if !new.isEmpty {
      guard let next else {
        return replace(key, old, with: new, in: &cache, changes: &changes)
      }
      let position = query.index.entry(key, new)
      let candidate = query.index.entry(next.key, next.node)
      if limit.side == .first ? position < candidate : candidate < position {
        return replace(key, old, with: new, in: &cache, changes: &changes)
      }
    }
    changes.track(key, .removed(old))
    cache.set(key, to: .empty)
    if let next, query.contains(next.key, next.node) {
      changes.track(next.key, .added(next.node))
      cache.set(next.key, to: next.node)
    }
  }
}
