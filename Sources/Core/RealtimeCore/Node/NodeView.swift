/// A node that is only looked at while it is lent; nothing is copied, and no reference is counted.
///
/// A place below is found without a copy of what is there, so that rules can ask for single values of
/// a post without taking it apart.
///
// Safety: a view is used only while the closure runs that it was lent to (see `Node/withView(_:)`).
// Until then somebody holds the node, and what is held by somebody else is never changed in place.
// The elements of an array, and the bytes of a long string, stay where they are as long as nobody
// changes it.
package struct NodeView {
  private enum Place {
    case empty
    /// A node that is not packed.
    case node(UnsafePointer<Node>)
    /// Packed children.
    case children(UnsafeRawBufferPointer)
    /// A leaf within packed children, from its tag on.
    case leaf(UnsafeRawBufferPointer)
  }

  private let place: Place

  /// Nothing.
  package static var empty: NodeView { NodeView(.empty) }

  private init(_ place: Place) {
    self.place = place
  }

  /// Looks at a node that stays where it is.
  fileprivate init(_ node: UnsafePointer<Node>) {
    switch node.pointee {
    case .empty: place = .empty
    case .leaf: place = .node(node)
    case .children(let children):
      place = children.packed.map { .children($0.lent) } ?? .node(node)
    }
  }

  /// Looks at a value within packed children.
  private init(_ value: PackedValue) {
    place =
      value.tag == .children
      ? .children(value.content)
      : .leaf(UnsafeRawBufferPointer(rebasing: value.source[value.start...]))
  }

  /// What a node holds, without what is below.
  package enum Content {
    /// Nothing.
    case empty
    /// Text that can be lent.
    case text(LeafText)
    /// Any other leaf.
    case leaf(LeafValue)
    /// Children.
    case children
  }

  /// What is here.
  package var content: Content {
    switch place {
    case .empty: return .empty
    case .children: return .children
    case .leaf(let source):
      let value = PackedValue(source, at: 0)
      switch value.tag {
      case .no: return .leaf(.bool(false))
      case .yes: return .leaf(.bool(true))
      case .small, .integer: return .leaf(.integer(value.integer))
      case .double: return .leaf(.double(value.double))
      case .string: return .text(LeafText(value.content))
      case .children: return .children
      }
    case .node(let node):
      switch node.pointee {
      case .empty: return .empty
      case .children: return .children
      case .leaf(.string(let text), _): return text.lent.map { .text($0) } ?? .leaf(.string(text))
      case .leaf(let value, _): return .leaf(value)
      }
    }
  }

  /// Whether there is no data.
  package var isEmpty: Bool {
    if case .empty = place { true } else { false }
  }

  /// Whether this is a leaf.
  fileprivate var isLeaf: Bool {
    switch place {
    case .leaf: return true
    case .empty, .children: return false
    case .node(let node):
      if case .leaf = node.pointee { return true }
      return false
    }
  }

  /// The number of children.
  package var childCount: Int {
    switch place {
    case .empty, .leaf: 0
    case .children(let source): Int(source[0])
    case .node(let node): node.pointee.childCount
    }
  }

  /// The priority, or nil; what is packed has none.
  package var priority: LeafValue? {
    if case .node(let node) = place { node.pointee.priority } else { nil }
  }

  /// What is here as a node of its own.
  ///
  /// - Complexity: O(size) where it is a part of what is packed
  package var node: Node {
    switch place {
    case .empty: .empty
    case .node(let node): node.pointee
    case .children(let source): .children(NodeChildren(PackedChildren(bytes: Array(source))))
    case .leaf(let source): PackedValue(source, at: 0).node
    }
  }

  // MARK: Below

  /// A child, empty when it is missing; the pseudo key of priorities is no child.
  ///
  /// - Complexity: O(log children)
  package func child(_ key: ChildKey) -> NodeView {
    switch place {
    case .empty, .leaf: return .empty
    case .children(let source):
      return PackedEntry.find(key, in: source).map { NodeView($0.value) } ?? .empty
    case .node(let node):
      guard case .children(let children) = node.pointee else { return .empty }
      // A node with a priority is not packed, but its children may be.
      if let packed = children.map.packed {
        return PackedEntry.find(key, in: packed.lent).map { NodeView($0.value) } ?? .empty
      }
      return children.map.place(of: key).map { NodeView($0) } ?? .empty
    }
  }

  /// The same of a key that is text.
  ///
  /// - Complexity: O(log children)
  package func child(_ key: LeafText) -> NodeView {
    switch place {
    case .empty, .leaf: return .empty
    case .children(let source):
      return PackedEntry.find(UnsafeRawBufferPointer(key.utf8), in: source)
        .map { NodeView($0.value) } ?? .empty
    case .node: return child(ChildKey(validUTF8: key.utf8))
    }
  }

  /// Looks at the children in key order for as long as a closure wants.
  ///
  /// - Parameter isWanted: Takes a key and what is there, lent until it returns; false for no more.
  /// - Complexity: O(children looked at)
  package func forEachChild(while isWanted: (_ key: LeafText, _ child: NodeView) -> Bool) {
    switch place {
    case .empty, .leaf: return
    case .children(let source):
      var cursor = PackedCursor(source)
      while let entry = cursor.next() {
        if !isWanted(LeafText(entry.key), NodeView(entry.value)) { return }
      }
    case .node(let node):
      guard case .children(let children) = node.pointee else { return }
      for (key, child) in children.map {
        let goesOn = key.withUTF8 { key in child.withView { isWanted(LeafText(key), $0) } }
        if !goesOn { return }
      }
    }
  }
}

extension Node {
  /// Lends a view of the node while a closure runs.
  ///
  /// - Parameter body: Takes the view, which it must not keep.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws.
  package func withView<Result, Failure: Error>(
    _ body: (NodeView) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafePointer(to: self) { (node) throws(Failure) in try body(NodeView(node)) }
  }
}

extension Node {
  /// How many keys of a path lead to a leaf that is above its end; all of them where there is none.
  ///
  /// - Complexity: O(depth · log children)
  package func leafDepth(above path: Path) -> Int {
    withView { node in
      var node = node
      for (depth, key) in path.keys.enumerated() {
        if node.isLeaf { return depth }
        // What is at the path itself does not matter, and may be one child of many.
        if depth + 1 < path.count { node = node.child(key) }
      }
      return path.count
    }
  }
}

extension String {
  /// The longest text that may lie in the value itself, where it cannot be lent.
  private static let mostInlineBytes = 15

  /// The text, to be used while somebody holds the string; nil when it has no place of its own.
  fileprivate var lent: LeafText? {
    guard utf8.count > Self.mostInlineBytes else { return nil }
    return utf8.withContiguousStorageIfAvailable { LeafText($0) }
  }
}
