/// A location in a database: the keys from the root down.
package struct Path: Hashable, Sendable, CustomStringConvertible {
  /// The keys, from the root down; empty for the root.
  package let keys: [ChildKey]

  package static let root = Path([])

  package init(_ keys: [ChildKey]) {
    self.keys = keys
  }

  package init(_ keys: ArraySlice<ChildKey>) {
    self.keys = Array(keys)
  }

  /// Parses the wire form: keys separated by slashes, empty segments dropped, nothing decoded.
  package init(wire text: String) {
    var text = text
    self = text.withUTF8 { Path(validUTF8: $0) }
  }

  /// Parses the wire form from bytes that are known to be UTF-8.
  init(validUTF8 bytes: UnsafeBufferPointer<UInt8>) {
    let slash = UInt8(ascii: "/")
    var keys: [ChildKey] = []
    // Without checks for overflow, so that the compiler counts many bytes at a time.
    let slashes = bytes.reduce(0) { $0 &+ ($1 == slash ? 1 : 0) }
    // In a message, a path begins with a slash.
    let isLeading = bytes.first == slash
    keys.reserveCapacity(isLeading ? slashes : slashes + 1)
    var start = isLeading ? 1 : 0
    while start < bytes.count {
      let end = CodeUnits.index(of: slash, in: bytes, from: start)
      if start < end {
        // A slash is never part of a longer character, so the bytes between two are valid UTF-8.
        keys.append(ChildKey(validUTF8: UnsafeBufferPointer(rebasing: bytes[start..<end])))
      }
      start = end + 1
    }
    self.keys = keys
  }

  package var isRoot: Bool { keys.isEmpty }
  package var count: Int { keys.count }
  package var first: ChildKey? { keys.first }
  package var last: ChildKey? { keys.last }
  /// The path without its first key; the rest of the root is the root.
  package var rest: Path { Path(keys.dropFirst()) }
  package var parent: Path? { isRoot ? nil : Path(keys.dropLast()) }
  /// The paths from the root down to this one, which are all that contain it.
  package var prefixes: LazyMapCollection<ClosedRange<Int>, Path> {
    (0...count).lazy.map { Path(keys.prefix($0)) }
  }
  /// Whether the last key is the pseudo key of a priority.
  @inline(__always)
  package var isPriority: Bool { keys.last?.isPriority == true }

  package func appending(_ key: ChildKey) -> Path { Path(keys + [key]) }

  package func appending(_ path: Path) -> Path { Path(keys + path.keys) }

  /// Whether the other path is this one or lies below it.
  package func contains(_ other: Path) -> Bool {
    guard keys.count <= other.keys.count else { return false }
    for index in keys.indices where keys[index] != other.keys[index] { return false }
    return true
  }

  package func overlaps(_ other: Path) -> Bool { contains(other) || other.contains(self) }

  /// The path from an ancestor down to this one, or nil if the other path is not an ancestor.
  package func relative(to ancestor: Path) -> Path? {
    ancestor.contains(self) ? Path(keys.dropFirst(ancestor.count)) : nil
  }

  /// The path with slashes between keys but no leading slash, as the server writes it.
  package var wireText: String { keys.map(\.text).joined(separator: "/") }

  /// The path with a leading slash, as people and clients write it.
  package var description: String { "/" + wireText }
}

extension Path: Comparable {
  /// Orders key by key; of two paths where one contains the other, the shorter comes first.
  package static func < (left: Path, right: Path) -> Bool {
    for index in 0..<min(left.count, right.count) where left.keys[index] != right.keys[index] {
      return left.keys[index] < right.keys[index]
    }
    return left.count < right.count
  }
}

extension Path: ExpressibleByStringLiteral {
  package init(stringLiteral value: String) {
    self.init(wire: value)
  }
}
