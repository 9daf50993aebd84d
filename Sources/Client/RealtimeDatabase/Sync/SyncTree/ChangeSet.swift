import RealtimeCore

/// The effect of one operation on one child of a view.
enum ChildChange: Sendable {
  case added(Node)
  case removed(Node)
  case changed(from: Node, to: Node)
}

/// The effect of one operation on the children of a view; several changes of a child are combined.
struct ChangeSet: Sendable {
  private(set) var changes: [ChildKey: ChildChange] = [:]

  var isEmpty: Bool { changes.isEmpty }

  mutating func track(_ change: ChildChange, of key: ChildKey) {
    guard let earlier = changes[key] else {
      changes[key] = change
      return
    }
    switch (earlier, change) {
    case (.removed(let old), .added(let new)): changes[key] = .changed(from: old, to: new)
    case (.added, .removed): changes[key] = nil
    case (.changed(let old, _), .removed): changes[key] = .removed(old)
    case (.added, .changed(_, let new)): changes[key] = .added(new)
    case (.changed(let old, _), .changed(_, let new)): changes[key] = .changed(from: old, to: new)
    case (.added, .added), (.removed, .removed), (.removed, .changed), (.changed, .added):
      changes[key] = change
    }
  }

  /// Tracks every difference between the children of two nodes.
  ///
  /// - Complexity: O(children of both)
  mutating func trackDifferences(from old: Node, to new: Node) {
    old.forEachChild(beside: new) { key, before, after in
      if before.isEmpty {
        track(.added(after), of: key)
      } else if after.isEmpty {
        track(.removed(before), of: key)
      } else if before != after {
        track(.changed(from: before, to: after), of: key)
      }
    }
  }
}
