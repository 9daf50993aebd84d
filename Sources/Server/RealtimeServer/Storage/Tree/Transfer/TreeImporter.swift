package import RealtimeCore

package protocol ImportTarget {
  /// Replaces the data, or the priority, at a path.
  func apply(_ change: Change) throws
  /// Removes everything at a path, before nodes are inserted there and below it.
  func clear(_ keys: [ChildKey]) throws
  /// Adds a node at or below a path that has been cleared.
  func insert(_ node: Node, at keys: [ChildKey]) throws
  /// Removes the priorities, at a path and above it, of nodes without data below them.
  func prune(_ keys: [ChildKey]) throws
}

extension RowTree: ImportTarget {}

/// Reads JSON and makes the changes that it describes, keeping little of it in memory.
///
/// A small value is collected until it is complete and then becomes one row, as in a fold. When a
/// value outgrows a row, all values around it that are still being collected are written first, and
/// then its children one by one. A name that data cannot have, or that occurs twice in one object,
/// is an error: to leave it out would lose data silently.
package struct TreeImporter {
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
    var names = MemberNames()
  }

  /// What the next value belongs to.
  private enum Destination {
    case child(ChildKey?)
    case value
    case priority
  }

  /// What to change; nil to check the text only.
  private let target: (any ImportTarget)?
  private let mode: ImportMode
  private var levels: [Level] = []
  /// The keys of the object or array that is being read.
  package private(set) var path: [ChildKey] = []
  /// The bytes of these keys, and one more for each.
  private var pathBytes = 0
  /// What the next value belongs to, unless it is an element of an array.
  private var member = Destination.child(nil)
  private var hasBegun = false
  package private(set) var replacedCount = 0

  package init(_ target: (any ImportTarget)?, mode: ImportMode) {
    self.target = target
    self.mode = mode
  }

  /// Imports a whole text.
  ///
  /// - Throws: `JSONError`, `ImportError`, or an error of the target or of the source of the text.
  package mutating func addAll(_ json: inout JSONTokenizer) throws {
    while try addNext(&json) {}
  }

  /// Imports a small part of a text, and returns whether more of it may follow.
  ///
  /// - Throws: `JSONError`, `ImportError`, or an error of the target or of the source of the text.
  package mutating func addNext(_ json: inout JSONTokenizer) throws -> Bool {
    guard let token = try json.next() else { return false }
    if case .merging = mode, !hasBegun, token != .objectStart { throw Self.noObject }
    hasBegun = true
    try add(token, at: json.place)
    return true
  }

  private static let noObject = ImportError("the data to add must be a JSON object", at: .root)

  private mutating func add(
    _ token: JSONTokenizer.Token,
    at place: JSONTokenizer.Place
  ) throws {
    switch token {
    case .name(let text): try add(name: text, at: place)
    case .objectStart: try open(isArray: false)
    case .arrayStart: try open(isArray: true)
    case .objectEnd, .arrayEnd: try close()
    case .scalar(let value): try add(value)
    }
  }

  // MARK: Values

  /// Returns what the next value belongs to, and counts the value if it is an element of an array.
  private mutating func nextDestination() -> Destination {
    guard let last = levels.indices.last, levels[last].isArray else { return member }
    levels[last].elements += 1
    return .child(ChildKey(String(levels[last].elements - 1)))
  }

  private mutating func add(_ json: JSONValue) throws {
    let last = levels.count - 1
    switch nextDestination() {
    case .priority:
      let priority = try node(json, isPriority: true).leafValue
      try check(.leaf(.bool(true), priority: Priority(priority)), at: nil)
      levels[last].priority = priority
    case .value:
      let value = try node(json)
      try check(value, at: nil)
      levels[last].value = value
    case .child(let key):
      let node = try node(json)
      try check(node, at: key)
      try finish(node, as: key)
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
    switch nextDestination() {
    case .priority:
      throw ImportError("a priority must be a number, a string or null", at: Path(path))
    case .value: throw ImportError(".value must be a leaf", at: Path(path))
    case .child(let key):
      try check(.empty, at: key)
      if let key {
        path.append(key)
        pathBytes += key.byteCount + 1
      }
      let isMerged = !isArray && mode.merges(Path(path))
      levels.append(Level(key: key, isArray: isArray, isMerged: isMerged, isWritten: isMerged))
    }
  }

  private mutating func close() throws {
    guard let level = levels.popLast() else { return }
    let value = level.value ?? .empty
    if !value.isEmpty, let other = level.names.firstChild {
      throw ImportError(".value cannot be combined with \(quoted(other.text))", at: Path(path))
    }
    let keys = level.isWritten ? path : []
    if let key = level.key {
      path.removeLast()
      pathBytes -= key.byteCount + 1
    }
    guard level.isWritten else {
      let node =
        value.isEmpty
        ? Node(sortedChildren: level.entries.sorted { $0.key < $1.key }, priority: level.priority)
        : value.withPriority(level.priority)
      return try finish(node, as: level.key)
    }
    if !value.isEmpty {
      // Nothing of the existing data would stay.
      if case .merging = mode, keys.isEmpty { throw Self.noObject }
      replacedCount += 1
      try target?.apply(Change(Path(keys), to: value.withPriority(level.priority)))
      return
    }
    if let priority = level.priority {
      try target?.apply(Change(Path(keys).appending(.priority), to: .leaf(priority)))
    }
    if !level.isMerged { try target?.prune(keys) }
  }

  /// Adds a complete value to its parent, or writes it if the parent is being written.
  private mutating func finish(_ node: Node, as key: ChildKey?) throws {
    guard let key, let last = levels.indices.last, !levels[last].isWritten else {
      return try write(node, at: path + (key.map { [$0] } ?? []))
    }
    if !node.isEmpty { levels[last].entries.append((key, node)) }
    levels[last].bytes += key.byteCount + 1
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
      try target?.clear(keys)
      for (key, node) in levels[index].entries { try target?.insert(node, at: keys + [key]) }
      levels[index].entries = []
    }
  }

  private mutating func write(_ node: Node, at keys: [ChildKey]) throws {
    guard let level = levels.last, !level.isMerged else {
      // Where entries are added to others, "null" stands for no entries.
      if node.isEmpty, levels.last != nil, mode.merges(Path(keys)) { return }
      replacedCount += 1
      try target?.apply(Change(Path(keys), to: node))
      return
    }
    try target?.clear(keys)
    if !node.isEmpty { try target?.insert(node, at: keys) }
  }

  // MARK: Checks

  private mutating func add(name: String, at place: JSONTokenizer.Place) throws {
    let key = ChildKey(name)
    switch name {
    case ".priority": member = .priority
    case ".value": member = .value
    case ".sv": throw ImportError("a server value cannot be imported", at: Path(path))
    default:
      if let problem = Validation.problem(withKey: name) {
        throw ImportError("\(problem): \(quoted(name))", at: Path(path))
      }
      member = .child(key)
    }
    if let first = levels[levels.count - 1].names.insert(key, at: place) {
      throw ImportError("\(quoted(name)) occurs a second time, after \(first)", at: Path(path))
    }
  }

  private func quoted(_ name: String) -> String {
    JSONValue.string(name.count > 64 ? name.prefix(64) + "…" : name).text
  }

  /// Checks a leaf, or the place of children that have not been read.
  ///
  /// The keys are valid, and each part of a larger value is checked when it is read.
  private func check(_ node: Node, at key: ChildKey?) throws {
    let problem = Validation.problem(
      with: node,
      depth: path.count + (key == nil ? 0 : 1),
      pathBytes: pathBytes + (key.map { $0.byteCount + 1 } ?? 0)
    )
    if let problem { throw ImportError(problem, at: Path(path + (key.map { [$0] } ?? []))) }
  }
}

/// The names of the members of an object, in order to find one that occurs twice.
private struct MemberNames {
  private var entries: [(key: ChildKey, place: JSONTokenizer.Place)] = []
  /// The indexes of the entries; nil as long as the names ascend, or are few.
  private var indexes: [ChildKey: Int]?
  private var isAscending = true

  /// The number of names up to which it is cheaper to compare all of them.
  private static let few = 12

  /// The first name that is not that of a special member.
  var firstChild: ChildKey? {
    entries.lazy.map(\.key).first { $0 != .priority && $0 != ChildKey(".value") }
  }

  /// Adds a name; returns the place of the same name if it has occurred before.
  mutating func insert(_ key: ChildKey, at place: JSONTokenizer.Place) -> JSONTokenizer.Place? {
    if let last = entries.last, isAscending { isAscending = last.key < key }
    if !isAscending {
      if entries.count > Self.few, indexes == nil {
        indexes = Dictionary(
          entries.enumerated().map { ($1.key, $0) },
          uniquingKeysWith: { first, _ in first }
        )
      }
      let index = indexes.map { $0[key] } ?? entries.firstIndex { $0.key == key }
      if let index { return entries[index].place }
      indexes?[key] = entries.count
    }
    entries.append((key, place))
    return nil
  }
}
