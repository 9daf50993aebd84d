/// How much there is in nodes, counted only until it is known to be too much.
package struct NodeMeasure: Sendable {
  private let valueLimit: Int
  private let byteLimit: Int
  /// The leaves so far.
  package private(set) var values = 0
  /// The bytes of keys and text so far, and a few for every other value.
  package private(set) var bytes = 0

  /// Begins to count.
  ///
  /// - Parameters:
  ///   - values: The number of leaves beyond which nobody wants to know more.
  ///   - bytes: The number of bytes beyond which nobody wants to know more.
  package init(values: Int = .max, bytes: Int = .max) {
    valueLimit = values
    byteLimit = bytes
  }

  /// Whether there is more than one of the limits.
  package var isExceeded: Bool { values > valueLimit || bytes > byteLimit }

  /// Adds a node with all that is below it.
  ///
  /// - Complexity: O(size), but never more than the limits.
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

  /// What a value counts that is no text.
  private static let plainBytes = 8
}
