import RealtimeCore

/// A write of this client that the server has not answered, with its values decided by estimate.
struct PendingWrite: Sendable {
  /// Counts the writes of an engine; a later write has a higher number.
  let id: Int64
  /// The location.
  let path: Path
  /// What it does there.
  let operation: WriteOperation
  /// Whether views show it; transactions may hide theirs.
  let isVisible: Bool

  /// Every place that the write replaces, by its whole path.
  var parts: [Change] {
    switch operation {
    case .set(let node): [Change(path, node)]
    case .merge(let changes): changes.map { Change(path.appending($0.path), $0.node) }
    }
  }

  /// What the write lays over the data at its location.
  var overlay: Overlay {
    switch operation {
    case .set(let node): .node(node)
    case .merge(let changes): Overlay(changes)
    }
  }
}
