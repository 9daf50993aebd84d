/// The protocol's "V2" hash: one hash for each range of a node's leaves.
///
/// The other end compares the hashes with its own data and sends only the ranges that differ.
package struct CompoundHash: Sendable, Equatable {
  /// The path of the last leaf of each range.
  package let posts: [Path]
  /// One hash for each range, and an empty hash for everything after the last range.
  package let hashes: [String]

  package init(posts: [Path], hashes: [String]) {
    self.posts = posts
    self.hashes = hashes
  }

  /// Hashes a node, divided into the same ranges as in official clients.
  ///
  /// - Complexity: O(size)
  package init(of node: Node) {
    let threshold = max(512, Int((Double(node.estimatedSize) * 100).squareRoot()))
    self.init(of: node) { length, path in length > threshold && !path().isPriority }
  }

  /// Hashes a node, divided into the caller's ranges.
  ///
  /// The closure returns whether a range ends after a leaf, given the length of the range's text so
  /// far and the path of the leaf.
  ///
  /// - Complexity: O(size)
  package init(of node: Node, cutting isCut: (Int, () -> Path) -> Bool) {
    var posts: [Path] = []
    var hashes: [String] = []
    var text = RangeText()
    var keys: [ChildKey] = []
    node.forEachLeaf(at: &keys) { path, leaf in
      text.append(leaf, at: path)
      guard isCut(text.length, { text.lastPath }) else { return }
      posts.append(text.lastPath)
      hashes.append(text.finish())
    }
    if !text.isEmpty {
      posts.append(text.lastPath)
      hashes.append(text.finish())
    }
    self.init(posts: posts, hashes: hashes + [""])
  }

  /// The compound hash to send for a node; nil if it is small or the hash would miss a priority.
  ///
  /// - Complexity: O(size)
  package static func worthSending(of node: Node) -> CompoundHash? {
    guard node.estimatedSize > 1_024, !node.hasHiddenPriority else { return nil }
    return CompoundHash(of: node)
  }

  /// The changes that turn the hashed node into another one.
  ///
  /// - Returns: The ranges that differ; nil if ranges cannot express the difference.
  /// - Complexity: O(size)
  package func changes(to node: Node) -> [RangeMerge]? {
    guard hashes.count == posts.count + 1, !node.hasHiddenPriority,
      zip(posts, posts.dropFirst()).allSatisfy({ $0 < $1 })
    else { return nil }
    var ranges = RangeCollector(self)
    var keys: [ChildKey] = []
    node.forEachLeaf(at: &keys) { ranges.append($1, at: $0) }
    return ranges.finish()
  }
}

/// Divides a node into the ranges of a compound hash and collects those whose hashes differ.
private struct RangeCollector {
  private let compound: CompoundHash
  private var index = 0
  private var text = RangeText(isExact: true)
  private var leaves: [(path: Path, leaf: Node)] = []
  /// The last leaf before the range.
  private var previous: (path: Path, leaf: Node)?
  private var merges: [RangeMerge]? = []
  /// Whether the previous range differs as well, so that this one is merged into it.
  private var isJoining = false

  init(_ compound: CompoundHash) {
    self.compound = compound
  }

  mutating func append(_ leaf: Node, at keys: [ChildKey]) {
    let path = Path(keys)
    while index < compound.posts.count, compound.posts[index] < path { endRange() }
    text.append(leaf, at: keys)
    leaves.append((path, leaf))
  }

  mutating func finish() -> [RangeMerge]? {
    while index < compound.hashes.count { endRange() }
    return merges
  }

  private mutating func endRange() {
    defer {
      index += 1
      previous = leaves.last ?? previous
      leaves = []
    }
    if text.finish() == compound.hashes[index] {
      isJoining = false
      return
    }
    var start = index == 0 ? nil : compound.posts[index - 1]
    let end = index < compound.posts.count ? compound.posts[index] : nil
    var node = Node.empty
    if isJoining, let last = merges?.popLast() {
      start = last.start
      node = last.node
    } else if let previous, previous.path == start, previous.leaf.priority != nil {
      // To official clients, a leaf's priority lies behind the leaf and so within this range.
      node = node.setting(previous.path, to: previous.leaf)
    }
    for (path, leaf) in leaves where !path.isPriority { node.update(at: path, to: leaf) }
    for (path, leaf) in leaves where path.isPriority {
      node.update(at: path, to: leaf)
      // A node with only a priority in this range cannot be represented.
      if node[path].isEmpty { merges = nil }
    }
    merges?.append(RangeMerge(start: start, end: end, node: node))
    isJoining = true
  }
}

/// New data for a range of paths, from an exclusive start to an inclusive end.
///
/// Descendants of the end are outside the range.
package struct RangeMerge: Sendable, Equatable {
  /// The exclusive start, or nil for the beginning.
  package let start: Path?
  /// The inclusive end, or nil for the end of the data.
  package let end: Path?
  /// All data within the range, and the leaf at the start if that has a priority.
  package let node: Node

  package init(start: Path?, end: Path?, node: Node) {
    self.start = start
    self.end = end
    self.node = node
  }

  /// Replaces the data of the range in a node.
  ///
  /// - Complexity: O(children along the paths to start and end)
  package func applied(to old: Node) -> Node {
    applied(to: old, from: node, at: .root)
  }

  private func applied(to old: Node, from new: Node, at path: Path) -> Node {
    let isAfterStart = start.map { $0 < path } ?? true
    let isBeforeEnd = end.map { path < $0 } ?? true
    let isOnEnd = end.map { path.contains($0) } ?? false
    let isOnStart = start.map { path.contains($0) } ?? false
    if isAfterStart {
      if isBeforeEnd, !isOnEnd { return new }
      if isOnEnd, new.leafValue != nil { return new }
      // Descendants of the end are outside the range.
      if path == end { return old.leafValue == nil ? old : .empty }
    }
    guard isOnStart || isOnEnd else { return old }
    return applyingChildren(to: old, from: new, at: path)
  }

  private func applyingChildren(to old: Node, from new: Node, at path: Path) -> Node {
    var children: [(key: ChildKey, value: Node)] = []
    var isChanged = false
    old.forEachChild(beside: new) { key, child, other in
      let child = (old: child, new: applied(to: child, from: other, at: path.appending(key)))
      if child.new != child.old { isChanged = true }
      children.append((key, child.new))
    }
    var result = isChanged ? Node(sortedChildren: children, priority: old.priority) : old
    // The priority of a leaf belongs to the leaf, which is outside the range.
    if new.priority != nil || (old.children != nil && old.priority != nil) {
      let priority = applied(
        to: old[ChildKey.priority],
        from: new[ChildKey.priority],
        at: path.appending(ChildKey.priority)
      )
      result = result.withPriority(priority.leafValue)
    }
    return result
  }
}

/// The text from which the hash of one range is computed, built leaf by leaf in path order.
private struct RangeText {
  /// Whether integers that a double rounds have hashes of their own, which no other end computes.
  private let isExact: Bool
  private var bytes: [UInt8] = []
  /// The keys whose parentheses are open.
  private var open: [ChildKey] = []
  /// The length so far, in UTF-16 code units.
  private(set) var length = 0
  /// The path of the last leaf.
  var lastPath: Path { Path(open) }

  init(isExact: Bool = false) { self.isExact = isExact }

  var isEmpty: Bool { bytes.isEmpty }

  /// Appends a leaf that sorts after all others.
  mutating func append(_ leaf: Node, at keys: [ChildKey]) {
    if bytes.isEmpty {
      append("(")
      open = []
    } else {
      let shared = zip(open, keys).prefix { $0.0 == $0.1 }.count
      close(open.count - shared)
      open.removeLast(open.count - shared)
      append(",")
    }
    for key in keys[open.count...] {
      appendQuoted(key.text)
      append(":(")
      open.append(key)
    }
    if let priority = leaf.priority {
      append("priority:")
      append(priority)
      append(":")
    }
    if let value = leaf.leafValue { append(value) }
  }

  /// Ends the range and returns its hash, which is empty if the range has no leaves.
  mutating func finish() -> String {
    if bytes.isEmpty { return "" }
    close(open.count + 1)
    let digest = bytes.withUnsafeBufferPointer { SHA1.words(of: $0) }
    // The buffer is reused for the next range.
    bytes.removeAll(keepingCapacity: true)
    SHA1.appendBase64(digest, to: &bytes)
    let hash = String(decoding: bytes, as: UTF8.self)
    bytes.removeAll(keepingCapacity: true)
    open = []
    length = 0
    return hash
  }

  private mutating func close(_ count: Int) {
    for _ in 0..<count { bytes.append(UInt8(ascii: ")")) }
    length += count
  }

  private mutating func append(_ text: String) {
    bytes.append(contentsOf: text.utf8)
    length += text.utf16.count
  }

  private mutating func appendQuoted(_ text: String) {
    append("\"")
    if text.utf8.contains(where: Self.isEscaped) {
      for byte in text.utf8 {
        if Self.isEscaped(byte) {
          bytes.append(UInt8(ascii: "\\"))
          length += 1
        }
        bytes.append(byte)
      }
      length += text.utf16.count
    } else {
      append(text)
    }
    append("\"")
  }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func append(_ value: LeafValue) {
    if case .string(let text) = value {
      append("string:")
      return appendQuoted(text)
    }
    let start = bytes.count
    value.appendHashText(to: &bytes, exactly: isExact)
    length += bytes.withUnsafeBufferPointer {
      LeafText(UnsafeBufferPointer(rebasing: $0[start...])).utf16Count
    }
  }
}

extension Node {
  /// The size of the node in bytes, as official clients estimate it.
  ///
  /// - Complexity: O(size)
  package var estimatedSize: Int {
    switch self {
    case .empty: return 4
    case .leaf(let value, let priority):
      return value.estimatedSize + (priority.map { 24 + $0.value.estimatedSize } ?? 0)
    case .children(let children):
      var size = 1
      for (key, child) in children.map { size += key.text.utf16.count + 4 + child.estimatedSize }
      if let priority = children.priority {
        size += ChildKey.priority.text.utf16.count + 4 + priority.value.estimatedSize
      }
      return size
    }
  }

  /// Whether a compound hash would omit a priority and therefore miss a difference in it.
  ///
  /// Official clients include the priority of a node with children only before a child whose key
  /// sorts after `.priority`. If all keys are integers or push IDs, there is no such child.
  ///
  /// - Complexity: O(nodes with children)
  package var hasHiddenPriority: Bool {
    guard let children else { return false }
    if children.priority != nil, let last = children.map.last, last.key < .priority { return true }
    return children.map.contains { $0.value.hasHiddenPriority }
  }

  /// Visits the leaves in path order, and the priorities that are not hidden.
  ///
  /// `keys` is the path of this node, and during the visit that of the leaf.
  ///
  /// - Complexity: O(size)
  fileprivate func forEachLeaf(at keys: inout [ChildKey], _ body: ([ChildKey], Node) -> Void) {
    switch self {
    case .empty: return
    case .leaf: body(keys, self)
    case .children(let children):
      var priority = children.priority
      for (key, child) in children.map {
        if let value = priority?.value, ChildKey.priority < key {
          priority = nil
          body(keys + [.priority], .leaf(value))
        }
        keys.append(key)
        child.forEachLeaf(at: &keys, body)
        keys.removeLast()
      }
    }
  }
}

extension LeafValue {
  fileprivate var estimatedSize: Int {
    switch self {
    case .bool: 4
    case .integer, .double: 8
    case .string(let text): 2 + text.utf16.count
    case .deferred(let value): value.json.text.utf16.count
    }
  }
}
