package import RealtimeCore

/// Reads and changes individual rows of a tree, as each storage implements it.
///
/// The editor must be the only one to change the rows while it is in use.
package protocol RowEditor {
  /// The content of the packed row at a path, or nil when there is none.
  func packedNode(_ path: ArraySlice<UInt8>) throws -> Node?
  /// Inserts a packed row at a path without a row.
  func insert(_ node: Node, at path: ArraySlice<UInt8>) throws
  func replace(_ node: Node, at path: ArraySlice<UInt8>) throws
  /// Replaces everything at a path and below it with one packed row.
  func replaceAll(from path: ArraySlice<UInt8>, by node: Node) throws
  /// Inserts a branch row, which holds a priority, at a path without a row.
  func insert(branchPriority: LeafValue, at path: ArraySlice<UInt8>) throws
  /// Inserts a branch row at a path without a row, provided that there are rows below it.
  func insertWhereRowsAreBelow(branchPriority: LeafValue, at path: ArraySlice<UInt8>) throws
  /// Removes the row at a path, if there is one.
  func remove(_ path: ArraySlice<UInt8>) throws
  /// Removes all rows at a path and below it.
  func removeAll(from path: ArraySlice<UInt8>) throws
  /// Removes the rows at some paths, each above the previous one, up to the first that has rows
  /// below it.
  func prune(_ paths: [ArraySlice<UInt8>]) throws
}

extension RowEditor {
  /// Removes the old row and inserts the new one.
  package func replace(_ node: Node, at path: ArraySlice<UInt8>) throws {
    try remove(path)
    try insert(node, at: path)
  }

  /// Removes all rows and inserts the new one.
  package func replaceAll(from path: ArraySlice<UInt8>, by node: Node) throws {
    try removeAll(from: path)
    try insert(node, at: path)
  }
}

/// A tree as rows: one for each leaf or small subtree, and one for the priority of a larger
/// subtree.
package struct RowTree<Rows: RowEditor> {
  private let rows: Rows

  package init(_ rows: Rows) { self.rows = rows }

  /// Changes the rows in the way that `Node.update(at:to:)` changes a node.
  package func apply(_ change: Change) throws {
    let keys = change.path.isPriority ? change.path.keys.dropLast() : change.path.keys[...]
    let rowPath = RowPath(keys)
    // The row at the path itself does not matter if everything there is replaced.
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

  /// Removes the priorities of the lowest nodes above a path that have no data left below them.
  private func prune(_ rowPath: RowPath, above depth: Int) throws {
    try rows.prune((0..<depth).reversed().map { rowPath[$0] })
  }

  package func prune(_ keys: [ChildKey]) throws {
    try prune(RowPath(keys), above: keys.count + 1)
  }

  /// Removes everything at a path, and splits the rows above it so that rows can be inserted there.
  package func clear(_ keys: [ChildKey]) throws {
    let rowPath = RowPath(keys)
    for depth in keys.indices {
      guard let node = try rows.packedNode(rowPath[depth]) else { continue }
      try rows.remove(rowPath[depth])
      try storeApart(node, at: rowPath[depth])
    }
    try rows.removeAll(from: rowPath[rowPath.depth])
  }

  package func insert(_ node: Node, at keys: [ChildKey]) throws {
    let rowPath = RowPath(keys)
    try store(node, at: rowPath[rowPath.depth])
  }

  /// Whether a node takes exactly one row; an empty node takes none.
  private static func isOneRow(_ node: Node) -> Bool {
    switch node {
    case .empty: false
    case .leaf: true
    case .children: NodeRow.isSmall(node)
    }
  }

  /// Inserts the rows of a node at a path without rows.
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
