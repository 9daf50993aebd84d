import RealtimeCore

/// A write of this client that the server has not answered, with server values estimated.
struct PendingWrite: Sendable {
  /// The write's number in the engine; later writes have higher numbers.
  let id: Int64
  let path: Path
  let operation: WriteOperation
  /// Whether views show it; transactions may hide their writes.
  let isVisible: Bool

  /// All of the data that the write replaces, by absolute path.
  var parts: [Change] { operation.changes(at: path) }

  /// The overlay that the write forms at its location.
  var overlay: Overlay {
    switch operation {
    case .set(let node): .node(node)
    case .merge(let changes): Overlay(changes)
    }
  }
}

/// A client's pending writes in order, and the overlay that the visible ones form.
struct WriteTree: Sendable {
  private var writes: [Int64: PendingWrite] = [:]
  private var parts = WritePartTree()
  private var hiddenCount = 0
  /// How many writes there are below each child of the root.
  private var counts: [ChildKey: Int] = [:]
  /// The overlay of the visible writes over the server's data, from the root down.
  private(set) var overlay = Overlay.none

  var count: Int { writes.count }

  /// The number of writes apart from those below these children of the root.
  ///
  /// - Complexity: O(children)
  func count(outside children: Set<ChildKey>) -> Int {
    children.reduce(writes.count) { $0 - (counts[$1] ?? 0) }
  }

  /// What a write does at each path, or nil if there is no such write.
  func parts(of id: Int64) -> [Change]? { writes[id]?.parts }

  /// Adds a write that is later than all others.
  mutating func add(_ write: PendingWrite) {
    writes[write.id] = write
    if let child = write.path.keys.first { counts[child, default: 0] += 1 }
    if !write.isVisible { hiddenCount += 1 }
    for part in write.parts {
      parts.insert(part.node, at: part.path.keys[...], id: write.id, isVisible: write.isVisible)
      if write.isVisible { overlay.set(part.path, to: part.node) }
    }
  }

  /// Removes a write.
  ///
  /// - Returns: The write, and whether the data may look different without it; nil if unknown.
  /// - Complexity: O(writes that overlap it)
  mutating func remove(_ id: Int64) -> (write: PendingWrite, mayChangeViews: Bool)? {
    guard let write = writes.removeValue(forKey: id) else { return nil }
    if let child = write.path.keys.first, let count = counts[child] {
      counts[child] = count > 1 ? count - 1 : nil
    }
    let changed = write.parts
    for part in changed { parts.remove(id, at: part.path.keys[...]) }
    guard write.isVisible else {
      hiddenCount -= 1
      return (write, false)
    }
    if parts.isShadowed(id, at: write.path) { return (write, false) }
    for location in Set(changed.map { parts.topmostVisiblePath(on: $0.path) }) { relay(location) }
    return (write, true)
  }

  /// Rebuilds the overlay at and below a path; no visible write may replace anything above it.
  private mutating func relay(_ location: Path) {
    overlay.clear(location)
    for part in parts.parts(overlapping: location) where part.isVisible {
      overlay.set(location.appending(part.path), to: part.node)
    }
  }

  /// The server's data at a path with all pending writes, even hidden ones, except those excluded.
  ///
  /// - Complexity: O(writes that overlap it)
  func latest(at path: Path, server: Node, excluding excluded: Set<Int64>) -> Node {
    if hiddenCount == 0, excluded.isEmpty { return overlay[path].applied(to: server) }
    var overlay = Overlay.none
    for part in parts.parts(overlapping: path) where !excluded.contains(part.id) {
      overlay.set(part.path, to: part.node)
    }
    return overlay.applied(to: server)
  }
}

/// The parts of pending writes, by the path that they replace.
struct WritePartTree: Sendable {
  /// One part of a write, relative to the requested path.
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

  mutating func insert(_ node: Node, at keys: ArraySlice<ChildKey>, id: Int64, isVisible: Bool) {
    guard let key = keys.first else {
      entries.updateValue(Entry(node: node, isVisible: isVisible), forKey: id)
      return
    }
    children[key, default: WritePartTree()]
      .insert(node, at: keys.dropFirst(), id: id, isVisible: isVisible)
  }

  mutating func remove(_ id: Int64, at keys: ArraySlice<ChildKey>) {
    guard let key = keys.first else {
      entries.removeValue(forKey: id)
      return
    }
    children[key]?.remove(id, at: keys.dropFirst())
    if children[key]?.isEmpty == true { children[key] = nil }
  }

  /// Whether a later visible write replaces a path, or a path above it.
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
    for (other, entry) in entries.descending(within: { _ in true }) {
      if other <= id { return false }
      if entry.isVisible { return true }
    }
    return false
  }

  /// The topmost path at or above a path that a visible write replaces, or the path itself.
  func topmostVisiblePath(on path: Path) -> Path {
    var tree = self
    for (depth, key) in path.keys.enumerated() {
      if tree.hasVisibleEntry(after: .min) { return Path(path.keys.prefix(depth)) }
      guard let child = tree.children[key] else { return path }
      tree = child
    }
    return path
  }

  /// The parts that replace paths at, above and below a path, in the order of their writes.
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
