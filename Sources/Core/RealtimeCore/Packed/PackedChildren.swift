/// The children of a small node, with all that is below them, in one array of bytes.
///
/// A post of a blog takes up little more than its text this way, is compared by its bytes and copied
/// whole. Children lie in key order:
///
///     children   count, 1 byte · entries
///     entry      length of the key, 1 byte · key · value
///     value      tag, 1 byte · what the tag says (see `PackedTag`)
///
/// Equal children have equal bytes. What has a priority, waits for the server, or takes up more than
/// `mostBytes`, is not packed.
struct PackedChildren: Sendable, Equatable {
  /// The most bytes that are copied for a change of one child.
  static let mostBytes = 1_024
  /// The most children that are looked at one by one.
  static let mostCount = 31

  let bytes: [UInt8]

  /// Takes over bytes that are packed children.
  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Packs children in ascending order of their keys, or gives nil when they are not to be packed.
  ///
  /// - Complexity: O(size), at most O(mostBytes)
  init?(keys: some Collection<ChildKey>, nodes: some Collection<Node>) {
    guard keys.count <= Self.mostCount else { return nil }
    var bytes = [UInt8(keys.count)]
    for (key, node) in zip(keys, nodes) {
      guard bytes.appendPacked(key), bytes.appendPacked(node), bytes.count <= Self.mostBytes else {
        return nil
      }
    }
    self.bytes = bytes
  }

  /// The number of children.
  var count: Int { Int(bytes[0]) }

  /// The bytes, to be used while somebody holds the children.
  ///
  // Safety: that of `NodeView`.
  var lent: UnsafeRawBufferPointer { bytes.withUnsafeBytes { $0 } }

  /// The child of a key, or nil.
  ///
  /// - Complexity: O(size)
  subscript(key: ChildKey) -> Node? {
    bytes.withUnsafeBytes { PackedEntry.find(key, in: $0)?.node }
  }

  /// The children in key order.
  ///
  /// - Complexity: O(size)
  var entries: [(key: ChildKey, value: Node)] {
    bytes.withUnsafeBytes { Self.entries(of: $0) }
  }

  /// The children in the order of their bytes.
  ///
  /// - Complexity: O(size)
  static func entries(of source: UnsafeRawBufferPointer) -> [(key: ChildKey, value: Node)] {
    var entries: [(key: ChildKey, value: Node)] = []
    var cursor = PackedCursor(source)
    while let entry = cursor.next() { entries.append((entry.childKey, entry.node)) }
    return entries
  }

  /// The bytes of children that are in any order, in order; nil when two have one key.
  ///
  /// - Complexity: O(size + n log n)
  static func sorted(_ source: UnsafeRawBufferPointer) -> [UInt8]? {
    var entries: [(key: ChildKey, bytes: Range<Int>)] = []
    var cursor = PackedCursor(source)
    while let entry = cursor.next() { entries.append((entry.childKey, entry.start..<entry.end)) }
    entries.sort { $0.key < $1.key }
    guard zip(entries, entries.dropFirst()).allSatisfy({ $0.key < $1.key }) else { return nil }
    var bytes = [source[0]]
    bytes.reserveCapacity(source.count)
    for entry in entries { bytes.append(contentsOf: source[entry.bytes]) }
    return bytes
  }

  /// These children with one set, or nil when they cannot be packed any more.
  ///
  /// - Complexity: O(size)
  func setting(_ key: ChildKey, to node: Node) -> PackedChildren? {
    bytes.withUnsafeBytes { source in
      let old = PackedEntry.find(key, in: source)
      guard old != nil || count < Self.mostCount else { return nil }
      let start = old?.start ?? PackedEntry.place(of: key, in: source)
      var new: [UInt8] = []
      new.reserveCapacity(source.count + 32)
      new.append(contentsOf: source[..<start])
      guard new.appendPacked(key), new.appendPacked(node) else { return nil }
      new.append(contentsOf: source[(old?.end ?? start)...])
      if old == nil { new[0] += 1 }
      return new.count <= Self.mostBytes ? PackedChildren(bytes: new) : nil
    }
  }

  /// These children without one.
  ///
  /// - Complexity: O(size)
  func removing(_ key: ChildKey) -> PackedChildren {
    bytes.withUnsafeBytes { source in
      guard let old = PackedEntry.find(key, in: source) else { return self }
      var new = Array(source[..<old.start])
      new.append(contentsOf: source[old.end...])
      new[0] -= 1
      return PackedChildren(bytes: new)
    }
  }
}

extension [UInt8] {
  /// Appends a key, unless it is too long to be packed.
  fileprivate mutating func appendPacked(_ key: ChildKey) -> Bool {
    key.withUTF8 { text in
      guard let length = UInt8(exactly: text.count) else { return false }
      append(length)
      append(contentsOf: text)
      return true
    }
  }

  /// Appends a value, unless it is none that can be packed.
  fileprivate mutating func appendPacked(_ node: Node) -> Bool {
    switch node {
    case .empty, .leaf(.deferred, _), .leaf(_, _?): return false
    case .leaf(.bool(let value), nil): append(packed: value)
    case .leaf(.integer(let value), nil): append(packed: value)
    case .leaf(.double(let value), nil):
      // Whole numbers are written as integers only, so that equal values have equal bytes.
      guard Int64(exactly: value) == nil else { return false }
      append(packed: value)
    case .leaf(.string(let text), nil):
      guard text.utf8.count <= PackedChildren.mostBytes else { return false }
      append(tag: .string)
      append(packedLength: text.utf8.count)
      append(contentsOf: text.utf8)
    case .children(let children):
      guard let packed = children.packed else { return false }
      append(tag: .children)
      append(packedLength: packed.bytes.count)
      append(contentsOf: packed.bytes)
    }
    return true
  }
}
