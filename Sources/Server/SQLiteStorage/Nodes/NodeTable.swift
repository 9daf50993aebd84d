import Foundation
import GRDB
import RealtimeCore
import RealtimeHub

/// The tree as rows: one for each leaf or small subtree, and one for the priority of a larger one.
///
/// A row's path is the UTF-8 of its keys, each followed by a slash, which no key contains: what lies
/// below a path is exactly what starts with its bytes. There are no rows below a packed row, and at
/// least one packed row below every branch row.
struct NodeTable {
  /// The most bytes of a subtree in one row, short enough to stay within a page.
  static let packedBytes = 512

  /// The name of the table in the file.
  static let name = "nodes"

  private let database: Database
  private let path: String
  private let table: String
  private let rows: NodeRowEditor

  /// - Parameters:
  ///   - database: A connection that may use the table now.
  ///   - path: The file that errors name.
  ///   - table: The name of the table; others than that in the file are copies.
  init(_ database: Database, path: String, table: String = name) {
    self.database = database
    self.path = path
    self.table = table
    rows = NodeRowEditor(database, file: path, table: table)
  }

  // MARK: Reading

  /// Builds the tree of all rows.
  ///
  /// The rows are read here and decoded by a second thread, a few chunks behind.
  ///
  /// - Complexity: O(size)
  func load() throws -> Node {
    let decoder = RowDecoder(path: path)
    try NodeRows.forEachChunk(of: database, table: table) { decoder.add($0) }
    return try decoder.finish()
  }

  /// The number of rows, counted without reading them.
  ///
  /// - Complexity: O(pages)
  func rowCount() throws -> Int {
    try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \(table)") ?? 0
  }

  /// Reads a row, or throws why it cannot be what was written.
  static func decode(
    _ value: ArraySlice<UInt8>,
    key: ArraySlice<UInt8>
  ) throws(BinaryReader.Failure) -> BinaryReader.StoredNode {
    let end = max(value.startIndex, value.endIndex - sealBytes)
    var found: UInt32 = 0
    for byte in value[end...].reversed() { found = found << 8 | UInt32(byte) }
    guard value.count >= sealBytes, found == seal(value[..<end], key: key) else {
      throw BinaryReader.Failure(reason: "its checksum is wrong")
    }
    var reader = BinaryReader(value[..<end])
    return try reader.storedNode()
  }

  /// The error of a row that cannot be read.
  static func damaged(
    in file: String,
    key: ArraySlice<UInt8>,
    by failure: any Error
  ) -> StoreError {
    let rowPath = String(decoding: key, as: UTF8.self)
    let reason = (failure as? BinaryReader.Failure)?.reason ?? "\(failure)"
    return StoreError.damaged(file, because: "the data at /\(rowPath) are damaged: \(reason)")
  }

  private static let sealBytes = 4

  /// Appends the checksum of a row with this path.
  static func seal(_ writer: inout BinaryWriter, key: ArraySlice<UInt8>) {
    let seal = seal(writer.bytes[...], key: key)
    for index in 0..<sealBytes {
      writer.write(byte: UInt8(truncatingIfNeeded: seal >> (8 * index)))
    }
  }

  private static func seal(_ content: ArraySlice<UInt8>, key: ArraySlice<UInt8>) -> UInt32 {
    UInt32(truncatingIfNeeded: Checksum.of(content, seed: Checksum.of(key)))
  }

  // MARK: Changing

  /// How many rows have been written, and how many ranges of rows removed.
  var changeCount: Int { rows.changeCount }

  /// How many rows there are more than before the first change.
  var addedRows: Int { rows.addedRows }

  /// Changes the rows as ``Node/update(at:to:)`` changes a node.
  func apply(_ change: Change) throws {
    let keys = change.path.isPriority ? change.path.keys.dropLast() : change.path.keys[...]
    let rowPath = RowPath(keys)
    // What was at the path itself does not matter if everything there is replaced.
    let depths = change.path.isPriority ? keys.count + 1 : keys.count
    for depth in 0..<depths {
      guard var node = try rows.packedNode(rowPath[depth]) else { continue }
      node.update(at: Path(change.path.keys.dropFirst(depth)), to: change.node)
      try rows.remove(rowPath[depth])
      return node.isEmpty ? try prune(rowPath, above: depth) : try store(node, at: rowPath[depth])
    }
    if change.path.isPriority {
      try setPriority(change.node.leafValue, at: rowPath[rowPath.depth])
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
    guard let priority, try rows.hasRows(below: path) else { return }
    try rows.insert(branchPriority: priority, at: path)
  }

  /// Removes the priorities of the first nodes of a path that have no data left below them.
  private func prune(_ rowPath: RowPath, above depth: Int) throws {
    for depth in (0..<depth).reversed() {
      if try rows.hasRows(below: rowPath[depth]) { return }
      try rows.remove(rowPath[depth])
    }
  }

  /// Removes the priorities at a path and above it of nodes that have no data below them.
  func prune(_ keys: [ChildKey]) throws {
    try prune(RowPath(keys), above: keys.count + 1)
  }

  /// Removes everything at a path, and splits the rows above so that others can be inserted there.
  func clear(_ keys: [ChildKey]) throws {
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
  func insert(_ node: Node, at keys: [ChildKey]) throws {
    let rowPath = RowPath(keys)
    try store(node, at: rowPath[rowPath.depth])
  }

  /// Inserts the rows of a node where there are none.
  private func store(_ node: Node, at path: ArraySlice<UInt8>) throws {
    if node.children == nil || Self.isSmall(node) {
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

  /// Whether a node fits in one row, by an estimate that stops when it does not.
  private static func isSmall(_ node: Node) -> Bool {
    size(of: node) != nil
  }

  /// An estimate of the bytes that a small node takes in a row, or nil when it takes more than fit.
  static func size(of node: Node) -> Int? {
    var budget = packedBytes
    return fits(node, &budget) ? packedBytes - budget : nil
  }

  private static func fits(_ node: Node, _ budget: inout Int) -> Bool {
    budget -= 2
    if case .string(let text)? = node.leafValue { budget -= text.utf8.count }
    if case .string(let text)? = node.priority { budget -= text.utf8.count }
    guard budget >= 0, let children = node.children else { return budget >= 0 }
    for (key, child) in children.map {
      budget -= key.text.utf8.count + 1
      guard fits(child, &budget) else { return false }
    }
    return true
  }
}

/// The bytes of a path in the node table, and of all that lie above it.
struct RowPath {
  /// The bytes of the whole path.
  let bytes: [UInt8]
  /// Where the bytes of each path end, from the root down.
  private let ends: [Int]

  init(_ keys: some Collection<ChildKey>) {
    var bytes: [UInt8] = []
    var ends = [0]
    ends.reserveCapacity(keys.count + 1)
    for key in keys {
      bytes.append(contentsOf: key.text.utf8)
      bytes.append(UInt8(ascii: "/"))
      ends.append(bytes.count)
    }
    self.bytes = bytes
    self.ends = ends
  }

  /// How many keys there are.
  var depth: Int { ends.count - 1 }

  /// The path of the first keys; it is a programmer error to ask for more than there are.
  subscript(depth: Int) -> ArraySlice<UInt8> { bytes[..<ends[depth]] }

  /// The first bytes after all that start with a path.
  static func end(of path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    // No UTF-8 has the byte FF, and the byte after a slash is a zero.
    path.isEmpty ? [0xFF] : (path.dropLast() + [UInt8(ascii: "/") + 1])[...]
  }
}
