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
    _ file: String,
    key: ArraySlice<UInt8>,
    _ failure: any Error
  ) -> StoreError {
    let place = String(decoding: key, as: UTF8.self)
    let reason = (failure as? BinaryReader.Failure)?.reason ?? "\(failure)"
    return StoreError.damaged(file, "the data at /\(place) are damaged: \(reason)")
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

  /// Does to the rows what ``Node/update(at:to:)`` does to a node.
  func apply(_ change: Change) throws {
    let keys = change.path.isPriority ? change.path.keys.dropLast() : change.path.keys[...]
    let place = RowPath(keys)
    // What replaces everything at a path need not know what was there.
    let depths = change.path.isPriority ? keys.count + 1 : keys.count
    for depth in 0..<depths {
      guard var node = try rows.packedNode(place[depth]) else { continue }
      node.update(at: Path(change.path.keys.dropFirst(depth)), to: change.node)
      try rows.remove(place[depth])
      return node.isEmpty ? try prune(place, above: depth) : try store(node, at: place[depth])
    }
    if change.path.isPriority {
      try setPriority(change.node.leafValue, at: place[place.depth])
    } else {
      try rows.removeAll(from: place[place.depth])
      if change.node.isEmpty {
        try prune(place, above: place.depth)
      } else {
        try store(change.node, at: place[place.depth])
      }
    }
  }

  private func setPriority(_ priority: LeafValue?, at path: ArraySlice<UInt8>) throws {
    try rows.remove(path)
    guard let priority, try rows.hasRows(below: path) else { return }
    try rows.insert(branchPriority: priority, at: path)
  }

  /// Removes the priorities of the first nodes of a path that have no data left below them.
  private func prune(_ place: RowPath, above depth: Int) throws {
    for depth in (0..<depth).reversed() {
      if try rows.hasRows(below: place[depth]) { return }
      try rows.remove(place[depth])
    }
  }

  /// Removes the priorities at a path and above it of nodes that have no data below them.
  func prune(_ keys: [ChildKey]) throws {
    try prune(RowPath(keys), above: keys.count + 1)
  }

  /// Removes everything at a path, and splits the rows above so that others can be inserted there.
  func clear(_ keys: [ChildKey]) throws {
    let place = RowPath(keys)
    for depth in keys.indices {
      if let node = try rows.packedNode(place[depth]) { try unpack(node, at: place[depth]) }
    }
    try rows.removeAll(from: place[place.depth])
  }

  /// Replaces the packed row of a node by a row for each of its children, and one for its priority.
  private func unpack(_ node: Node, at path: ArraySlice<UInt8>) throws {
    try rows.remove(path)
    try storeApart(node, at: path)
  }

  /// Inserts the rows of a node at a path that has been cleared.
  func insert(_ node: Node, at keys: [ChildKey]) throws {
    let place = RowPath(keys)
    try store(node, at: place[place.depth])
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
