import RealtimeCore

/// The effect of one operation on one child of a view.
enum ChildChange: Sendable {
  /// The child was added.
  case added(Node)
  /// The child was removed.
  case removed(Node)
  /// The child's data changed.
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
    var olds = old.children?.map.makeIterator()
    var news = new.children?.map.makeIterator()
    var left = olds?.next()
    var right = news?.next()
    while left != nil || right != nil {
      if let before = left, right.map({ before.key < $0.key }) ?? true {
        track(.removed(before.value), of: before.key)
        left = olds?.next()
      } else if let after = right, left.map({ after.key < $0.key }) ?? true {
        track(.added(after.value), of: after.key)
        right = news?.next()
      } else if let before = left, let after = right {
        if before.value != after.value {
          track(.changed(from: before.value, to: after.value), of: after.key)
        }
        left = olds?.next()
        right = news?.next()
      }
    }
  }
}
