package import RealtimeCore

/// One row of a tree: a leaf or a small subtree, or the priority of a larger one.
///
/// The path of a row is the UTF-8 of its keys, each followed by a slash. Keys contain no slash, so
/// the rows below a path are exactly those that start with its bytes. There are no rows below a
/// packed row, and at least one packed row below every branch row.
package enum NodeRow {
  /// The maximum size in bytes of a subtree in one row, short enough to stay within a page.
  static let packedBytes = 512

  private static let sealBytes = 4

  /// Reads a row, or throws why it is damaged.
  package static func decode(
    _ value: ArraySlice<UInt8>,
    key: ArraySlice<UInt8>
  ) throws(BinaryReader.Failure) -> BinaryReader.StoredNode {
    var builder = PackedNodeBuilder()
    return try decode(value, key: key, with: &builder)
  }

  /// The node of a packed row; nil for a branch row.
  package static func packedNode(
    _ value: [UInt8],
    at path: ArraySlice<UInt8>
  ) throws(DamagedData) -> Node? {
    do throws(BinaryReader.Failure) {
      guard case .packed(let node) = try decode(value[...], key: path) else { return nil }
      return node
    } catch {
      throw DamagedData(key: path, by: error)
    }
  }

  /// Reads a row with an empty builder, which can be reused for many rows.
  static func decode(
    _ value: ArraySlice<UInt8>,
    key: ArraySlice<UInt8>,
    with builder: inout PackedNodeBuilder
  ) throws(BinaryReader.Failure) -> BinaryReader.StoredNode {
    let end = max(value.startIndex, value.endIndex - sealBytes)
    var found: UInt32 = 0
    for byte in value[end...].reversed() { found = found << 8 | UInt32(byte) }
    guard value.count >= sealBytes, found == seal(value[..<end], key: key) else {
      throw BinaryReader.Failure(reason: "its checksum is wrong")
    }
    var reader = BinaryReader(value[..<end])
    return try reader.storedNode(with: &builder)
  }

  /// The bytes of a packed row; throws for data that no store can hold.
  package static func encode(
    _ node: Node,
    key: ArraySlice<UInt8>
  ) throws(StoreError) -> [UInt8] {
    var writer = BinaryWriter(capacity: packedBytes + sealBytes)
    try writer.write(node)
    seal(&writer, key: key)
    return writer.bytes
  }

  /// The bytes of a branch row, which holds a priority; throws for data that no store can hold.
  package static func encode(
    branchPriority: LeafValue,
    key: ArraySlice<UInt8>
  ) throws(StoreError) -> [UInt8] {
    var writer = BinaryWriter()
    try writer.write(branchPriority: branchPriority)
    seal(&writer, key: key)
    return writer.bytes
  }

  /// Appends the checksum of a row with this path.
  private static func seal(_ writer: inout BinaryWriter, key: ArraySlice<UInt8>) {
    let seal = UInt32(truncatingIfNeeded: writer.checksum(seed: Checksum.of(key)))
    for index in 0..<sealBytes {
      writer.write(byte: UInt8(truncatingIfNeeded: seal >> (8 * index)))
    }
  }

  private static func seal(_ content: ArraySlice<UInt8>, key: ArraySlice<UInt8>) -> UInt32 {
    UInt32(truncatingIfNeeded: Checksum.of(content, seed: Checksum.of(key)))
  }

  // MARK: Size

  /// Whether a node fits in one row, estimated only until it exceeds the limit.
  static func isSmall(_ node: Node) -> Bool {
    // The estimate is at most a third more than the packed size, so it is rarely needed.
    if let bytes = node.children?.packedBytes, bytes <= packedBytes * 3 / 4 { return true }
    return size(of: node) != nil
  }

  /// An estimate of the bytes that a small node takes in a row, or nil when it does not fit.
  package static func size(of node: Node) -> Int? {
    var budget = packedBytes
    let fits: Bool = node.withView { Self.fits($0, within: &budget) }
    return fits ? packedBytes - budget : nil
  }

  private static func fits(_ node: NodeView, within budget: inout Int) -> Bool {
    budget -= 2
    switch node.content {
    case .text(let text): budget -= text.byteCount
    case .leaf(.string(let text)): budget -= text.utf8.count
    case .empty, .leaf, .children: break
    }
    if case .string(let text)? = node.priority { budget -= text.utf8.count }
    var fits = budget >= 0
    guard fits else { return false }
    node.forEachChild { key, child in
      budget -= key.byteCount + 1
      fits = Self.fits(child, within: &budget)
      return fits
    }
    return fits
  }
}

/// The bytes of a path in the rows, and those of all paths above it.
package struct RowPath {
  package let bytes: [UInt8]
  /// The end of the bytes of each path, starting at the root.
  private let ends: [Int]

  package init(_ keys: some Collection<ChildKey>) {
    var bytes: [UInt8] = []
    var ends: [Int] = []
    ends.reserveCapacity(keys.count + 1)
    ends.append(0)
    bytes.reserveCapacity(keys.reduce(0) { $0 + $1.byteCount + 1 })
    for key in keys {
      key.withUTF8 { bytes.append(contentsOf: $0) }
      bytes.append(UInt8(ascii: "/"))
      ends.append(bytes.count)
    }
    self.bytes = bytes
    self.ends = ends
  }

  /// The paths at and above those of changes, whose rows the changes may concern.
  package static func concerned(by changes: some Sequence<Change>) -> Set<ArraySlice<UInt8>> {
    var paths: Set<ArraySlice<UInt8>> = []
    for change in changes {
      let keys = change.path.isPriority ? change.path.keys.dropLast() : change.path.keys[...]
      let path = RowPath(keys)
      for depth in 0...path.depth { paths.insert(path[depth]) }
    }
    return paths
  }

  package var depth: Int { ends.count - 1 }

  /// The path of the first keys; asking for more keys than there are is a programmer error.
  package subscript(depth: Int) -> ArraySlice<UInt8> { bytes[..<ends[depth]] }

  /// The first bytes after all those that start with a path.
  package static func end(of path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    // No UTF-8 has the byte FF, and the byte after a slash is a zero.
    path.isEmpty ? [0xFF] : (path.dropLast() + [UInt8(ascii: "/") + 1])[...]
  }
}
