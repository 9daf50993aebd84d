/// The rules for keys, paths and values that a database accepts.
package enum Validation {
  /// Why a key is not legal, or nil when it is.
  package static func problem(withKey text: String) -> String? {
    if text.isEmpty { return "a key cannot be empty" }
    if text.utf8.count > Limits.keyBytes {
      return "a key cannot be longer than \(Limits.keyBytes) bytes; this one has \(text.utf8.count)"
    }
    for byte in text.utf8 {
      if byte < 0x20 || byte == 0x7F {
        return "a key cannot contain control characters; this one has byte \(byte)"
      }
      if forbidden.contains(byte) {
        let character = Character(UnicodeScalar(byte))
        return "a key cannot contain '\(character)' (nor any of . # $ [ ] /)"
      }
    }
    return nil
  }

  /// Why a path is not legal, or nil when it is.
  package static func problem(withPath path: Path) -> String? {
    for key in path.keys {
      if let problem = problem(withKey: key.text) { return problem }
    }
    return problem(
      withDepth: path.count,
      bytes: path.keys.reduce(0) { $0 + $1.text.utf8.count + 1 }
    )
  }

  /// Why data cannot be stored at a path, or nil when it can.
  ///
  /// - Complexity: O(size)
  package static func problem(with node: Node, at path: Path) -> String? {
    if path.isPriority, let parent = path.parent { return problem(withPath: parent) }
    if let problem = problem(withPath: path) { return problem }
    let bytes = path.keys.reduce(0) { $0 + $1.text.utf8.count + 1 }
    return problem(with: node, depth: path.count, bytes: bytes)
  }

  private static func problem(with node: Node, depth: Int, bytes: Int) -> String? {
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
      for (key, child) in children.map {
        if let problem = problem(withKey: key.text) { return problem }
        let below = bytes + key.text.utf8.count + 1
        if let problem = problem(withDepth: depth + 1, bytes: below)
          ?? problem(with: child, depth: depth + 1, bytes: below)
        {
          return problem
        }
      }
      return nil
    }
  }

  private static func problem(withDepth depth: Int, bytes: Int) -> String? {
    if depth > Limits.depth { return "data cannot be nested deeper than \(Limits.depth) keys" }
    // One byte of grace, so that a key of exactly 768 bytes at the root is accepted, as documented.
    if bytes > Limits.pathBytes + 1 {
      return "a path cannot be longer than \(Limits.pathBytes) bytes"
    }
    return nil
  }

  private static let forbidden = Set(".#$[]/".utf8)
}
