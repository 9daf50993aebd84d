import RealtimeCore

/// Takes the tree that the rows of the node table describe, from the root down.
protocol RowVisitor {
  /// A child with rows of its own begins.
  mutating func open(_ key: ChildKey) throws
  /// A whole child of the innermost open node, or the whole tree when no key is given.
  mutating func add(_ node: Node, as key: ChildKey?) throws
  /// The innermost open node has a priority.
  mutating func setPriority(_ priority: LeafValue)
  /// The innermost open node ends.
  mutating func close() throws
}

/// Turns rows in the order of their paths into a walk over the tree.
///
/// The open nodes are those on the path of the last row; one is closed when a row comes that does
/// not lie below it. The rows of a node's children come in the order of the bytes of their keys.
struct RowWalk<Visitor: RowVisitor> {
  private(set) var visitor: Visitor
  /// The path of the innermost open node.
  private var path: [UInt8] = []
  /// The keys of the open nodes below the root, and how long the paths above them are.
  private var levels: [(key: ChildKey, parentBytes: Int)] = []
  /// The child that the last row was, which no row may lie below.
  private var packed: ChildKey?
  private var isWhole = false

  init(_ visitor: Visitor) {
    self.visitor = visitor
  }

  /// Adds a row.
  ///
  /// - Parameters:
  ///   - rowPath: The path of the row, which lies behind those of all rows so far.
  ///   - stored: What the row holds.
  /// - Throws: `BinaryReader.Failure` when the row cannot be there, and what the visitor throws.
  mutating func add(_ rowPath: ArraySlice<UInt8>, _ stored: BinaryReader.StoredNode) throws {
    guard !isWhole else { throw Self.belowPacked }
    while !path.isEmpty, !isOpen(rowPath) { try close() }
    var start = rowPath.startIndex + path.count
    while let end = rowPath[start...].firstIndex(of: UInt8(ascii: "/")) {
      let key = try Self.key(rowPath[start..<end])
      if key == packed { throw Self.belowPacked }
      start = end + 1
      if start == rowPath.endIndex, case .packed(let node) = stored {
        packed = key
        return try visitor.add(node, as: key)
      }
      packed = nil
      levels.append((key, path.count))
      path = Array(rowPath[..<start])
      try visitor.open(key)
    }
    guard start == rowPath.endIndex else {
      throw BinaryReader.Failure(reason: "a path does not end with a slash")
    }
    switch stored {
    case .branch(let priority): visitor.setPriority(priority)
    case .packed(let node):
      guard rowPath.isEmpty else { throw Self.belowPacked }
      isWhole = true
      try visitor.add(node, as: nil)
    }
  }

  /// Closes what is still open below the root, and returns the visitor.
  consuming func finish() throws -> Visitor {
    while !levels.isEmpty { try close() }
    return visitor
  }

  private static var belowPacked: BinaryReader.Failure {
    BinaryReader.Failure(reason: "it lies below data in one row")
  }

  private func isOpen(_ rowPath: ArraySlice<UInt8>) -> Bool {
    rowPath.count > path.count && rowPath.starts(with: path)
  }

  private mutating func close() throws {
    guard let level = levels.popLast() else { return }
    path.removeLast(path.count - level.parentBytes)
    packed = level.key
    try visitor.close()
  }

  private static func key(_ bytes: ArraySlice<UInt8>) throws -> ChildKey {
    guard let text = String(utf8: bytes) else {
      throw BinaryReader.Failure(reason: "a path is not valid UTF-8")
    }
    return ChildKey(text)
  }
}
