internal import RealtimeCore

/// The rules of children that a document names, in the order of their keys.
///
// Safety: what the names lend is held by `texts`.
struct RuleChildren: @unchecked Sendable, Sequence {
  /// Up to how many keys are looked at one by one, which is sooner done than a search.
  private static let few = 8

  private let keys: [ChildKey]
  /// The keys as text.
  private let names: Lent<LeafText>
  private let texts: [Lent<UInt8>]
  private let nodes: [RuleNode]

  init(_ children: [ChildKey: RuleNode]) {
    let sorted = children.sorted { $0.key < $1.key }
    keys = sorted.map(\.key)
    texts = keys.map { key in key.withUTF8 { Lent($0) } }
    names = Lent(texts.map { LeafText($0.elements) })
    nodes = sorted.map(\.value)
  }

  /// The number of children.
  var count: Int { keys.count }

  /// The rules of a child, or nil.
  ///
  /// - Complexity: O(log children)
  subscript(name: LeafText) -> RuleNode? {
    if keys.count <= Self.few {
      let names = names.elements
      for index in names.indices where names[index] == name { return nodes[index] }
      return nil
    }
    let key = ChildKey(name)
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < keys.count && keys[low] == key ? nodes[low] : nil
  }

  /// Walks the children in the order of their keys; the names are lent by the rules.
  func makeIterator() -> Zip2Sequence<UnsafeBufferPointer<LeafText>, [RuleNode]>.Iterator {
    zip(names.elements, nodes).makeIterator()
  }
}
