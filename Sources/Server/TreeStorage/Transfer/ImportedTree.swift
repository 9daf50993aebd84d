package import RealtimeCore

extension RowTree: ImportTarget {}

/// A tree that receives an import, long values last.
///
/// A table in which paths and values are stored together compares a path with that of a long value
/// by reading all of both, and every later row that is searched for nearby would do so again.
package struct ImportedTree<Rows: RowEditor>: ImportTarget {
  /// A change that is made at the end.
  private enum LateChange {
    case apply(Change)
    case insert(Node, keys: [ChildKey])
    case prune(keys: [ChildKey])
  }

  /// The length of text from which it comes last, in bytes.
  private static var longBytes: Int { 16 * 1_024 }
  /// The number of bytes that wait at most.
  private static var waitingBytes: Int { 128 * 1_024 * 1_024 }

  private let tree: RowTree<Rows>
  private var late: [LateChange] = []
  private var lateBytes = 0

  /// Makes a tree of which nothing has been changed.
  package init(_ tree: RowTree<Rows>) { self.tree = tree }

  /// Makes the changes that have waited.
  package mutating func finish() throws {
    for change in late {
      switch change {
      case .apply(let change): try tree.apply(change)
      case .insert(let node, let keys): try tree.insert(node, at: keys)
      case .prune(let keys): try tree.prune(keys)
      }
    }
    (late, lateBytes) = ([], 0)
  }

  package mutating func apply(_ change: Change) throws {
    // What depends on the rows below a path has to wait for all of them.
    let depends = change.path.isPriority || change.node.isEmpty
    guard isLong(change.node) || (depends && !late.isEmpty) else { return try tree.apply(change) }
    try add(.apply(change), of: change.node)
  }

  package mutating func clear(_ keys: [ChildKey]) throws { try tree.clear(keys) }

  package mutating func insert(_ node: Node, at keys: [ChildKey]) throws {
    guard isLong(node) else { return try tree.insert(node, at: keys) }
    try add(.insert(node, keys: keys), of: node)
  }

  package mutating func prune(_ keys: [ChildKey]) throws {
    late.isEmpty ? try tree.prune(keys) : late.append(.prune(keys: keys))
  }

  private mutating func add(_ change: LateChange, of node: Node) throws {
    late.append(change)
    lateBytes += Self.length(of: node)
    if lateBytes > Self.waitingBytes { try finish() }
  }

  private func isLong(_ node: Node) -> Bool { Self.length(of: node) > Self.longBytes }

  private static func length(of node: Node) -> Int {
    guard case .leaf(.string(let text), _) = node else { return 0 }
    return text.utf8.count
  }
}
