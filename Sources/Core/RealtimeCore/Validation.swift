/// The rules for keys, paths and values that a database accepts.
package enum Validation {
  /// Why a key is not legal, or nil when it is.
  package static func problem(withKey text: String) -> String? {
    var text = text
    return text.withUTF8 { problem(withKey: $0) }
  }

  private static func problem(with key: ChildKey) -> String? {
    key.withUTF8 { problem(withKey: $0) }
  }

  private static func problem(withKey text: UnsafeBufferPointer<UInt8>) -> String? {
    if text.isEmpty { return "a key cannot be empty" }
    if text.count > Limits.keyBytes {
      return "a key cannot be longer than \(Limits.keyBytes) bytes; this one has \(text.count)"
    }
    for byte in text {
      switch byte {
      case 0..<0x20, 0x7F:
        return "a key cannot contain control characters; this one has byte \(byte)"
      case UInt8(ascii: "."), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "["),
        UInt8(ascii: "]"), UInt8(ascii: "/"):
        let character = Character(UnicodeScalar(byte))
        return "a key cannot contain '\(character)' (nor any of . # $ [ ] /)"
      default: break
      }
    }
    return nil
  }

  /// Why a path is not legal, or nil when it is.
  package static func problem(withPath path: Path) -> String? {
    for key in path.keys {
      if let problem = problem(with: key) { return problem }
    }
    let bounds = Bounds(pathBytes: Limits.storedPathBytes, depth: Limits.depth)
    return problem(withDepth: path.count, bytes: bytes(of: path), bounds)
  }

  /// Why data cannot be stored at a path, or nil when it can.
  ///
  /// - Parameters:
  ///   - node: The data.
  ///   - path: Where they are to be stored.
  ///   - depth: Most keys from the root to a leaf, no more than ``Limits/depth``.
  /// - Returns: What is wrong.
  /// - Complexity: O(size)
  package static func problem(
    with node: Node,
    at path: Path,
    depth: Int = Limits.depth
  ) -> String? {
    problem(with: node, at: path, Bounds(pathBytes: Limits.storedPathBytes, depth: depth))
  }

  /// Why a client does not send data for a path, or nil when it does.
  ///
  /// Official clients stop one byte before the limit that is documented for servers.
  ///
  /// - Complexity: O(size)
  package static func problem(withWritten node: Node, at path: Path) -> String? {
    problem(with: node, at: path, Bounds(pathBytes: Limits.pathBytes, depth: Limits.depth))
  }

  /// How far from the root data may be.
  private struct Bounds {
    let pathBytes: Int
    let depth: Int
  }

  private static func problem(with node: Node, at path: Path, _ bounds: Bounds) -> String? {
    if path.isPriority, let parent = path.parent { return problem(withPath: parent) }
    if let problem = problem(withPath: path) { return problem }
    let bytes = bytes(of: path)
    return problem(withDepth: path.count, bytes: bytes, bounds)
      ?? problem(with: node, depth: path.count, bytes: bytes, bounds)
  }

  private static func bytes(of path: Path) -> Int {
    path.keys.reduce(0) { $0 + $1.byteCount + 1 }
  }

  private static func problem(
    with node: Node,
    depth: Int,
    bytes: Int,
    _ bounds: Bounds
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
          problem(withPacked: $0, depth: depth, bytes: bytes, bounds)
        }
      }
      for (key, child) in children.map {
        if let problem = problem(with: key) { return problem }
        let below = bytes + key.byteCount + 1
        if let problem = problem(withDepth: depth + 1, bytes: below, bounds)
          ?? problem(with: child, depth: depth + 1, bytes: below, bounds)
        {
          return problem
        }
      }
      return nil
    }
  }

  /// The same of packed children, whose values are all short enough.
  private static func problem(
    withPacked source: UnsafeRawBufferPointer,
    depth: Int,
    bytes: Int,
    _ bounds: Bounds
  ) -> String? {
    var cursor = PackedCursor(source)
    while let entry = cursor.next() {
      let key = entry.key
      if let problem = key.withMemoryRebound(to: UInt8.self, { problem(withKey: $0) }) {
        return problem
      }
      let below = bytes + key.count + 1
      if let problem = problem(withDepth: depth + 1, bytes: below, bounds) { return problem }
      guard entry.value.tag == .children else { continue }
      let children = entry.value.content
      if let problem = problem(withPacked: children, depth: depth + 1, bytes: below, bounds) {
        return problem
      }
    }
    return nil
  }

  private static func problem(withDepth depth: Int, bytes: Int, _ bounds: Bounds) -> String? {
    if depth > bounds.depth { return "data cannot be nested deeper than \(bounds.depth) keys" }
    if bytes > bounds.pathBytes { return "a path cannot be longer than \(Limits.pathBytes) bytes" }
    return nil
  }
}
