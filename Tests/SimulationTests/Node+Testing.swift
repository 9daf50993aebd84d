import RealtimeCore

extension Node {
  /// The node at a path written as text.
  subscript(at path: String) -> Node { self[Path(wire: path)] }

  /// This node with other data at a path written as text.
  func with(_ path: String, _ node: Node) -> Node { setting(Path(wire: path), to: node) }

  /// The unique texts that are leaves of this node.
  var uniqueTexts: [String] {
    switch self {
    case .empty: return []
    case .leaf(.string(let text), _): return text.first == "w" ? [text] : []
    case .leaf: return []
    case .children(let children): return children.map.flatMap { $0.value.uniqueTexts }
    }
  }
}
