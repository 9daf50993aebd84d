/// The children of a small node and all their descendants, in one array of bytes.
///
/// A blog post stored this way takes little more memory than its text, and is compared and copied
/// as bytes. Children are in key order:
///
///     children   count, 1 byte · entries
///     entry      length of the key, 1 byte · key · value
///     value      tag, 1 byte · content according to the tag (see `PackedTag`)
///
/// Equal children have equal bytes. Nodes with a priority or a deferred value, and nodes larger
/// than `mostBytes`, are not packed.
struct PackedChildren: Sendable, Equatable {
  /// The most bytes; all of them are copied when one child changes.
  static let mostBytes = 1_024
  /// The most children; they are searched linearly.
  static let mostCount = 31

  /// The bytes of unused room for which a copy does not pay.
  private static let mostRoom = 24

  let bytes: [UInt8]

  /// Wraps bytes in the format above.
  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Packs children in ascending key order; returns nil if they cannot be packed.
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
    // An array that has grown has room for as many bytes again.
    let isRoomy = bytes.capacity - bytes.count >= Self.mostRoom
    self.bytes = isRoomy ? bytes.withUnsafeBufferPointer { Array($0) } : bytes
  }

  var count: Int { Int(bytes[0]) }

  /// The bytes, valid while the children are retained.
  ///
  // Safety: as for `NodeView`.
  var lent: UnsafeRawBufferPointer { bytes.withUnsafeBytes { $0 } }

  /// The child with the given key, or nil.
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

  /// The children in the order in which their bytes are stored.
  ///
  /// - Complexity: O(size)
  static func entries(of source: UnsafeRawBufferPointer) -> [(key: ChildKey, value: Node)] {
    var entries: [(key: ChildKey, value: Node)] = []
    var cursor = PackedCursor(source)
    while let entry = cursor.next() { entries.append((entry.childKey, entry.node)) }
    return entries
  }

  /// Sorts packed children by key; returns nil if a key occurs twice.
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

  /// The children with one of them set; nil if the result cannot be packed.
  ///
  /// - Complexity: O(size)
  func setting(_ key: ChildKey, to node: Node) -> PackedChildren? {
    bytes.withUnsafeBytes { source in
      let old = PackedEntry.find(key, in: source)
      guard old != nil || count < Self.mostCount else { return nil }
      let start = old?.start ?? PackedEntry.insertionOffset(of: key, in: source)
      var new: [UInt8] = []
      new.reserveCapacity(source.count + 32)
      new.append(contentsOf: source[..<start])
      guard new.appendPacked(key), new.appendPacked(node) else { return nil }
      new.append(contentsOf: source[(old?.end ?? start)...])
      if old == nil { new[0] += 1 }
      return new.count <= Self.mostBytes ? PackedChildren(bytes: new) : nil
    }
  }

  /// The children without one of them.
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
  /// Appends a key; returns false if it is too long to be packed.
  fileprivate mutating func appendPacked(_ key: ChildKey) -> Bool {
    key.withUTF8 { text in
      guard let length = UInt8(exactly: text.count) else { return false }
      append(length)
      append(contentsOf: text)
      return true
    }
  }

  /// Appends a value; returns false if it cannot be packed.
  fileprivate mutating func appendPacked(_ node: Node) -> Bool {
    switch node {
    case .empty, .leaf(.deferred, _), .leaf(_, _?): return false
    case .leaf(.bool(let value), nil): append(packed: value)
    case .leaf(.integer(let value), nil): append(packed: value)
    case .leaf(.double(let value), nil):
      // Whole numbers are packed only as integers, so that equal values have equal bytes.
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

/// A destination for packed values.
protocol PackedBytes: ~Copyable {
  mutating func append(_ byte: UInt8)
  mutating func append(contentsOf bytes: UnsafeBufferPointer<UInt8>)
}

extension [UInt8]: PackedBytes {}

extension PackedBytes where Self: ~Copyable {
  @inline(__always)
  mutating func append(tag: PackedTag) {
    append(tag.rawValue)
  }

  @inline(__always)
  mutating func append(packed value: Bool) {
    append(tag: value ? .yes : .no)
  }

  @inline(__always)
  mutating func append(packed value: Int64) {
    if let small = Int8(exactly: value) {
      append(tag: .small)
      append(UInt8(bitPattern: small))
    } else {
      append(tag: .integer)
      append(word: UInt64(bitPattern: value))
    }
  }

  @inline(__always)
  mutating func append(packed value: Double) {
    append(tag: .double)
    append(word: value.bitPattern)
  }

  /// Appends a length, which must fit into 16 bits.
  @inline(__always)
  mutating func append(packedLength length: Int) {
    append(UInt8(truncatingIfNeeded: length))
    append(UInt8(truncatingIfNeeded: length >> 8))
  }

  @inline(__always)
  private mutating func append(word: UInt64) {
    withUnsafeBytes(of: word.littleEndian) { bytes in
      bytes.withMemoryRebound(to: UInt8.self) { append(contentsOf: $0) }
    }
  }
}

/// A growable buffer with a single owner; it avoids an array's uniqueness check for every byte.
///
// Safety: `count` never exceeds `capacity`, and borrowed bytes are used before the next change.
struct PackedBuffer: ~Copyable {
  private var base: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  /// Whether the memory belongs to the buffer.
  private var isOwner: Bool
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = max(capacity, 1)
    base = .allocate(capacity: self.capacity)
    isOwner = true
  }

  /// Makes a buffer in borrowed memory, whose owner keeps it as long as the buffer exists.
  init(in memory: UnsafeMutableRawBufferPointer) {
    let lent = memory.bindMemory(to: UInt8.self)
    capacity = max(lent.count, 1)
    base = lent.baseAddress ?? .allocate(capacity: capacity)
    isOwner = lent.baseAddress == nil
  }

  deinit {
    if isOwner { base.deallocate() }
  }

  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if count + more > capacity { grow(by: more) }
  }

  @inline(never)
  private mutating func grow(by more: Int) {
    capacity = max(2 * capacity, count + more)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    larger.update(from: base, count: count)
    if isOwner { base.deallocate() }
    base = larger
    isOwner = true
  }

  mutating func truncate(to count: Int) {
    assert(count <= self.count, "an offset that has been written")
    self.count = min(count, self.count)
  }

  /// The byte at an offset, which must have been written.
  subscript(position: Int) -> UInt8 {
    get {
      precondition(position < count)
      return base[position]
    }
    set {
      precondition(position < count)
      base[position] = newValue
    }
  }

  /// The bytes from an offset onward, valid until the next change.
  func bytes(from start: Int) -> UnsafeBufferPointer<UInt8> {
    precondition(start <= count)
    return UnsafeBufferPointer(start: base + start, count: count - start)
  }
}

extension PackedBuffer: PackedBytes {
  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    base[count] = byte
    count += 1
  }

  @inline(__always)
  mutating func append(contentsOf bytes: UnsafeBufferPointer<UInt8>) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    (base + count).update(from: source, count: bytes.count)
    count += bytes.count
  }

  // MARK: Text

  // Most of what is packed is text, for which these make room only once.

  /// Appends text as a value; the length must fit into 16 bits.
  @inline(__always)
  mutating func append(packed text: UnsafeBufferPointer<UInt8>) {
    reserve(3 + text.count)
    base[count] = PackedTag.string.rawValue
    base[count + 1] = UInt8(truncatingIfNeeded: text.count)
    base[count + 2] = UInt8(truncatingIfNeeded: text.count >> 8)
    fill(with: text, from: count + 3)
  }

  /// Appends a key after its length, which does not fit into its byte if it is above 255.
  @inline(__always)
  mutating func append(key: UnsafeBufferPointer<UInt8>) {
    reserve(1 + key.count)
    base[count] = UInt8(truncatingIfNeeded: key.count)
    fill(with: key, from: count + 1)
  }

  /// Copies bytes to an offset, behind which there is room for them.
  @inline(__always)
  private mutating func fill(with bytes: UnsafeBufferPointer<UInt8>, from start: Int) {
    count = start + bytes.count
    guard let source = bytes.baseAddress else { return }
    // Fast path: names and short texts are one or two words, of which the second overlaps the first.
    switch bytes.count {
    case 4...8: Self.copy(bytes.count, from: source, to: base + start, as: UInt32.self)
    case 9...16: Self.copy(bytes.count, from: source, to: base + start, as: UInt64.self)
    default: (base + start).update(from: source, count: bytes.count)
    }
  }

  /// Copies bytes as two words.
  @inline(__always)
  private static func copy<Word: BitwiseCopyable>(
    _ count: Int,
    from source: UnsafePointer<UInt8>,
    to target: UnsafeMutablePointer<UInt8>,
    as type: Word.Type
  ) {
    let last = count - MemoryLayout<Word>.size
    let (source, target) = (UnsafeRawPointer(source), UnsafeMutableRawPointer(target))
    let first = source.loadUnaligned(as: type)
    let second = source.loadUnaligned(fromByteOffset: last, as: type)
    target.storeBytes(of: first, as: type)
    target.storeBytes(of: second, toByteOffset: last, as: type)
  }
}
