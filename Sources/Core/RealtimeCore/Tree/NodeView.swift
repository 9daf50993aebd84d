/// A borrowed node: nothing is copied, and no reference is counted.
///
/// Children are found without copying them, so that rules can read single values of a post without
/// unpacking it.
///
// Safety: a view is used only while the closure runs that it was lent to (see `Node/withView(_:)`).
// Until then the lender retains the node, and a retained node is never changed in place, so the
// elements of its arrays and the bytes of its long strings stay where they are.
package struct NodeView {
  private enum Storage {
    case empty
    /// A node that is not packed.
    case node(UnsafePointer<Node>)
    /// Packed children.
    case children(UnsafeRawBufferPointer)
    /// A leaf within packed children, starting at its tag.
    case leaf(UnsafeRawBufferPointer)
  }

  private let storage: Storage

  /// Nothing.
  package static var empty: NodeView { NodeView(.empty) }

  private init(_ storage: Storage) {
    self.storage = storage
  }

  /// Borrows a node that does not move.
  fileprivate init(_ node: UnsafePointer<Node>) {
    switch node.pointee {
    case .empty: storage = .empty
    case .leaf: storage = .node(node)
    case .children(let children):
      storage = children.packed.map { .children($0.lent) } ?? .node(node)
    }
  }

  /// Borrows a value within packed children.
  private init(_ value: PackedValue) {
    storage =
      value.tag == .children
      ? .children(value.content)
      : .leaf(UnsafeRawBufferPointer(rebasing: value.source[value.start...]))
  }

  /// The content of a node without its descendants.
  package enum Content {
    /// Nothing.
    case empty
    /// A long text, borrowed.
    case text(LeafText)
    /// Any other leaf, including short text that has no address of its own.
    case leaf(LeafValue)
    /// Children.
    case children
  }

  /// The content.
  package var content: Content {
    switch storage {
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

  /// The kind of a node.
  package enum Kind {
    /// Nothing.
    case empty
    /// True or false.
    case bool
    /// A number.
    case number
    /// Text.
    case string
    /// A value that the server computes.
    case deferred
    /// Children.
    case children
  }

  /// The kind of the node.
  package var kind: Kind {
    switch storage {
    case .empty: return .empty
    case .children: return .children
    case .leaf(let source):
      switch PackedValue(source, at: 0).tag {
      case .no, .yes: return .bool
      case .small, .integer, .double: return .number
      case .string: return .string
      case .children: return .children
      }
    case .node(let node):
      switch node.pointee {
      case .empty: return .empty
      case .children: return .children
      case .leaf(.bool, _): return .bool
      case .leaf(.integer, _), .leaf(.double, _): return .number
      case .leaf(.string, _): return .string
      case .leaf(.deferred, _): return .deferred
      }
    }
  }

  /// Whether there is no data.
  package var isEmpty: Bool {
    if case .empty = storage { true } else { false }
  }

  /// Whether this is a leaf.
  fileprivate var isLeaf: Bool {
    switch storage {
    case .leaf: return true
    case .empty, .children: return false
    case .node(let node):
      if case .leaf = node.pointee { return true }
      return false
    }
  }

  /// The number of children.
  package var childCount: Int {
    switch storage {
    case .empty, .leaf: 0
    case .children(let source): Int(source[0])
    case .node(let node): node.pointee.childCount
    }
  }

  /// The priority, or nil; packed nodes have none.
  package var priority: LeafValue? {
    if case .node(let node) = storage { node.pointee.priority } else { nil }
  }

  /// Whether the node has a priority.
  package var hasPriority: Bool {
    guard case .node(let node) = storage else { return false }
    switch node.pointee {
    case .empty: return false
    case .leaf(_, let priority): return priority != nil
    case .children(let children): return children.priority != nil
    }
  }

  /// An owned copy of the node.
  ///
  /// - Complexity: O(size) if it is part of packed children
  package var node: Node {
    switch storage {
    case .empty: .empty
    case .node(let node): node.pointee
    case .children(let source): .children(NodeChildren(PackedChildren(bytes: Array(source))))
    case .leaf(let source): PackedValue(source, at: 0).node
    }
  }

  // MARK: Below

  /// The child of a key, empty if it is missing; `.priority` is not a child.
  ///
  /// - Complexity: O(log children)
  package func child(_ key: ChildKey) -> NodeView {
    switch storage {
    case .empty, .leaf: return .empty
    case .children(let source):
      return PackedEntry.find(key, in: source).map { NodeView($0.value) } ?? .empty
    case .node(let node):
      guard case .children(let children) = node.pointee else { return .empty }
      // A node with a priority is not packed itself, but its children may be.
      if let packed = children.map.packed {
        return PackedEntry.find(key, in: packed.lent).map { NodeView($0.value) } ?? .empty
      }
      return children.map.pointer(toChildOf: key).map { NodeView($0) } ?? .empty
    }
  }

  /// The children of a key in this node and in another one, such as an older version of it.
  ///
  /// - Complexity: O(log children)
  package func child(_ key: ChildKey, beside other: NodeView) -> (NodeView, NodeView) {
    if case .node(let node) = storage, case .node(let otherNode) = other.storage,
      case .children(let children) = node.pointee,
      case .children(let others) = otherNode.pointee,
      let pointers = children.map.pointers(toChildrenOf: key, beside: others.map)
    {
      return (
        pointers.0.map { NodeView($0) } ?? .empty, pointers.1.map { NodeView($0) } ?? .empty
      )
    }
    return (child(key), other.child(key))
  }

  /// The child of a key given as text.
  ///
  /// - Complexity: O(log children)
  package func child(_ key: LeafText) -> NodeView {
    switch storage {
    case .empty, .leaf: return .empty
    case .children(let source):
      return PackedEntry.find(UnsafeRawBufferPointer(key.utf8), in: source)
        .map { NodeView($0.value) } ?? .empty
    case .node: return child(ChildKey(validUTF8: key.utf8))
    }
  }

  /// Visits the children in key order, each with the child of another node under the same key.
  ///
  /// - Parameters:
  ///   - other: The other node.
  ///   - isWanted: Takes a key, its child, and that of the other node, which may be empty; all are
  ///     borrowed until it returns false to end the visit.
  /// - Complexity: O(visited children) if both nodes have about the same children
  package func forEachChild(
    beside other: NodeView,
    while isWanted: (_ key: LeafText, _ child: NodeView, _ other: NodeView) -> Bool
  ) {
    guard case .children(let source) = storage, case .children(let others) = other.storage else {
      return forEachChild { isWanted($0, $1, other.child($0)) }
    }
    var cursor = PackedCursor(source)
    var offset = 1
    while let entry = cursor.next() {
      let present = PackedEntry.find(entry.key, in: others, guess: &offset)
      let beside = present.map { NodeView($0.value) } ?? .empty
      if !isWanted(LeafText(entry.key), NodeView(entry.value), beside) { return }
    }
  }

  /// Visits the children in key order until a closure returns false.
  ///
  /// - Parameter isWanted: Takes a key and its child, both borrowed until it returns.
  /// - Complexity: O(visited children)
  package func forEachChild(while isWanted: (_ key: LeafText, _ child: NodeView) -> Bool) {
    switch storage {
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
  /// Lends a view of the node to a closure.
  ///
  /// - Parameter body: Takes the view, which must not escape.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws.
  package func withView<Result, Failure: Error>(
    _ body: (NodeView) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafePointer(to: self) { (node) throws(Failure) in try body(NodeView(node)) }
  }
}

extension Node {
  /// The depth of a leaf above the end of a path, or the length of the path if there is none.
  ///
  /// - Complexity: O(depth · log children)
  package func leafDepth(above path: Path) -> Int {
    withView { node in
      var node = node
      for (depth, key) in path.keys.enumerated() {
        if node.isLeaf { return depth }
        // The child at the full path does not matter, so it is not looked up.
        if depth + 1 < path.count { node = node.child(key) }
      }
      return path.count
    }
  }
}

extension String {
  /// Strings up to this length may be stored inline, where they have no address to lend.
  private static let mostInlineBytes = 15

  /// The bytes of the string, valid while it is retained; nil if they are stored inline.
  fileprivate var lent: LeafText? {
    guard utf8.count > Self.mostInlineBytes else { return nil }
    return utf8.withContiguousStorageIfAvailable { LeafText($0) }
  }
}
