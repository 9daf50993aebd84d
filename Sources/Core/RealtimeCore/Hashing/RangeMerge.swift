/// New data for a range of paths: the start is not part of it, the end is, but nothing below the end.
package struct RangeMerge: Sendable, Equatable {
  /// After which path, or nil from the beginning.
  package let start: Path?
  /// Up to which path, or nil to the end.
  package let end: Path?
  /// All data within the range.
  package let node: Node

  /// Makes a range merge.
  package init(start: Path?, end: Path?, node: Node) {
    self.start = start
    self.end = end
    self.node = node
  }

  /// A node with the data of the range replaced.
  ///
  /// - Complexity: O(children on the way to start and end)
  package func applied(to old: Node) -> Node {
    applied(to: old, node, at: .root)
  }

  private func applied(to old: Node, _ new: Node, at path: Path) -> Node {
    let isAfterStart = start.map { $0 < path } ?? true
    let isBeforeEnd = end.map { path < $0 } ?? true
    let isOnEnd = end.map { path.contains($0) } ?? false
    let isOnStart = start.map { path.contains($0) } ?? false
    if isAfterStart {
      if isBeforeEnd, !isOnEnd { return new }
      if isOnEnd, new.leafValue != nil { return new }
      // What lies below the end is beyond it.
      if path == end { return old.leafValue == nil ? old : .empty }
    }
    guard isOnStart || isOnEnd else { return old }
    return childrenApplied(to: old, new, at: path)
  }

  private func childrenApplied(to old: Node, _ new: Node, at path: Path) -> Node {
    var changes: [(key: ChildKey, node: Node)] = []
    for (key, child) in old.children?.map.map({ ($0.key, $0.value) }) ?? [] {
      changes.append((key, applied(to: child, new[key], at: path.appending(key))))
    }
    for (key, child) in new.children?.map.map({ ($0.key, $0.value) }) ?? []
    where !old.hasChild(key) {
      changes.append((key, applied(to: .empty, child, at: path.appending(key))))
    }
    var result = old
    // Removals last, so that the node is not empty in between and keeps its priority.
    for (key, node) in changes where !node.isEmpty { result.update(at: Path([key]), to: node) }
    for (key, node) in changes where node.isEmpty { result.update(at: Path([key]), to: node) }
    // The priority of a leaf belongs to the leaf, which is not part of the range.
    if new.priority != nil || (old.children != nil && old.priority != nil) {
      let place = path.appending(ChildKey.priority)
      let priority = applied(to: old[ChildKey.priority], new[ChildKey.priority], at: place)
      result = result.withPriority(priority.leafValue)
    }
    return result
  }
}
