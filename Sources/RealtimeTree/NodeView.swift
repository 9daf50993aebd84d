/// A node that is only looked at; of packed children nothing is made into nodes or strings.
///
/// A place below is found without a copy of what is there, so that rules can ask for single values of
/// a post without taking it apart.
package struct NodeView: Sendable {
  private enum Place: Sendable {
    case node(Node)
    /// Packed children, and where among the bytes they are.
    case children([UInt8], Range<Int>)
    /// A leaf within packed children, and where it begins.
    case leaf([UInt8], at: Int)
  }

  private let place: Place

  /// Looks at a node.
  package init(_ node: Node) {
    if case .children(let children) = node, let bytes = children.packed?.bytes {
      place = .children(bytes, 0..<bytes.count)
    } else {
      place = .node(node)
    }
  }

  private init(_ place: Place) {
    self.place = place
  }

  /// Looks at a value within packed children.
  private init(_ value: PackedValue, of bytes: [UInt8], from offset: Int) {
    if value.tag == .children {
      let range = value.contentRange
      place = .children(bytes, (offset + range.lowerBound)..<(offset + range.upperBound))
    } else {
      place = .leaf(bytes, at: offset + value.start)
    }
  }

  private static let empty = NodeView(.node(.empty))

  /// What a node holds, without what is below.
  package enum Content: Sendable {
    /// Nothing.
    case empty
    /// Text.
    case text(LeafText)
    /// Any other leaf.
    case leaf(LeafValue)
    /// Children.
    case children
  }

  /// What is here.
  package var content: Content {
    switch place {
    case .children, .node(.children): return .children
    case .node(.empty): return .empty
    case .node(.leaf(.string(let text), _)): return .text(LeafText(text))
    case .node(.leaf(let value, _)): return .leaf(value)
    case .leaf(let bytes, let start):
      return bytes.withUnsafeBytes { source in
        let value = PackedValue(source, at: start)
        switch value.tag {
        case .no: return .leaf(.bool(false))
        case .yes: return .leaf(.bool(true))
        case .small, .integer: return .leaf(.integer(value.integer))
        case .double: return .leaf(.double(value.double))
        case .string: return .text(LeafText(bytes, value.contentRange))
        case .children: return .children
        }
      }
    }
  }

  /// Whether there is no data.
  package var isEmpty: Bool {
    if case .node(.empty) = place { true } else { false }
  }

  /// The number of children.
  package var childCount: Int {
    switch place {
    case .node(let node): node.childCount
    case .children(let bytes, let range): Int(bytes[range.lowerBound])
    case .leaf: 0
    }
  }

  /// The priority, or nil; what is packed has none.
  package var priority: LeafValue? {
    if case .node(let node) = place { node.priority } else { nil }
  }

  /// What is here as a node of its own.
  ///
  /// - Complexity: O(size) where it is a part of what is packed
  package var node: Node {
    switch place {
    case .node(let node): return node
    case .children(let bytes, let range):
      let own = range.count == bytes.count ? bytes : Array(bytes[range])
      return .children(NodeChildren(PackedChildren(bytes: own)))
    case .leaf(let bytes, let start):
      return bytes.withUnsafeBytes { PackedValue($0, at: start).node }
    }
  }

  // MARK: Below

  /// A child, empty when it is missing; the pseudo key of priorities is no child.
  ///
  /// - Complexity: O(log children)
  package func child(_ key: ChildKey) -> NodeView {
    switch place {
    case .children(let bytes, let range): return Self.child(key, in: bytes, range)
    case .node(.children(let children)):
      if let bytes = children.map.packed?.bytes {
        return Self.child(key, in: bytes, 0..<bytes.count)
      }
      return children.map[key].map { NodeView($0) } ?? .empty
    case .node, .leaf: return .empty
    }
  }

  private static func child(_ key: ChildKey, in bytes: [UInt8], _ range: Range<Int>) -> NodeView {
    bytes.withUnsafeBytes { source in
      PackedEntry.find(key, in: UnsafeRawBufferPointer(rebasing: source[range]))
        .map { NodeView($0.value, of: bytes, from: range.lowerBound) } ?? .empty
    }
  }

  /// Looks at the children in key order for as long as a closure wants.
  ///
  /// - Parameter isWanted: Takes a key and what is there; false for no more.
  /// - Complexity: O(children looked at)
  package func forEachChild(while isWanted: (_ key: ChildKey, _ child: NodeView) -> Bool) {
    switch place {
    case .children(let bytes, let range): Self.forEachChild(in: bytes, range, while: isWanted)
    case .node(.children(let children)):
      if let bytes = children.map.packed?.bytes {
        return Self.forEachChild(in: bytes, 0..<bytes.count, while: isWanted)
      }
      for (key, child) in children.map where !isWanted(key, NodeView(child)) { return }
    case .node, .leaf: return
    }
  }

  private static func forEachChild(
    in bytes: [UInt8],
    _ range: Range<Int>,
    while isWanted: (_ key: ChildKey, _ child: NodeView) -> Bool
  ) {
    bytes.withUnsafeBytes { source in
      var cursor = PackedCursor(UnsafeRawBufferPointer(rebasing: source[range]))
      while let entry = cursor.next() {
        let child = NodeView(entry.value, of: bytes, from: range.lowerBound)
        if !isWanted(entry.childKey, child) { return }
      }
    }
  }
}
