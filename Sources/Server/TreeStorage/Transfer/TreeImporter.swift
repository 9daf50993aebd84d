package import RealtimeCore
package import RealtimeHub

/// Turns JSON into the rows of a tree while it is read, keeping little of it in memory.
///
/// A small value is collected until it is complete and then becomes one row, as in a fold. When a
/// value outgrows a row, all values around it that are still being collected are written first, and
/// then its children one by one. Of two members with the same name, the later one counts.
package struct TreeImporter<Rows: RowEditor> {
  /// An object or array that has begun and not ended.
  private struct Level {
    let key: ChildKey?
    let isArray: Bool
    /// Whether existing data that the JSON does not mention is kept.
    let isMerged: Bool
    /// Whether the children are written as rows; otherwise they are collected in ``entries``.
    var isWritten: Bool
    var entries: [(key: ChildKey, value: Node)] = []
    var bytes = 0
    var elements = 0
    var priority: LeafValue?
    var value: Node?
  }

  /// What the next value belongs to.
  private enum Destination {
    case child(ChildKey?)
    case value
    case priority
    case ignored
  }

  private let table: RowTree<Rows>
  private let mode: ImportMode
  private var levels: [Level] = []
  private var name: String?
  /// How many containers of a value that is skipped are open.
  private var ignoredDepth = 0
  /// How many subtrees have been replaced.
  package private(set) var replacedCount = 0

  /// Makes an importer that has not read anything.
  package init(_ table: RowTree<Rows>, mode: ImportMode) {
    self.table = table
    self.mode = mode
  }

  /// Imports a whole text.
  ///
  /// - Throws: `JSONError`, `ImportError`, or an error of the row editor or of the source of the
  ///   text.
  package mutating func addAll(_ json: inout JSONTokenizer) throws {
    if case .merging = mode {
      guard let token = try json.next(), token == .objectStart else {
        throw ImportError("the data to add must be a JSON object", at: .root)
      }
      try add(token)
    }
    while let token = try json.next() { try add(token) }
  }

  private mutating func add(_ token: JSONTokenizer.Token) throws {
    if ignoredDepth > 0 {
      switch token {
      case .objectStart, .arrayStart: ignoredDepth += 1
      case .objectEnd, .arrayEnd: ignoredDepth -= 1
      case .name, .scalar: break
      }
      return
    }
    switch token {
    case .name(let text): name = text
    case .objectStart: try open(isArray: false)
    case .arrayStart: try open(isArray: true)
    case .objectEnd, .arrayEnd: try close()
    case .scalar(let value): try add(value)
    }
  }

  // MARK: Values

  /// Returns what the next value belongs to, and counts the value if it is an element of an array.
  private mutating func nextDestination() throws -> Destination {
    defer { name = nil }
    guard let last = levels.indices.last else { return .child(nil) }
    if levels[last].isArray {
      levels[last].elements += 1
      return .child(ChildKey(String(levels[last].elements - 1)))
    }
    switch name ?? "" {
    case ".priority": return .priority
    case ".value": return .value
    case ".sv": throw ImportError("a server value cannot be imported", at: Path(path))
    case let text where text.utf8.first == UInt8(ascii: "."): return .ignored
    case let text: return .child(ChildKey(text))
    }
  }

  private mutating func add(_ json: JSONValue) throws {
    let last = levels.count - 1
    switch try nextDestination() {
    case .ignored: break
    case .priority: levels[last].priority = try node(json, isPriority: true).leafValue
    case .value: levels[last].value = try node(json)
    case .child(let key): try finish(try node(json), as: key)
    }
  }

  /// Converts a value, or throws an error that names its path.
  private func node(
    _ json: JSONValue,
    isPriority: Bool = false
  ) throws(ImportError) -> Node {
    do throws(NodeError) {
      guard isPriority else { return try Node(json: json) }
      return try Node.priorityValue(json).map { .leaf($0) } ?? .empty
    } catch {
      throw ImportError(error.description, at: Path(path))
    }
  }

  private mutating func open(isArray: Bool) throws {
    switch try nextDestination() {
    case .ignored: ignoredDepth = 1
    case .priority:
      throw ImportError("a priority must be a number, a string or null", at: Path(path))
    case .value: throw ImportError(".value must be a leaf", at: Path(path))
    case .child(let key):
      let keys = path + (key.map { [$0] } ?? [])
      try check(.empty, at: keys)
      let isMerged = !isArray && mode.merges(Path(keys))
      levels.append(Level(key: key, isArray: isArray, isMerged: isMerged, isWritten: isMerged))
    }
  }

  private mutating func close() throws {
    let keys = path
    guard let level = levels.popLast() else { return }
    let value = level.value ?? .empty
    guard level.isWritten else {
      let node =
        value.isEmpty
        ? Node(sortedChildren: level.entries.sorted { $0.key < $1.key }, priority: level.priority)
        : value.withPriority(level.priority)
      return try finish(node, as: level.key)
    }
    if !value.isEmpty {
      return try table.apply(Change(Path(keys), to: value.withPriority(level.priority)))
    }
    if let priority = level.priority {
      try table.apply(Change(Path(keys).appending(.priority), to: .leaf(priority)))
    }
    if !level.isMerged { try table.prune(keys) }
  }

  /// Adds a complete value to its parent, or writes it if the parent is being written.
  private mutating func finish(_ node: Node, as key: ChildKey?) throws {
    let keys = path + (key.map { [$0] } ?? [])
    try check(node, at: keys)
    guard let key, let last = levels.indices.last, !levels[last].isWritten else {
      return try write(node, at: keys)
    }
    levels[last].entries.removeAll { $0.key == key }
    if !node.isEmpty { levels[last].entries.append((key, node)) }
    levels[last].bytes += key.text.utf8.count + 1
    guard let size = NodeRow.size(of: node), levels[last].bytes + size <= NodeRow.packedBytes
    else { return try writeOut() }
    levels[last].bytes += size
  }

  // MARK: Writing

  /// Writes all collected values, starting at the root.
  private mutating func writeOut() throws {
    var keys: [ChildKey] = []
    for index in levels.indices {
      if let key = levels[index].key { keys.append(key) }
      guard !levels[index].isWritten else { continue }
      levels[index].isWritten = true
      let isBelow = index > 0 && !levels[index - 1].isMerged
      if !isBelow { replacedCount += 1 }
      try table.clear(keys)
      for (key, node) in levels[index].entries { try table.insert(node, at: keys + [key]) }
      levels[index].entries = []
    }
  }

  private mutating func write(_ node: Node, at keys: [ChildKey]) throws {
    guard let level = levels.last, !level.isMerged else {
      replacedCount += 1
      return try table.apply(Change(Path(keys), to: node))
    }
    try table.clear(keys)
    if !node.isEmpty { try table.insert(node, at: keys) }
  }

  // MARK: Checks

  private var path: [ChildKey] { levels.compactMap(\.key) }

  private func check(_ node: Node, at keys: [ChildKey]) throws {
    let path = Path(keys)
    if let problem = Validation.problem(with: node, at: path) {
      throw ImportError(problem, at: path)
    }
  }
}
