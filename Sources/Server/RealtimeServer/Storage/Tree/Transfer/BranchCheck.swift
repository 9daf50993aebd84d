package import RealtimeCore

/// Finds priorities of nodes that have no data.
package struct BranchCheck: RowVisitor {
  package private(set) var hasBarePriority = false
  private var levels: [(hasPriority: Bool, hasData: Bool)] = [(false, false)]

  package init() {}

  package mutating func open(_ key: ChildKey) { levels.append((false, false)) }

  package mutating func add(_ node: Node, as key: ChildKey?) {
    levels[levels.count - 1].hasData = true
  }

  package mutating func setPriority(_ priority: LeafValue) {
    levels[levels.count - 1].hasPriority = true
  }

  package mutating func close() {
    let level = levels.removeLast()
    if level.hasPriority, !level.hasData { hasBarePriority = true }
    if level.hasData { levels[levels.count - 1].hasData = true }
  }
}
