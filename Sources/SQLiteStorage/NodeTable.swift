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

  private let database: Database
  private let path: String

  init(_ database: Database, path: String) {
    self.database = database
    self.path = path
  }

  // MARK: Reading

  /// Builds the tree of all rows.
  func load() throws -> Node {
    var root = Node.empty
    var priorities: [(Path, LeafValue)] = []
    let rows = try Row.fetchCursor(database, sql: "SELECT path, value FROM nodes ORDER BY path")
    while let row = try rows.next() {
      let key = [UInt8](row[0] as Data)
      let location = try location(of: key)
      switch try decode([UInt8](row[1] as Data), key: key) {
      case .packed(let node): root.update(at: location, to: node)
      case .branch(let priority): priorities.append((location, priority))
      }
    }
    for (location, priority) in priorities {
      root.update(at: location.appending(.priority), to: .leaf(priority))
    }
    return root
  }

  private func location(of key: [UInt8]) throws -> Path {
    guard !key.isEmpty else { return .root }
    guard key.last == UInt8(ascii: "/") else { throw StoreError.damaged(path, "a path is damaged") }
    let keys = key.dropLast().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return Path(keys.map { ChildKey(String(decoding: $0, as: UTF8.self)) })
  }

  private func decode(_ value: [UInt8], key: [UInt8]) throws -> BinaryReader.StoredNode {
    do throws(BinaryReader.Failure) {
      let end = max(0, value.count - Self.sealBytes)
      guard Self.seal(value[..<end], key: key).elementsEqual(value[end...]) else {
        throw BinaryReader.Failure(reason: "its checksum is wrong")
      }
      var reader = BinaryReader(value, end: end)
      return try reader.storedNode()
    } catch {
      let place = String(decoding: key, as: UTF8.self)
      throw StoreError.damaged(path, "the data at /\(place) are damaged: \(error.reason)")
    }
  }

  private static let sealBytes = 4

  private static func seal(_ content: ArraySlice<UInt8>, key: [UInt8]) -> [UInt8] {
    let sum = Checksum.of(content, seed: Checksum.of(key))
    return (0..<sealBytes).map { UInt8(truncatingIfNeeded: sum >> UInt64(8 * $0)) }
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
    var budget = packedBytes
    return fits(node, &budget)
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
    let select = try database.cachedStatement(sql: "SELECT value FROM nodes WHERE path = ?")
    guard let value = try Data.fetchOne(select, arguments: [Data(prefix)]) else { return nil }
    return try decode([UInt8](value), key: prefix)
  }

  private func hasRows(below prefix: [UInt8]) throws -> Bool {
    let select = try database.cachedStatement(
      sql: "SELECT 1 FROM nodes WHERE path > ? AND path < ? LIMIT 1"
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
    let insert = try database.cachedStatement(sql: "INSERT INTO nodes (path, value) VALUES (?, ?)")
    let value = content + Self.seal(content[...], key: prefix)
    try insert.execute(arguments: [Data(prefix), Data(value)])
  }

  private func remove(_ prefix: [UInt8]) throws {
    let delete = try database.cachedStatement(sql: "DELETE FROM nodes WHERE path = ?")
    try delete.execute(arguments: [Data(prefix)])
  }

  private func removeAll(from prefix: [UInt8]) throws {
    let delete = try database.cachedStatement(sql: "DELETE FROM nodes WHERE path >= ? AND path < ?")
    try delete.execute(arguments: [Data(prefix), Data(Self.end(of: prefix))])
  }

  /// The first bytes after all that start with a path.
  private static func end(of prefix: [UInt8]) -> [UInt8] {
    // No UTF-8 has the byte FF, and the byte after a slash is a zero.
    prefix.isEmpty ? [0xFF] : prefix.dropLast() + [UInt8(ascii: "/") + 1]
  }
}
