import RealtimeCore

/// Builds a tree of its rows, each node once and from its children.
struct TreeAssembler: RowVisitor {
  private struct Level {
    let key: ChildKey
    var priority: LeafValue?
    var entries: [(key: ChildKey, value: Node)] = []
    var isAscending = true

    mutating func append(_ key: ChildKey, _ node: Node) {
      if let last = entries.last, !(last.key < key) { isAscending = false }
      entries.append((key, node))
    }

    /// The rows are in the order of their bytes, which is that of the keys unless these are numbers.
    consuming func node() -> Node {
      Node(
        sortedChildren: isAscending ? entries : entries.sorted { $0.key < $1.key },
        priority: priority
      )
    }
  }

  private var levels = [Level(key: ChildKey(""))]
  /// The whole tree, when it is one row.
  private var packedRoot: Node?

  mutating func open(_ key: ChildKey) {
    levels.append(Level(key: key))
  }

  mutating func add(_ node: Node, as key: ChildKey?) {
    if let key { levels[levels.count - 1].append(key, node) } else { packedRoot = node }
  }

  mutating func setPriority(_ priority: LeafValue) {
    levels[levels.count - 1].priority = priority
  }

  mutating func close() {
    let level = levels.removeLast()
    let key = level.key
    let node = level.node()
    if !node.isEmpty { levels[levels.count - 1].append(key, node) }
  }

  /// The tree of everything that was added and closed.
  consuming func tree() -> Node {
    packedRoot ?? levels.removeLast().node()
  }
}
