/// The limits on data and messages that clients and servers share.
package enum Limits {
  /// The longest key, in bytes of UTF-8.
  package static let keyBytes = 768
  /// The longest path that a client writes, in bytes of UTF-8 plus one for each key.
  package static let pathBytes = 768
  /// The longest stored path; as documented, a key of exactly 768 bytes is allowed at the root.
  package static let storedPathBytes = 769
  /// The most keys from the root to a leaf.
  package static let depth = 32
  /// The longest string, in bytes of UTF-8.
  package static let stringBytes = 10 * 1_024 * 1_024
  /// The deepest nesting that the JSON parser follows.
  package static let jsonDepth = 64
  /// The longest message, in bytes of UTF-8.
  package static let messageBytes = 256 * 1_024 * 1_024
  /// The longest text frame, in UTF-16 code units; longer messages are split.
  package static let segmentUnits = 16_384
  /// The most segments in one message.
  package static let segments = 16_384
  /// The number of times a transaction is tried before it fails.
  package static let transactionTries = 25
}

/// Checks whether a database accepts keys, paths and values.
package enum Validation {
  package static func problem(withKey text: String) -> String? {
    var text = text
    return text.withUTF8 { problem(withKey: $0) }
  }

  private static func problem(with key: ChildKey) -> String? {
    key.withUTF8 { problem(withKey: $0) }
  }

  private static func problem(withKey text: UnsafeBufferPointer<UInt8>) -> String? {
    if text.isEmpty || text.count > Limits.keyBytes { return problem(withKeyOf: text.count) }
    for byte in text where !isAllowed(byte) { return problem(withKeyByte: byte) }
    return nil
  }

  /// Whether a key may contain a byte.
  @inline(__always)
  private static func isAllowed(_ byte: UInt8) -> Bool {
    // Fast path: lowercase letters, and a few signs beside them.
    if (0x5E...0x7E).contains(byte) { return true }
    return switch byte {
    case 0..<0x20, 0x7F, UInt8(ascii: "."), UInt8(ascii: "#"), UInt8(ascii: "$"),
      UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "/"):
      false
    default: true
    }
  }

  // The reasons are made elsewhere, so that checking a valid key has no overhead for them.

  @inline(never)
  private static func problem(withKeyOf count: Int) -> String {
    count == 0
      ? "a key cannot be empty"
      : "a key cannot be longer than \(Limits.keyBytes) bytes; this one has \(count)"
  }

  @inline(never)
  private static func problem(withKeyByte byte: UInt8) -> String {
    byte < 0x20 || byte == 0x7F
      ? "a key cannot contain control characters; this one has byte \(byte)"
      : "a key cannot contain any of . # $ [ ] /; this one has '\(Character(UnicodeScalar(byte)))'"
  }

  package static func problem(withPath path: Path) -> String? {
    let bounds = (pathBytes: Limits.storedPathBytes, depth: Limits.depth)
    return problem(withKeysOf: path)
      ?? problem(withDepth: path.count, bytes: bytes(of: path), within: bounds)
  }

  private static func problem(withKeysOf path: Path) -> String? {
    for key in path.keys {
      if let problem = problem(with: key) { return problem }
    }
    return nil
  }

  /// Why data cannot be stored at a path, with so many keys from the root to a leaf; nil if it can.
  ///
  /// - Complexity: O(size)
  package static func problem(
    with node: Node,
    at path: Path,
    depth: Int = Limits.depth
  ) -> String? {
    problem(with: node, at: path, within: (Limits.storedPathBytes, depth))
  }

  /// Why data cannot be stored at a path whose keys are valid, or nil if it can.
  ///
  /// The path has `depth` keys, which have `pathBytes` together, and one more for each.
  ///
  /// - Complexity: O(size)
  package static func problem(with node: Node, depth: Int, pathBytes: Int) -> String? {
    let bounds = (pathBytes: Limits.storedPathBytes, depth: Limits.depth)
    return problem(withDepth: depth, bytes: pathBytes, within: bounds)
      ?? problem(with: node, depth: depth, bytes: pathBytes, within: bounds)
  }

  /// Why a client must not write data at a path, or nil if it may.
  ///
  /// The path limit of official clients is one byte below the one documented for servers.
  ///
  /// - Complexity: O(size)
  package static func problem(withWritten node: Node, at path: Path) -> String? {
    problem(with: node, at: path, within: (Limits.pathBytes, Limits.depth))
  }

  /// The limits on the length and depth of paths.
  private typealias Bounds = (pathBytes: Int, depth: Int)

  private static func problem(with node: Node, at path: Path, within bounds: Bounds) -> String? {
    if path.isPriority, let parent = path.parent { return problem(withPath: parent) }
    if let problem = problem(withKeysOf: path) { return problem }
    let bytes = bytes(of: path)
    return problem(withDepth: path.count, bytes: bytes, within: bounds)
      ?? problem(with: node, depth: path.count, bytes: bytes, within: bounds)
  }

  private static func bytes(of path: Path) -> Int {
    path.keys.reduce(0) { $0 + $1.byteCount + 1 }
  }

  private static func problem(
    with node: Node,
    depth: Int,
    bytes: Int,
    within bounds: Bounds
  ) -> String? {
    if case .string(let text)? = node.priority, text.utf8.count > Limits.stringBytes {
      return "a priority is longer than \(Limits.stringBytes) bytes"
    }
    switch node {
    case .empty: return nil
    case .leaf(.string(let text), _):
      return text.utf8.count > Limits.stringBytes
        ? "a string is longer than \(Limits.stringBytes) bytes" : nil
    case .leaf: return nil
    case .children(let children):
      if let packed = children.map.packed {
        return packed.bytes.withUnsafeBytes {
          problem(withPacked: $0, depth: depth, bytes: bytes, within: bounds)
        }
      }
      for (key, child) in children.map {
        if let problem = problem(with: key) { return problem }
        let below = bytes + key.byteCount + 1
        if let problem = problem(withDepth: depth + 1, bytes: below, within: bounds)
          ?? problem(with: child, depth: depth + 1, bytes: below, within: bounds)
        {
          return problem
        }
      }
      return nil
    }
  }

  /// Checks packed children, whose values are always short enough.
  private static func problem(
    withPacked source: UnsafeRawBufferPointer,
    depth: Int,
    bytes: Int,
    within bounds: Bounds
  ) -> String? {
    var cursor = PackedCursor(source)
    while let entry = cursor.next() {
      let key = entry.key
      if let problem = key.withMemoryRebound(to: UInt8.self, { problem(withKey: $0) }) {
        return problem
      }
      let below = bytes + key.count + 1
      if let problem = problem(withDepth: depth + 1, bytes: below, within: bounds) {
        return problem
      }
      guard entry.value.tag == .children else { continue }
      let children = entry.value.content
      if let problem = problem(withPacked: children, depth: depth + 1, bytes: below, within: bounds)
      {
        return problem
      }
    }
    return nil
  }

  private static func problem(withDepth depth: Int, bytes: Int, within bounds: Bounds) -> String? {
    if depth > bounds.depth { return "data cannot be nested deeper than \(bounds.depth) keys" }
    if bytes > bounds.pathBytes { return "a path cannot be longer than \(Limits.pathBytes) bytes" }
    return nil
  }
}

/// Measures nodes and stops as soon as a limit is exceeded.
package struct NodeMeasure: Sendable {
  private let valueLimit: Int
  private let byteLimit: Int
  /// The number of leaves so far; not complete for packed nodes unless leaves are limited.
  package private(set) var values = 0
  /// The number of bytes of keys and text so far, plus a constant for every other value.
  package private(set) var bytes = 0

  /// Makes a measure that starts at zero, or with a node, and stops beyond so many leaves or bytes.
  package init(of node: Node = .empty, values: Int = .max, bytes: Int = .max) {
    valueLimit = values
    byteLimit = bytes
    add(node)
  }

  package var isExceeded: Bool { values > valueLimit || bytes > byteLimit }

  /// Adds a node and all its descendants.
  ///
  /// - Complexity: O(size), but no more than the limits
  package mutating func add(_ node: Node) {
    guard !isExceeded else { return }
    switch node {
    case .empty: return
    case .leaf(.string(let text), _): add(leafOf: text.utf8.count)
    case .leaf: add(leafOf: Self.plainBytes)
    case .children(let children):
      if let packed = children.map.packed {
        bytes += packed.bytes.count
        if valueLimit < .max { packed.bytes.withUnsafeBytes { count(packed: $0) } }
        return
      }
      for (key, child) in children.map {
        bytes += key.byteCount
        add(child)
        if isExceeded { return }
      }
    }
  }

  private mutating func add(leafOf count: Int) {
    values += 1
    bytes += count
  }

  private mutating func count(packed source: UnsafeRawBufferPointer) {
    var cursor = PackedCursor(source)
    while let entry = cursor.next() {
      if entry.value.tag == .children { count(packed: entry.value.content) } else { values += 1 }
    }
  }

  /// The number of bytes that a value other than text counts for.
  private static let plainBytes = 8
}
