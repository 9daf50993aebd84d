import RealtimeCore
import RealtimeServer

/// The changes of an import that are sent to a server as one write.
struct ImportBatch: ImportTarget {
  /// The changes, at locations none of which contains another.
  private(set) var changes: [Change] = []
  /// The approximate size.
  private(set) var bytes = 0

  /// Removes and returns all changes.
  mutating func takeAll() -> [Change] {
    defer { self = ImportBatch() }
    return changes
  }

  mutating func apply(_ change: Change) {
    var measure = NodeMeasure()
    measure.add(change.node)
    bytes += measure.bytes + change.path.keys.reduce(0) { $0 + $1.byteCount + 1 }
    // A text is read in order, so a change within an earlier one is within the last one.
    if let last = changes.indices.last, let inner = change.path.relative(to: changes[last].path) {
      changes[last].node.update(at: inner, to: change.node)
    } else {
      changes.append(change)
    }
  }

  mutating func clear(_ keys: [ChildKey]) { apply(Change(Path(keys), to: .empty)) }

  mutating func insert(_ node: Node, at keys: [ChildKey]) { apply(Change(Path(keys), to: node)) }

  /// Does nothing: the server does so itself.
  mutating func prune(_ keys: [ChildKey]) {}
}

/// The changes of an import that is only checked.
struct ImportRehearsal: ImportTarget {
  func apply(_ change: Change) {}
  func clear(_ keys: [ChildKey]) {}
  func insert(_ node: Node, at keys: [ChildKey]) {}
  func prune(_ keys: [ChildKey]) {}
}
