import RealtimeCore

/// The parts of pending writes by the place they replace.
struct WritePartTree: Sendable {
  /// One part of a write, as seen from the place that was asked about.
  struct Part: Sendable {
    let id: Int64
    let path: Path
    let node: Node
    let isVisible: Bool
  }

  private struct Entry: Sendable {
    let node: Node
    let isVisible: Bool
  }

  private var entries = SortedMap<Int64, Entry>()
  private var children: [ChildKey: WritePartTree] = [:]

  private var isEmpty: Bool { entries.isEmpty && children.isEmpty }

  /// Adds a part of a write at a place.
  mutating func insert(_ node: Node, at keys: ArraySlice<ChildKey>, id: Int64, isVisible: Bool) {
    guard let key = keys.first else {
      entries.updateValue(Entry(node: node, isVisible: isVisible), forKey: id)
      return
    }
    children[key, default: WritePartTree()]
      .insert(node, at: keys.dropFirst(), id: id, isVisible: isVisible)
  }

  /// Takes a part of a write away.
  mutating func remove(_ id: Int64, at keys: ArraySlice<ChildKey>) {
    guard let key = keys.first else {
      entries.removeValue(forKey: id)
      return
    }
    children[key]?.remove(id, at: keys.dropFirst())
    if children[key]?.isEmpty == true { children[key] = nil }
  }

  /// Whether a visible write later than the given one replaces a place or one above it.
  func isShadowed(_ id: Int64, at path: Path) -> Bool {
    var tree = self
    for key in path.keys {
      if tree.hasVisibleEntry(after: id) { return true }
      guard let child = tree.children[key] else { return false }
      tree = child
    }
    return tree.hasVisibleEntry(after: id)
  }

  private func hasVisibleEntry(after id: Int64) -> Bool {
    for (other, entry) in entries.descending {
      if other <= id { return false }
      if entry.isVisible { return true }
    }
    return false
  }

  /// The highest place on the way to a path that a visible write replaces; the path itself if none.
  func topmostVisiblePlace(on path: Path) -> Path {
    var tree = self
    for (depth, key) in path.keys.enumerated() {
      if tree.hasVisibleEntry(after: .min) { return Path(path.keys.prefix(depth)) }
      guard let child = tree.children[key] else { return path }
      tree = child
    }
    return path
  }

  /// The parts that replace a place, one above it or one below it, in the order of their writes.
  func parts(overlapping path: Path) -> [Part] {
    var result: [Part] = []
    var tree = self
    for (depth, key) in path.keys.enumerated() {
      let rest = Path(path.keys.dropFirst(depth))
      for (id, entry) in tree.entries {
        result.append(
          Part(id: id, path: .root, node: entry.node[rest], isVisible: entry.isVisible)
        )
      }
      guard let child = tree.children[key] else { return result.sorted { $0.id < $1.id } }
      tree = child
    }
    tree.collect(at: .root, into: &result)
    return result.sorted {
      ($0.id, $0.path.isPriority ? 1 : 0) < ($1.id, $1.path.isPriority ? 1 : 0)
    }
  }

  private func collect(at path: Path, into result: inout [Part]) {
    for (id, entry) in entries {
      result.append(Part(id: id, path: path, node: entry.node, isVisible: entry.isVisible))
    }
    for (key, child) in children { child.collect(at: path.appending(key), into: &result) }
  }
}
