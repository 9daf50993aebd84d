/// A borrowed node: no data is copied and no reference is counted.
///
/// Children are found without copying them, so that security rules can read single values of a post
/// without unpacking it.
///
// Safety: a view is used only while the closure runs to which it was lent (see
// `Node/withView(_:)`). Until then the lender retains the node. A retained node is never changed in
// place, so the elements of its arrays and the bytes of its long strings stay where they are.
package struct NodeView {
  private enum Storage {
    case empty
    case node(UnsafePointer<Node>)
    case map(Unmanaged<SortedMapNode<ChildKey, Node>>, UnsafePointer<Node>)
    /// Packed children.
    case children(UnsafeRawBufferPointer)
    /// A leaf within packed children: the address of its tag.
    case leaf(UnsafeRawPointer)
    /// A node with children, one of which is replaced.
    case replaced(UnsafePointer<Replacement>)
  }

  /// A child that stands for another one in a view of their parent.
  private struct Replacement {
    let base: NodeView
    let key: UnsafePointer<ChildKey>
    /// The child of the parent; empty if there is none.
    let old: NodeView
    /// What the view shows instead; never empty.
    var new: NodeView
  }

  private let storage: Storage

  package static var empty: NodeView { NodeView(.empty) }

  private init(_ storage: Storage) {
    self.storage = storage
  }

  /// Borrows a node, which must not move as long as the view is used.
  package init(_ node: UnsafePointer<Node>) {
    storage = Self.storage(of: node.pointee, at: node)
  }

  /// How a node is borrowed.
  ///
  /// The node is also a parameter, since the references of one that is loaded would be counted.
  private static func storage(of content: Node, at node: UnsafePointer<Node>) -> Storage {
    switch content {
    case .empty: return .empty
    case .leaf: return .node(node)
    case .children(let children):
      if let packed = children.packed { return .children(packed.lent) }
      return children.map.root.map { .map($0, node) } ?? .node(node)
    }
  }

  /// Borrows a value within packed children.
  private init(_ value: PackedValue) {
    self = value.source.baseAddress.map { NodeView(packedAt: $0 + value.start) } ?? .empty
  }

  /// Borrows a value within packed children, at the address of its tag.
  @inline(__always)
  private init(packedAt value: UnsafeRawPointer) {
    storage =
      value.load(as: UInt8.self) == PackedTag.children.rawValue
      ? .children(Self.content(at: value)) : .leaf(value)
  }

  /// The bytes of a packed text or of packed children.
  @inline(__always)
  private static func content(at value: UnsafeRawPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: value + 3, count: PackedValue.length(at: value) - 3)
  }

  private static func value(at value: UnsafeRawPointer) -> PackedValue {
    let bytes = UnsafeRawBufferPointer(start: value, count: PackedValue.length(at: value))
    return PackedValue(bytes, at: 0)
  }

  /// The content of a node without its descendants.
  package enum Content {
    case empty
    /// Borrowed text: any packed text, or a long one.
    case text(LeafText)
    /// Any other leaf, including short text that has no address to lend.
    case leaf(LeafValue)
    case children
  }

  /// What the node holds, without its descendants.
  package var content: Content {
    switch storage {
    case .empty: return .empty
    case .children, .map, .replaced: return .children
    case .leaf(let source):
      let value = Self.value(at: source)
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

  package enum Kind {
    case empty
    case bool
    case number
    case string
    /// A value that the server computes.
    case deferred
    case children
  }

  package var kind: Kind {
    switch storage {
    case .empty: return .empty
    case .children, .map, .replaced: return .children
    case .leaf(let source):
      switch PackedTag(rawValue: source.load(as: UInt8.self)) ?? .no {
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

  package var isEmpty: Bool {
    if case .empty = storage { true } else { false }
  }

  fileprivate var isLeaf: Bool {
    switch storage {
    case .leaf: return true
    case .empty, .children, .map, .replaced: return false
    case .node(let node):
      if case .leaf = node.pointee { return true }
      return false
    }
  }

  package var childCount: Int {
    switch storage {
    case .empty, .leaf: 0
    case .children(let source): Int(source[0])
    case .map(let map, _): map._withUnsafeGuaranteedRef { $0.count }
    case .node(let node): node.pointee.childCount
    case .replaced(let view): Self.childCount(view)
    }
  }

  /// The priority, or nil; packed nodes have none.
  package var priority: LeafValue? {
    owner?.pointee.priority
  }

  package var hasPriority: Bool {
    guard let node = owner else { return false }
    switch node.pointee {
    case .empty: return false
    case .leaf(_, let priority): return priority != nil
    case .children(let children): return children.priority != nil
    }
  }

  /// The node that has the priority; nil if the view shows packed children or a part of them.
  private var owner: UnsafePointer<Node>? {
    switch storage {
    case .node(let node), .map(_, let node): node
    case .replaced(let view): Self.owner(view)
    case .empty, .children, .leaf: nil
    }
  }

  /// An owned copy of the node.
  ///
  /// - Complexity: O(size) if it is part of packed children, O(log children) for each replacement
  package var node: Node {
    switch storage {
    case .replaced(let view):
      view.pointee.base.node.setting(view.pointee.key.pointee, to: view.pointee.new.node)
    case .empty: .empty
    case .node(let node), .map(_, let node): node.pointee
    case .children(let source): .children(NodeChildren(PackedChildren(bytes: Array(source))))
    case .leaf(let source): Self.value(at: source).node
    }
  }

  /// Whether a node has the same data.
  ///
  /// - Complexity: O(size), less where the two nodes share structure
  func isSame(as other: Node) -> Bool {
    if case .children(let source) = storage, let packed = other.children?.packed {
      let others = packed.lent
      guard source.count == others.count, let base = source.baseAddress,
        let otherBase = others.baseAddress
      else { return false }
      return CodeUnits.areSame(base, otherBase, count: source.count)
    }
    // The other node is not packed, but may still be small: priorities and values that the server
    // computes are never packed.
    return node == other
  }

  /// A value for expressions to compute with; it owns nothing.
  package enum Scalar {
    case empty
    case bool(Bool)
    case number(Double)
    case text(LeafText)
    case children
    /// A leaf that only ``content`` returns: a value that the server computes, or text with no
    /// address.
    case other
  }

  /// The content as a value for expressions.
  package var scalar: Scalar {
    switch storage {
    case .empty: return .empty
    case .children, .map, .replaced: return .children
    case .leaf(let source):
      switch PackedTag(rawValue: source.load(as: UInt8.self)) ?? .no {
      case .no: return .bool(false)
      case .yes: return .bool(true)
      case .small: return .number(Double(source.load(fromByteOffset: 1, as: Int8.self)))
      case .integer: return .number(Double(Int64(bitPattern: Self.word(at: source + 1))))
      case .double: return .number(Double(bitPattern: Self.word(at: source + 1)))
      case .string: return .text(LeafText(Self.content(at: source)))
      case .children: return .children
      }
    case .node(let node):
      switch node.pointee {
      case .empty: return .empty
      case .children: return .children
      case .leaf(.bool(let value), _): return .bool(value)
      case .leaf(.integer(let value), _): return .number(Double(value))
      case .leaf(.double(let value), _): return .number(value)
      case .leaf(.string(let text), _): return text.lent.map { .text($0) } ?? .other
      case .leaf(.deferred, _): return .other
      }
    }
  }

  /// The kind of this leaf if another node is the same leaf.
  ///
  /// - Returns: The kind if both leaves are packed, and therefore without a priority, and all their
  ///   bytes are equal; otherwise nil.
  /// - Complexity: O(bytes)
  package func kindOfSameLeaf(as other: NodeView) -> Kind? {
    guard case .leaf(let mine) = storage, case .leaf(let its) = other.storage,
      case let length = PackedValue.length(at: mine), PackedValue.length(at: its) == length,
      CodeUnits.areSame(mine, its, count: length)
    else { return nil }
    return kind
  }

  private static func word(at address: UnsafeRawPointer) -> UInt64 {
    UInt64(littleEndian: address.loadUnaligned(as: UInt64.self))
  }

  // MARK: Below

  /// Finds the children with the given names in one pass, where that is faster than one by one.
  ///
  /// - Parameters:
  ///   - names: The names, in key order, at most 16.
  ///   - table: Receives the child for each name, empty if it is missing.
  /// - Returns: The names that are present, each as the bit of its index; nil if the children are
  ///   not packed, and the table is not filled then.
  /// - Complexity: O(size of the packed children + names), more where few of the children are named
  package func findChildren(
    named names: UnsafeBufferPointer<LeafText>,
    into table: UnsafeMutablePointer<NodeView>
  ) -> UInt16? {
    assert(names.count <= UInt16.bitWidth, "a bit for each name")
    var next = 0
    var present: UInt16 = 0
    switch storage {
    case .node, .map, .replaced: return nil
    case .empty, .leaf: break
    case .children(let source):
      guard let base = source.baseAddress else { break }
      let end = base + source.count
      var entry = base + 1
      // Safety: as for `PackedEntry`.
      while entry < end, next < names.count {
        let length = Int(entry.load(as: UInt8.self))
        let value = entry + 1 + length
        var index = next
        while index < names.count, !names[index].has(length, bytesAt: entry + 1) { index += 1 }
        if index < names.count {
          while next < index {
            table[next] = .empty
            next += 1
          }
          table[index] = NodeView(packedAt: value)
          present |= 1 &<< UInt16(truncatingIfNeeded: index)
          next += 1
        }
        entry = value + PackedValue.length(at: value)
      }
    }
    while next < names.count {
      table[next] = .empty
      next += 1
    }
    return present
  }

  /// The child with the given key, empty if it is missing; `.priority` is not a child.
  ///
  /// - Complexity: O(log children)
  package func child(_ key: ChildKey) -> NodeView {
    switch storage {
    case .empty, .leaf: return .empty
    case .children(let source):
      return PackedEntry.find(key, in: source).map { NodeView($0.value) } ?? .empty
    case .map(let map, _):
      return map._withUnsafeGuaranteedRef { $0.pointer(toValueOf: key) }.map { NodeView($0) }
        ?? .empty
    case .node(let node):
      guard case .children(let children) = node.pointee else { return .empty }
      // A node with a priority is not packed itself, but its children may be.
      if let packed = children.map.packed {
        return PackedEntry.find(key, in: packed.lent).map { NodeView($0.value) } ?? .empty
      }
      return .empty
    case .replaced(let view): return Self.child(key, view)
    }
  }

  /// The node at a path below, empty if there is none; a priority is not found.
  ///
  /// - Complexity: O(depth · log children)
  @inline(__always)
  func descendant(at path: Path) -> NodeView {
    var view = self
    for key in path.keys {
      view = view.child(key)
      if view.isEmpty { return .empty }
    }
    return view
  }

  /// The child with the given key in this node and in another one, such as an older version of it.
  ///
  /// - Complexity: O(log children)
  package func child(_ key: ChildKey, beside other: NodeView) -> (NodeView, NodeView) {
    guard case .map(let map, _) = storage else { return (child(key), other.child(key)) }
    guard case .map(let others, _) = other.storage else {
      return other.replacement(of: key, in: map) ?? (child(key), other.child(key))
    }
    let (mine, its) = map._withUnsafeGuaranteedRef { map in
      others._withUnsafeGuaranteedRef { map.pointers(toValuesOf: key, beside: $0) }
    }
    return (mine.map { NodeView($0) } ?? .empty, its.map { NodeView($0) } ?? .empty)
  }

  /// A child of a map before and after the replacement that this view shows; nil if it is no view
  /// of that map.
  private func replacement(
    of key: ChildKey,
    in map: Unmanaged<SortedMapNode<ChildKey, Node>>
  ) -> (NodeView, NodeView)? {
    guard case .replaced(let view) = storage, case .map(let base, _) = view.pointee.base.storage,
      base.toOpaque() == map.toOpaque()
    else { return nil }
    if key == view.pointee.key.pointee { return (view.pointee.old, view.pointee.new) }
    let child = view.pointee.base.child(key)
    return (child, child)
  }

  /// The child with a key given as text.
  ///
  /// - Complexity: O(log children)
  package func child(_ key: LeafText) -> NodeView {
    switch storage {
    case .empty, .leaf: return .empty
    case .children(let source):
      return PackedEntry.find(UnsafeRawBufferPointer(key.utf8), in: source)
        .map { NodeView($0.value) } ?? .empty
    case .node, .map, .replaced: return child(ChildKey(validUTF8: key.utf8))
    }
  }

  /// Visits the children in key order, each with the child of another node under the same key.
  ///
  /// - Parameters:
  ///   - other: The other node.
  ///   - isWanted: Receives a key, its child, and the other node's child, which may be empty; all
  ///     of them are borrowed for the call. Returns false to end the visit.
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
  /// - Parameter isWanted: Receives a key and its child, both borrowed for the call.
  /// - Complexity: O(visited children)
  package func forEachChild(while isWanted: (_ key: LeafText, _ child: NodeView) -> Bool) {
    switch storage {
    case .empty, .leaf: return
    case .children(let source):
      var cursor = PackedCursor(source)
      while let entry = cursor.next() {
        if !isWanted(LeafText(entry.key), NodeView(entry.value)) { return }
      }
    case .node(let node), .map(_, let node):
      guard case .children(let children) = node.pointee else { return }
      for (key, child) in children.map {
        let goesOn = key.withUTF8 { key in child.withView { isWanted(LeafText(key), $0) } }
        if !goesOn { return }
      }
    case .replaced: node.withView { $0.forEachChild(while: isWanted) }
    }
  }

  // MARK: Replacing

  // Not inlined, so that views of nodes as they are have no overhead for these.

  @inline(never)
  private static func childCount(_ view: UnsafePointer<Replacement>) -> Int {
    view.pointee.base.childCount + (view.pointee.old.isEmpty ? 1 : 0)
  }

  @inline(never)
  private static func owner(_ view: UnsafePointer<Replacement>) -> UnsafePointer<Node>? {
    view.pointee.base.owner
  }

  @inline(never)
  private static func child(_ key: ChildKey, _ view: UnsafePointer<Replacement>) -> NodeView {
    key == view.pointee.key.pointee ? view.pointee.new : view.pointee.base.child(key)
  }

  /// Lends a view of the node with the data at a path replaced; nothing is copied.
  ///
  /// - Parameters:
  ///   - path: The path of the data, below this node and not that of a priority.
  ///   - new: The new data, which must not be empty.
  ///   - body: Receives the view, which must not escape.
  /// - Returns: Whether the closure was called: not if a node above the path is missing or a leaf,
  ///   or has few children and a priority.
  /// - Complexity: O(depth · log children)
  package func withReplacement(
    at path: Path,
    by new: Node,
    _ body: (NodeView) -> Void
  ) -> Bool {
    // Safety: keys, data and replacements stay where they are until the closures return.
    path.keys.withUnsafeBufferPointer { keys in
      withUnsafePointer(to: new) { new in
        withUnsafeTemporaryAllocation(of: Replacement.self, capacity: keys.count) { views in
          guard let keys = keys.baseAddress, let first = views.baseAddress else { return false }
          var node = self
          for depth in 0..<views.count {
            switch node.storage {
            case .map, .children: break
            case .empty, .node, .leaf, .replaced: return false
            }
            let child = node.child(keys[depth])
            let view = Replacement(base: node, key: keys + depth, old: child, new: .empty)
            (first + depth).initialize(to: view)
            node = child
          }
          var replaced = NodeView(new)
          for depth in (0..<views.count).reversed() {
            first[depth].new = replaced
            replaced = NodeView(.replaced(UnsafePointer(first + depth)))
          }
          body(replaced)
          return true
        }
      }
    }
  }
}

extension Node {
  /// Lends a view of the node to a closure, which it must not escape.
  package func withView<Result, Failure: Error>(
    _ body: (NodeView) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafePointer(to: self) { (node) throws(Failure) in try body(NodeView(node)) }
  }
}

extension Node {
  /// The depth of the first leaf above the end of a path, in this node or another one; the length
  /// of the path if there is none.
  ///
  /// - Complexity: O(depth · log children)
  package func leafDepth(above path: Path, or other: Node) -> Int {
    withView { node in
      other.withView { other in
        var (node, other) = (node, other)
        for (depth, key) in path.keys.enumerated() {
          if node.isLeaf || other.isLeaf { return depth }
          // The child at the full path does not matter and is not looked up.
          if depth + 1 < path.count { (node, other) = node.child(key, beside: other) }
        }
        return path.count
      }
    }
  }
}

extension String {
  /// Strings of up to this many bytes may be stored inline, where they have no address to lend.
  private static let mostInlineBytes = 15

  /// The bytes of the string, valid while it is retained; nil if they may be stored inline.
  fileprivate var lent: LeafText? {
    guard utf8.count > Self.mostInlineBytes else { return nil }
    return utf8.withContiguousStorageIfAvailable { LeafText($0) }
  }
}
