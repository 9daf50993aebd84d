/// The "V2" hash of the protocol: a hash for each of the ranges that a node is cut into.
///
/// Whoever has other data can tell which ranges differ, and needs to send only those.
package struct CompoundHash: Sendable, Equatable {
  /// The path of the last leaf of each range.
  package let posts: [Path]
  /// One hash for each range, and an empty one for what comes after the last.
  package let hashes: [String]

  /// Makes a compound hash as it came from elsewhere.
  package init(posts: [Path], hashes: [String]) {
    self.posts = posts
    self.hashes = hashes
  }

  /// Hashes a node, cut where official clients cut it.
  ///
  /// - Complexity: O(size)
  package init(of node: Node) {
    let threshold = max(512, Int((Double(node.estimatedSize) * 100).squareRoot()))
    self.init(of: node) { length, path in length > threshold && !path.isPriority }
  }

  /// Hashes a node.
  ///
  /// - Parameters:
  ///   - node: The data.
  ///   - isCut: Whether a range ends with a leaf, by the length of its text so far and the path.
  /// - Complexity: O(size)
  package init(of node: Node, cutting isCut: (Int, Path) -> Bool) {
    var posts: [Path] = []
    var hashes: [String] = []
    var text = RangeText()
    var keys: [ChildKey] = []
    node.forEachLeaf(at: &keys) { path, leaf in
      text.append(leaf, at: path)
      guard isCut(text.length, text.lastPath) else { return }
      posts.append(text.lastPath)
      hashes.append(text.finish())
    }
    if !text.isEmpty {
      posts.append(text.lastPath)
      hashes.append(text.finish())
    }
    self.init(posts: posts, hashes: hashes + [""])
  }

  /// The compound hash to send for a node, or nil when it is small or its hash would not tell all.
  ///
  /// - Complexity: O(size)
  package static func worthSending(of node: Node) -> CompoundHash? {
    guard node.estimatedSize > 1_024, !node.hasHiddenPriority else { return nil }
    return CompoundHash(of: node)
  }

  /// The ranges in which a node differs from the one that this is the hash of.
  ///
  /// - Parameter node: The data to be had.
  /// - Returns: What makes the other node equal to this one; nil when ranges cannot tell.
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

/// Cuts a node into the ranges of a compound hash and keeps those whose hashes differ.
private struct RangeCollector {
  private let compound: CompoundHash
  private var index = 0
  private var text = RangeText()
  private var leaves: [(path: Path, leaf: Node)] = []
  private var merges: [RangeMerge]? = []
  /// Whether the range before differs too, so that this one may join it.
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
    }
    for (path, leaf) in leaves where !path.isPriority { node.update(at: path, to: leaf) }
    for (path, leaf) in leaves where path.isPriority {
      node.update(at: path, to: leaf)
      // A node that has nothing but a priority in the range cannot be written down.
      if node[path].isEmpty { merges = nil }
    }
    merges?.append(RangeMerge(start: start, end: end, node: node))
    isJoining = true
  }
}
