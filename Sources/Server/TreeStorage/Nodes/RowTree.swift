package import RealtimeCore

/// The rows of a tree, as a storage reads and changes single ones of them.
///
/// Nobody else changes them meanwhile.
package protocol RowEditor {
  /// What a packed row holds, or nil when there is none at a path.
  func packedNode(_ path: ArraySlice<UInt8>) throws -> Node?
  /// Inserts a packed row where there is none.
  func insert(_ node: Node, at path: ArraySlice<UInt8>) throws
  /// Replaces a packed row that is there by another.
  func replace(_ node: Node, at path: ArraySlice<UInt8>) throws
  /// Replaces everything at a path and below it by one packed row.
  func replaceAll(from path: ArraySlice<UInt8>, by node: Node) throws
  /// Inserts the row of a priority where there is none.
  func insert(branchPriority: LeafValue, at path: ArraySlice<UInt8>) throws
  /// Inserts the row of a priority where there is none, provided that there are rows below.
  func insertWhereRowsAreBelow(branchPriority: LeafValue, at path: ArraySlice<UInt8>) throws
  /// Removes a row, if there is one.
  func remove(_ path: ArraySlice<UInt8>) throws
  /// Removes all rows at a path and below it.
  func removeAll(from path: ArraySlice<UInt8>) throws
  /// Removes the rows of paths, each above the one before, up to the first that has rows below.
  func prune(_ paths: [ArraySlice<UInt8>]) throws
}

extension RowEditor {
  /// Removes the row and inserts the other.
  package func replace(_ node: Node, at path: ArraySlice<UInt8>) throws {
    try remove(path)
    try insert(node, at: path)
  }

  /// Removes all rows and inserts the one.
  package func replaceAll(from path: ArraySlice<UInt8>, by node: Node) throws {
    try removeAll(from: path)
    try insert(node, at: path)
  }
}

/// A tree as rows: one for each leaf or small subtree, and one for the priority of a larger one.
package struct RowTree<Rows: RowEditor> {
  private let rows: Rows

  /// Makes a tree of the rows that an editor reads and changes.
  package init(_ rows: Rows) { self.rows = rows }

  /// Changes the rows as `Node.update(at:to:)` changes a node.
  package func apply(_ change: Change) throws {
    let keys = change.path.isPriority ? change.path.keys.dropLast() : change.path.keys[...]
    let rowPath = RowPath(keys)
    // What was at the path itself does not matter if everything there is replaced.
    let depths = change.path.isPriority ? keys.count + 1 : keys.count
    for depth in 0..<depths {
      guard var node = try rows.packedNode(rowPath[depth]) else { continue }
      node.update(at: Path(change.path.keys.dropFirst(depth)), to: change.node)
      if Self.isOneRow(node) { return try rows.replace(node, at: rowPath[depth]) }
      try rows.remove(rowPath[depth])
      return node.isEmpty ? try prune(rowPath, above: depth) : try store(node, at: rowPath[depth])
    }
    if change.path.isPriority {
      try setPriority(change.node.leafValue, at: rowPath[rowPath.depth])
    } else if Self.isOneRow(change.node) {
      try rows.replaceAll(from: rowPath[rowPath.depth], by: change.node)
    } else {
      try rows.removeAll(from: rowPath[rowPath.depth])
      if change.node.isEmpty {
        try prune(rowPath, above: rowPath.depth)
      } else {
        try store(change.node, at: rowPath[rowPath.depth])
      }
    }
  }

  private func setPriority(_ priority: LeafValue?, at path: ArraySlice<UInt8>) throws {
    try rows.remove(path)
    if let priority { try rows.insertWhereRowsAreBelow(branchPriority: priority, at: path) }
  }

  /// Removes the priorities of the first nodes of a path that have no data left below them.
  private func prune(_ rowPath: RowPath, above depth: Int) throws {
    try rows.prune((0..<depth).reversed().map { rowPath[$0] })
  }

  /// Removes the priorities at a path and above it of nodes that have no data below them.
  package func prune(_ keys: [ChildKey]) throws {
    try prune(RowPath(keys), above: keys.count + 1)
  }

  /// Removes everything at a path, and splits the rows above so that others can be inserted there.
  package func clear(_ keys: [ChildKey]) throws {
    let rowPath = RowPath(keys)
    for depth in keys.indices {
      if let node = try rows.packedNode(rowPath[depth]) { try unpack(node, at: rowPath[depth]) }
    }
    try rows.removeAll(from: rowPath[rowPath.depth])
  }

  /// Replaces the packed row of a node by a row for each of its children, and one for its priority.
  private func unpack(_ node: Node, at path: ArraySlice<UInt8>) throws {
    try rows.remove(path)
    try storeApart(node, at: path)
  }

  /// Inserts the rows of a node at a path that has been cleared.
  package func insert(_ node: Node, at keys: [ChildKey]) throws {
    let rowPath = RowPath(keys)
    try store(node, at: rowPath[rowPath.depth])
  }

  /// Whether a node takes one row; an empty one takes none.
  private static func isOneRow(_ node: Node) -> Bool {
    switch node {
    case .empty: false
    case .leaf: true
    case .children: NodeRow.isSmall(node)
    }
  }

  /// Inserts the rows of a node where there are none.
  private func store(_ node: Node, at path: ArraySlice<UInt8>) throws {
    if Self.isOneRow(node) {
      try rows.insert(node, at: path)
    } else {
      try storeApart(node, at: path)
    }
  }

  /// Inserts a row for the priority of a node, and rows for each of its children.
  private func storeApart(_ node: Node, at path: ArraySlice<UInt8>) throws {
    if let priority = node.priority { try rows.insert(branchPriority: priority, at: path) }
    guard let children = node.children else { return }
    for (key, child) in children.map {
      try store(child, at: (path + RowPath(CollectionOfOne(key)).bytes)[...])
    }
  }
}
