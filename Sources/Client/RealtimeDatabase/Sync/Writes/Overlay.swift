import RealtimeCore

/// Data laid over other data: at each path nothing, a whole node, or something further down.
enum Overlay: Sendable {
  /// Nothing, neither here nor below.
  case none
  /// This node, which replaces the data underneath.
  case node(Node)
  /// Something at or below at least one child; the data underneath shows through elsewhere.
  case children(SortedMap<ChildKey, Overlay>)

  /// Makes an overlay from the changes of a write, with paths relative to it.
  init(_ changes: [Change]) {
    self = .none
    for change in changes { set(change.path, to: change.node) }
  }

  /// Whether everything shows through.
  var isTransparent: Bool {
    if case .none = self { true } else { false }
  }

  /// The node that hides all data underneath, or nil if some of it shows through.
  var completeNode: Node? {
    if case .node(let node) = self { node } else { nil }
  }

  /// The keys of the children that are overlaid at least in part, except the priority's.
  var touchedKeys: [ChildKey] {
    guard case .children(let children) = self else { return [] }
    return children.map(\.key).filter { $0 != .priority }
  }

  subscript(key: ChildKey) -> Overlay {
    switch self {
    case .none: .none
    case .node(let node): .node(node[key])
    case .children(let children): children[key] ?? .none
    }
  }

  subscript(path: Path) -> Overlay {
    var overlay = self
    for key in path.keys {
      if overlay.isTransparent { break }
      overlay = overlay[key]
    }
    return overlay
  }

  /// The data as seen through the overlay; a priority counts only where there is data.
  ///
  /// - Complexity: O(paths touched · log children)
  func applied(to node: Node) -> Node {
    switch self {
    case .none: return node
    case .node(let node): return node
    case .children(let children):
      var result = node
      var removed: [ChildKey] = []
      for (key, overlay) in children where key != .priority {
        let child = overlay.applied(to: node[key])
        if child.isEmpty { removed.append(key) } else { result.update(at: Path([key]), to: child) }
      }
      // Removals come last, so that the node is not empty in between and keeps its priority.
      for key in removed { result.update(at: Path([key]), to: .empty) }
      if let priority = children[.priority]?.completeNode {
        result = result.withPriority(priority.leafValue)
      }
      return result
    }
  }

  /// Lays a node over a path, replacing what was there.
  mutating func set(_ path: Path, to node: Node) {
    set(path.keys[...], to: node)
  }

  private mutating func set(_ keys: ArraySlice<ChildKey>, to node: Node) {
    guard let key = keys.first else {
      self = .node(node)
      return
    }
    switch self {
    case .none:
      var children = SortedMap<ChildKey, Overlay>()
      children.updateValue(Overlay(at: keys.dropFirst(), node: node), forKey: key)
      self = .children(children)
    case .node(var whole):
      self = .none
      whole.update(at: Path(keys), to: node)
      self = .node(whole)
    case .children(var children):
      self = .none
      let found: Void? = children.modify(key) { $0.set(keys.dropFirst(), to: node) }
      if found == nil {
        children.updateValue(Overlay(at: keys.dropFirst(), node: node), forKey: key)
      }
      self = .children(children)
    }
  }

  private init(at keys: ArraySlice<ChildKey>, node: Node) {
    self = .none
    set(keys, to: node)
  }

  /// Removes the overlay at and below a path.
  ///
  /// A whole node above the path is split into its children, so that the rest remains.
  mutating func clear(_ path: Path) {
    clear(path.keys[...])
  }

  private mutating func clear(_ keys: ArraySlice<ChildKey>) {
    guard let key = keys.first else {
      self = .none
      return
    }
    switch self {
    case .none: return
    case .node(let node):
      guard let children = node.children else { return }
      var map = SortedMap<ChildKey, Overlay>()
      for (key, child) in children.map { map.updateValue(.node(child), forKey: key) }
      if let priority = node.priority { map.updateValue(.node(.leaf(priority)), forKey: .priority) }
      self = .children(map)
      clear(keys)
    case .children(var children):
      self = .none
      let isEmpty = children.modify(key) { child -> Bool in
        child.clear(keys.dropFirst())
        return child.isTransparent
      }
      if isEmpty == true { children.removeValue(forKey: key) }
      if !children.isEmpty { self = .children(children) }
    }
  }

  /// All paths with a node laid over them, with a priority after the other children of its node.
  var changes: [Change] {
    var result: [Change] = []
    collect(at: .root, into: &result)
    return result
  }

  private func collect(at path: Path, into result: inout [Change]) {
    switch self {
    case .none: return
    case .node(let node): result.append(Change(path, to: node))
    case .children(let children):
      for (key, overlay) in children where key != .priority {
        overlay.collect(at: path.appending(key), into: &result)
      }
      children[.priority]?.collect(at: path.appending(.priority), into: &result)
    }
  }
}
