import RealtimeCore
import RealtimeServer

/// The changes of an import that are sent to a server as one write.
final class ImportBatch: ImportTarget {
  /// The changes, at locations none of which contains another.
  private(set) var changes: [Change] = []
  /// The approximate size.
  private(set) var bytes = 0

  /// Removes and returns all changes.
  func takeAll() -> [Change] {
    defer { (changes, bytes) = ([], 0) }
    return changes
  }

  func apply(_ change: Change) {
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

  func clear(_ keys: [ChildKey]) { apply(Change(Path(keys), to: .empty)) }

  func insert(_ node: Node, at keys: [ChildKey]) { apply(Change(Path(keys), to: node)) }

  /// Does nothing: the server does so itself.
  func prune(_ keys: [ChildKey]) {}
}
