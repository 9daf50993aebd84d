import Dispatch
package import RealtimeCore

/// Rows in path order, a chunk of them in one buffer.
package struct NodeRows: Sendable {
  /// The position of a row in the buffer: its path, directly followed by its value.
  private struct Row {
    let start: Int
    let pathEnd: Int
    let end: Int
  }

  /// The size in bytes at which a chunk is full.
  private static let chunkBytes = 48 * 1_024

  private var bytes: [UInt8] = []
  private var rows: [Row] = []

  package init() {
    bytes.reserveCapacity(Self.chunkBytes + 4_096)
    rows.reserveCapacity(2_048)
  }

  /// Decodes the rows one after another, and passes on their paths and contents.
  ///
  /// A `BinaryReader.Failure` of the body counts as damage to the row.
  ///
  /// - Throws: ``DamagedData`` at the first damaged row, or any other error of the body.
  package func forEachNode(
    _ body: (ArraySlice<UInt8>, BinaryReader.StoredNode) throws -> Void
  ) throws {
    var builder = PackedNodeBuilder()
    try forEachRow { path, value in
      do {
        try body(path, try NodeRow.decode(value, key: path, with: &builder))
      } catch let failure as BinaryReader.Failure {
        throw DamagedData(key: path, by: failure)
      }
    }
  }

  package func forEachRow(
    _ body: (_ path: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) throws -> Void
  ) rethrows {
    for row in rows {
      try body(bytes[row.start..<row.pathEnd], bytes[row.pathEnd..<row.end])
    }
  }

  package var isFull: Bool { bytes.count >= Self.chunkBytes }

  package var count: Int { rows.count }

  package var isEmpty: Bool { rows.isEmpty }

  package mutating func append(path: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    let start = bytes.count
    bytes.append(contentsOf: path)
    let pathEnd = bytes.count
    bytes.append(contentsOf: value)
    rows.append(Row(start: start, pathEnd: pathEnd, end: bytes.count))
  }
}

/// Visits the tree that the rows of the node table describe, starting at the root.
package protocol RowVisitor {
  /// Begins a child that has rows of its own.
  mutating func open(_ key: ChildKey) throws
  /// Adds a whole child to the innermost open node; without a key, the node is the whole tree.
  mutating func add(_ node: Node, as key: ChildKey?) throws
  /// Sets the priority of the innermost open node.
  mutating func setPriority(_ priority: LeafValue)
  /// Ends the innermost open node.
  mutating func close() throws
}

/// Turns rows in path order into a walk over the tree.
///
/// The nodes on the path of the last row are open. The first row that is not below a node closes
/// it. The rows of a node's children come in the order of the bytes of their keys.
package struct RowWalk<Visitor: RowVisitor> {
  private(set) var visitor: Visitor
  /// The path of the innermost open node.
  private var path: [UInt8] = []
  /// The keys of the open nodes below the root, each with the length of the path above it.
  private var levels: [(key: ChildKey, parentBytes: Int)] = []
  /// The child stored in the last row, below which there may be no rows.
  private var packed: ChildKey?
  private var isWhole = false

  package init(_ visitor: Visitor) {
    self.visitor = visitor
  }

  /// Adds a row.
  ///
  /// - Throws: `BinaryReader.Failure` when the row cannot be at its path, or an error of the
  ///   visitor.
  package mutating func add(_ stored: BinaryReader.StoredNode, at rowPath: ArraySlice<UInt8>) throws
  {
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

  /// Closes all open nodes below the root, and returns the visitor.
  package consuming func finish() throws -> Visitor {
    while !levels.isEmpty { try close() }
    return visitor
  }

  private static var belowPacked: BinaryReader.Failure {
    BinaryReader.Failure(reason: "it is below data packed in one row")
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

/// Builds a tree from its rows; each node is built once, from its children.
struct TreeAssembler: RowVisitor {
  private struct Level {
    let key: ChildKey
    var priority: LeafValue?
    var entries: [(key: ChildKey, value: Node)] = []
    var isAscending = true

    mutating func append(_ node: Node, as key: ChildKey) {
      if let last = entries.last, !(last.key < key) { isAscending = false }
      entries.append((key, node))
    }

    /// The rows are in byte order, which is also the order of the keys unless these are numbers.
    consuming func node() -> Node {
      Node(
        sortedChildren: isAscending ? entries : entries.sorted { $0.key < $1.key },
        priority: priority
      )
    }
  }

  private var levels = [Level(key: ChildKey(""))]
  /// The whole tree, if it is stored in one row.
  private var packedRoot: Node?

  mutating func open(_ key: ChildKey) {
    levels.append(Level(key: key))
  }

  mutating func add(_ node: Node, as key: ChildKey?) {
    if let key { levels[levels.count - 1].append(node, as: key) } else { packedRoot = node }
  }

  mutating func setPriority(_ priority: LeafValue) {
    levels[levels.count - 1].priority = priority
  }

  mutating func close() {
    let level = levels.removeLast()
    let key = level.key
    let node = level.node()
    if !node.isEmpty { levels[levels.count - 1].append(node, as: key) }
  }

  /// The tree of everything that was added and closed.
  consuming func tree() -> Node {
    packedRoot ?? levels.removeLast().node()
  }
}

/// Decodes chunks of rows and builds their tree on a separate thread, while the next chunks are
/// read.
///
/// State: assembling → finished, or failed at the first damaged row.
package final class RowDecoder: @unchecked Sendable {
  // Safety: the mutable properties are used only on `queue`.

  /// The maximum number of chunks that wait to be decoded.
  private static let chunkLimit = 8

  private let queue = DispatchQueue(label: "RowDecoder")
  private let free = DispatchSemaphore(value: chunkLimit)
  private var walk = RowWalk(TreeAssembler())
  private var failure: (any Error)?

  package init() {}

  /// Adds the next chunk; waits while too many chunks are queued.
  package func add(_ chunk: NodeRows) {
    free.wait()
    queue.async { [self] in
      decode(chunk)
      free.signal()
    }
  }

  /// Waits for the last chunk and returns the tree.
  ///
  /// - Throws: ``DamagedData`` when a row is damaged.
  package func finish() throws -> Node {
    try queue.sync {
      if let failure { throw failure }
      return try walk.finish().tree()
    }
  }

  private func decode(_ chunk: NodeRows) {
    guard failure == nil else { return }
    do {
      try chunk.forEachNode { try walk.add($1, at: $0) }
    } catch {
      failure = error
    }
  }
}
