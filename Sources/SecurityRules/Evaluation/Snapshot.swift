internal import RealtimeTree

/// A location in a tree, which need not exist; nothing is copied.
struct Snapshot: Sendable {
  let root: Node
  let keys: [ChildKey]
  let node: Node

  init(root: Node) {
    self.init(root: root, keys: [], node: root)
  }

  private init(root: Node, keys: [ChildKey], node: Node) {
    self.root = root
    self.keys = keys
    self.node = node
  }

  func child(_ key: ChildKey) -> Snapshot {
    Snapshot(root: root, keys: keys + [key], node: Self.child(key, of: node))
  }

  /// The location at a path of any text; what is no legal key exists nowhere.
  func child(path: String) -> Snapshot {
    let below = Path(wire: path).keys
    let node = below.reduce(node) { Self.child($1, of: $0) }
    return Snapshot(root: root, keys: keys + below, node: node)
  }

  /// The location above, or nil at the root.
  var parent: Snapshot? {
    guard !keys.isEmpty else { return nil }
    let above = Array(keys.dropLast())
    let node = above.reduce(root) { Self.child($1, of: $0) }
    return Snapshot(root: root, keys: above, node: node)
  }

  /// The pseudo key of priorities is no child for rules.
  private static func child(_ key: ChildKey, of node: Node) -> Node {
    key == .priority ? .empty : node[key]
  }
}
