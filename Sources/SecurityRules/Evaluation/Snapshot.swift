internal import RealtimeTree

/// A location in a tree, which need not exist, with the way down to it; nothing is copied.
struct Snapshot: Sendable {
  let node: Node
  /// The number of keys from the root down.
  let depth: Int
  /// The last step of the way; nil at the root.
  private let last: Step?

  /// A location and the key that leads from it to the next.
  private final class Step: Sendable {
    let above: Snapshot
    let key: ChildKey

    init(_ above: Snapshot, _ key: ChildKey) {
      self.above = above
      self.key = key
    }
  }

  init(root: Node) {
    self.init(node: root, depth: 0, last: nil)
  }

  private init(node: Node, depth: Int, last: Step?) {
    self.node = node
    self.depth = depth
    self.last = last
  }

  /// The keys from the root down.
  ///
  /// - Complexity: O(depth)
  var keys: [ChildKey] {
    var keys: [ChildKey] = []
    var step = last
    while let current = step {
      keys.append(current.key)
      step = current.above.last
    }
    return keys.reversed()
  }

  func child(_ key: ChildKey) -> Snapshot {
    // The pseudo key of priorities is no child for rules.
    let below = key == .priority ? .empty : node[key]
    return Snapshot(node: below, depth: depth + 1, last: Step(self, key))
  }

  /// The location at a path of any text; what is no legal key exists nowhere.
  func child(path: String) -> Snapshot {
    // Most rules name one child, and that needs no cutting.
    let isOne = !path.isEmpty && !path.utf8.contains(UInt8(ascii: "/"))
    if isOne { return child(ChildKey(path)) }
    return Path(wire: path).keys.reduce(self) { $0.child($1) }
  }

  /// The location above, or nil at the root.
  var parent: Snapshot? { last?.above }
}
