import Foundation
import GRDB
import RealtimeHub
import RealtimeProtocol
import RealtimeTree

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

  /// - Parameters:
  ///   - database: A connection that may use the table now.
  ///   - path: The file that errors name.
  ///   - table: The name of the table; others than that in the file are copies.
  init(_ database: Database, path: String, table: String = name) {
    self.database = database
    self.path = path
    self.table = table
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

  private func decode(_ value: [UInt8], key: [UInt8]) throws -> BinaryReader.StoredNode {
    do throws(BinaryReader.Failure) {
      return try Self.decode(value[...], key: key[...])
    } catch {
      throw Self.damaged(path, key: key[...], error)
    }
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

  private static func seal(_ content: ArraySlice<UInt8>, key: ArraySlice<UInt8>) -> UInt32 {
    UInt32(truncatingIfNeeded: Checksum.of(content, seed: Checksum.of(key)))
  }

  // MARK: Changing

  /// Does to the rows what ``Node/update(at:to:)`` does to a node.
  func apply(_ change: Change) throws {
    let keys = change.path.isPriority ? change.path.keys.dropLast() : change.path.keys[...]
    var prefixes: [[UInt8]] = [[]]
    for key in keys {
      prefixes.append((prefixes.last ?? []) + key.text.utf8 + [UInt8(ascii: "/")])
    }
    for (depth, prefix) in prefixes.enumerated() {
      guard case .packed(var node)? = try entry(prefix) else { continue }
      node.update(at: Path(change.path.keys.dropFirst(depth)), to: change.node)
      try remove(prefix)
      if node.isEmpty { try prune(prefixes[..<depth]) } else { try store(node, at: prefix) }
      return
    }
    let own = prefixes[prefixes.count - 1]
    if change.path.isPriority {
      try setPriority(change.node.leafValue, at: own)
    } else {
      try removeAll(from: own)
      if change.node.isEmpty {
        try prune(prefixes.dropLast())
      } else {
        try store(change.node, at: own)
      }
    }
  }

  private func setPriority(_ priority: LeafValue?, at prefix: [UInt8]) throws {
    try remove(prefix)
    guard let priority, try hasRows(below: prefix) else { return }
    try insertBranch(priority, at: prefix)
  }

  /// Removes the priorities of nodes, given from the root down, that have no data left below them.
  private func prune(_ ancestors: ArraySlice<[UInt8]>) throws {
    for prefix in ancestors.reversed() {
      if try hasRows(below: prefix) { return }
      try remove(prefix)
    }
  }

  /// Removes everything at a path, and splits the rows above so that others can be inserted there.
  func clear(_ keys: [ChildKey]) throws {
    var prefix: [UInt8] = []
    for key in keys {
      if case .packed(let node)? = try entry(prefix) { try unpack(node, at: prefix) }
      prefix += key.text.utf8 + [UInt8(ascii: "/")]
    }
    try removeAll(from: prefix)
  }

  /// Replaces the packed row of a node by a row for each of its children, and one for its priority.
  private func unpack(_ node: Node, at prefix: [UInt8]) throws {
    try remove(prefix)
    if let priority = node.priority { try insertBranch(priority, at: prefix) }
    guard let children = node.children else { return }
    for (key, child) in children.map {
      try store(child, at: prefix + key.text.utf8 + [UInt8(ascii: "/")])
    }
  }

  /// Inserts the rows of a node at a path that has been cleared.
  func insert(_ node: Node, at keys: [ChildKey]) throws {
    try store(node, at: keys.reduce(into: []) { $0 += $1.text.utf8 + [UInt8(ascii: "/")] })
  }

  /// Removes the priorities at a path and above it of nodes that have no data below them.
  func prune(_ keys: [ChildKey]) throws {
    var prefixes: [[UInt8]] = [[]]
    for key in keys {
      prefixes.append((prefixes.last ?? []) + key.text.utf8 + [UInt8(ascii: "/")])
    }
    try prune(prefixes[...])
  }

  /// Inserts the rows of a node where there are none.
  private func store(_ node: Node, at prefix: [UInt8]) throws {
    guard let children = node.children, !Self.isSmall(node) else {
      var writer = BinaryWriter()
      try writer.write(node)
      return try insert(writer.bytes, at: prefix)
    }
    if let priority = node.priority { try insertBranch(priority, at: prefix) }
    for (key, child) in children.map {
      try store(child, at: prefix + key.text.utf8 + [UInt8(ascii: "/")])
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

  // MARK: Rows

  private func entry(_ prefix: [UInt8]) throws -> BinaryReader.StoredNode? {
    let select = try database.cachedStatement(sql: "SELECT value FROM \(table) WHERE path = ?")
    guard let value = try Data.fetchOne(select, arguments: [Data(prefix)]) else { return nil }
    return try decode([UInt8](value), key: prefix)
  }

  private func hasRows(below prefix: [UInt8]) throws -> Bool {
    let select = try database.cachedStatement(
      sql: "SELECT 1 FROM \(table) WHERE path > ? AND path < ? LIMIT 1"
    )
    let bounds: StatementArguments = [Data(prefix), Data(Self.end(of: prefix))]
    return try Int.fetchOne(select, arguments: bounds) != nil
  }

  private func insertBranch(_ priority: LeafValue, at prefix: [UInt8]) throws {
    var writer = BinaryWriter()
    try writer.write(branchPriority: priority)
    try insert(writer.bytes, at: prefix)
  }

  private func insert(_ content: [UInt8], at prefix: [UInt8]) throws {
    let insert = try database.cachedStatement(
      sql: "INSERT INTO \(table) (path, value) VALUES (?, ?)"
    )
    let seal = Self.seal(content[...], key: prefix[...])
    let value = content + (0..<Self.sealBytes).map { UInt8(truncatingIfNeeded: seal >> (8 * $0)) }
    try insert.execute(arguments: [Data(prefix), Data(value)])
  }

  private func remove(_ prefix: [UInt8]) throws {
    let delete = try database.cachedStatement(sql: "DELETE FROM \(table) WHERE path = ?")
    try delete.execute(arguments: [Data(prefix)])
  }

  private func removeAll(from prefix: [UInt8]) throws {
    let delete = try database.cachedStatement(
      sql: "DELETE FROM \(table) WHERE path >= ? AND path < ?"
    )
    try delete.execute(arguments: [Data(prefix), Data(Self.end(of: prefix))])
  }

  /// The first bytes after all that start with a path.
  private static func end(of prefix: [UInt8]) -> [UInt8] {
    // No UTF-8 has the byte FF, and the byte after a slash is a zero.
    prefix.isEmpty ? [0xFF] : prefix.dropLast() + [UInt8(ascii: "/") + 1]
  }
}
