internal import RealtimeProtocol
internal import RealtimeTree

/// The writes that a peer has scheduled for its end, as what they come to when done in order.
///
/// No path contains another: a write at or below a scheduled one becomes part of it.
struct DisconnectTable: Sendable {
  private struct Write: Sendable {
    var node: Node
    /// At least the length of the node as JSON.
    var bytes: Int
  }

  private var scheduled = SortedMap<Path, Write>()
  /// How much JSON the writes are, in bytes; an upper bound where writes were joined.
  private(set) var bytes = 0

  var isEmpty: Bool { scheduled.isEmpty }

  /// The number of writes.
  var count: Int { scheduled.count }

  /// The writes in the order of their paths, server values still open.
  var changes: [Change] { scheduled.map { Change($0.key, $0.value.node) } }

  /// Schedules a write in place of what is scheduled there and below.
  mutating func set(_ path: Path, _ node: Node) {
    removeAll(below: path)
    if let ancestor = scheduledAncestor(of: path), let rest = path.relative(to: ancestor) {
      let added = Self.jsonBytes(of: node)
      _ = scheduled.modify(ancestor) {
        $0.node.update(at: rest, to: node)
        $0.bytes += added
      }
      bytes += added
    } else {
      insert(path, node)
    }
  }

  /// Withdraws what is scheduled at a path and below.
  ///
  /// Where a write above covers the path, its other children stay scheduled, each by itself.
  mutating func cancel(_ path: Path) {
    // Nothing can be scheduled deeper, and a search for it would take quadratic time.
    guard path.count <= Limits.depth + 1 else { return }
    removeAll(below: path)
    while let ancestor = scheduledAncestor(of: path), ancestor.count < path.count {
      guard let children = scheduled[ancestor]?.node.children else { return }
      remove(ancestor)
      let kept = path.keys[ancestor.count]
      for (key, child) in children.map {
        let childPath = ancestor.appending(key)
        if key != kept || childPath.count < path.count {
          insert(childPath, child)
        }
      }
    }
  }

  private func scheduledAncestor(of path: Path) -> Path? {
    for count in 0...path.count {
      let prefix = Path(path.keys.prefix(count))
      if scheduled[prefix] != nil { return prefix }
    }
    return nil
  }

  /// Withdraws what is scheduled at a path and below it, but nothing of what covers it from above.
  mutating func removeAll(below path: Path) {
    var doomed: [Path] = []
    for (candidate, _) in scheduled.ascending(after: { $0 < path }) {
      guard path.contains(candidate) else { break }
      doomed.append(candidate)
    }
    for candidate in doomed { remove(candidate) }
  }

  private mutating func insert(_ path: Path, _ node: Node) {
    let write = Write(node: node, bytes: Self.jsonBytes(of: node))
    scheduled.updateValue(write, forKey: path)
    bytes += write.bytes
  }

  private mutating func remove(_ path: Path) {
    bytes -= scheduled.removeValue(forKey: path)?.bytes ?? 0
  }

  private static func jsonBytes(of node: Node) -> Int {
    var writer = JSONWriter()
    node.write(to: &writer)
    return writer.bytes.count
  }
}
