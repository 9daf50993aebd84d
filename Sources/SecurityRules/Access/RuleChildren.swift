internal import RealtimeTree

/// The rules of children that a document names, in the order of their keys.
struct RuleChildren: Sendable, Sequence {
  /// Up to how many keys are looked at one by one, which is sooner done than a search.
  private static let few = 8

  private let keys: [ChildKey]
  private let nodes: [RuleNode]

  init(_ children: [ChildKey: RuleNode]) {
    let sorted = children.sorted { $0.key < $1.key }
    keys = sorted.map(\.key)
    nodes = sorted.map(\.value)
  }

  /// The number of children.
  var count: Int { keys.count }

  /// The rules of a child, or nil.
  ///
  /// - Complexity: O(log children)
  subscript(key: ChildKey) -> RuleNode? {
    keys.withUnsafeBufferPointer { keys in
      if keys.count <= Self.few { return keys.firstIndex(of: key) }
      var (low, high) = (0, keys.count)
      while low < high {
        let middle = (low + high) / 2
        if keys[middle] < key { low = middle + 1 } else { high = middle }
      }
      return low < keys.count && keys[low] == key ? low : nil
    }.map { nodes[$0] }
  }

  /// Walks the children in the order of their keys.
  func makeIterator() -> Zip2Sequence<[ChildKey], [RuleNode]>.Iterator {
    zip(keys, nodes).makeIterator()
  }
}
