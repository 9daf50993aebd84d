import RealtimeCore

/// The pending writes of a client in their order, and what the visible ones lay over the data.
struct WriteTree: Sendable {
  private var writes: [Int64: PendingWrite] = [:]
  private var parts = WritePartTree()
  private var hiddenCount = 0
  /// The visible writes, laid over the data of the server from the root down.
  private(set) var overlay = Overlay.none

  /// The number of pending writes.
  var count: Int { writes.count }

  /// What a write does at each place, or nil if there is no such write.
  func parts(of id: Int64) -> [Change]? { writes[id]?.parts }

  /// Adds a write that is later than all others.
  mutating func add(_ write: PendingWrite) {
    writes[write.id] = write
    if !write.isVisible { hiddenCount += 1 }
    for part in write.parts {
      parts.insert(part.node, at: part.path.keys[...], id: write.id, isVisible: write.isVisible)
      if write.isVisible { overlay.set(part.path, to: part.node) }
    }
  }

  /// Takes a write away.
  ///
  /// - Parameter id: The write.
  /// - Returns: The write, and whether the data may look different without it; nil if there is none.
  /// - Complexity: O(writes that overlap it)
  mutating func remove(_ id: Int64) -> (write: PendingWrite, mayChangeViews: Bool)? {
    guard let write = writes.removeValue(forKey: id) else { return nil }
    let changed = write.parts
    for part in changed { parts.remove(id, at: part.path.keys[...]) }
    guard write.isVisible else {
      hiddenCount -= 1
      return (write, false)
    }
    if parts.isShadowed(id, at: write.path) { return (write, false) }
    for place in Set(changed.map { parts.topmostVisiblePlace(on: $0.path) }) { relay(place) }
    return (write, true)
  }

  /// Lays the visible writes at and below a place anew; none replaces anything above it.
  private mutating func relay(_ place: Path) {
    overlay.clear(place)
    for part in parts.parts(overlapping: place) where part.isVisible {
      overlay.set(place.appending(part.path), to: part.node)
    }
  }

  /// The data at a place with all pending writes, hidden ones too, but for those left out.
  ///
  /// - Parameters:
  ///   - path: The place.
  ///   - server: The server's data there, empty as far as they are unknown.
  ///   - excluded: Writes that do not count.
  /// - Returns: The data.
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
