import RealtimeCore

/// A location and those below it, with their views in the order in which they were made.
struct SyncPoint: Sendable {
  var views: [View] = []
  private var children = SortedMap<SiblingKey, SyncPoint>()

  /// Whether there are no views here or below.
  var isEmpty: Bool { views.isEmpty && children.isEmpty }

  /// The first view of all data at this location, whatever its order, or nil.
  var completeView: View? { views.indices.first { views[$0].query.loadsAllData }.map { views[$0] } }

  func viewIndex(of query: Query) -> Int? { views.indices.first { views[$0].query == query } }

  /// The server's data at a relative path, or nil if no view here knows it.
  func completeServerNode(at path: Path) -> Node? {
    for index in views.indices {
      if let node = views[index].completeServerNode(at: path) { return node }
    }
    return nil
  }

  /// The location at a relative path, or nil if there are no views at or below it.
  subscript(path: Path) -> SyncPoint? {
    var point = self
    for key in path.keys {
      guard let child = point.children[SiblingKey(key: key)] else { return nil }
      point = child
    }
    return point
  }

  /// Visits the locations from here to a path, including the path itself, until one gives a result.
  func firstResult<Result>(on path: Path, _ body: (SyncPoint, Path) -> Result?) -> Result? {
    var point = self
    for depth in 0...path.count {
      if let result = body(point, Path(path.keys.dropFirst(depth))) { return result }
      guard depth < path.count,
        let child = point.children[SiblingKey(key: path.keys[depth])]
      else { return nil }
      point = child
    }
    return nil
  }

  func forEachChild(_ body: (ChildKey, SyncPoint) -> Void) {
    for (sibling, point) in children { body(sibling.key, point) }
  }

  /// Changes the location at a path; creates it if necessary, and removes it if it ends up empty.
  mutating func modify<Result>(
    _ keys: ArraySlice<ChildKey>,
    with body: (inout SyncPoint) -> Result
  ) -> Result {
    guard let key = keys.first else { return body(&self) }
    let sibling = SiblingKey(key: key)
    let change = children.modify(sibling) { child -> (result: Result, isEmpty: Bool) in
      let result = child.modify(keys.dropFirst(), with: body)
      return (result, child.isEmpty)
    }
    if let change {
      if change.isEmpty { children.removeValue(forKey: sibling) }
      return change.result
    }
    var child = SyncPoint()
    let result = child.modify(keys.dropFirst(), with: body)
    if !child.isEmpty { children.updateValue(child, forKey: sibling) }
    return result
  }

  /// Applies an operation, as seen from here; deeper locations raise their events first.
  ///
  /// `covering` is the complete server data here if a location above has it, or nil.
  mutating func apply(
    _ operation: TreeOperation,
    overlay: Overlay,
    covering: Node?,
    into events: inout [ViewEvent]
  ) {
    var covering = covering ?? completeServerNode(at: .root)
    if case .listenComplete = operation.kind, operation.path.isRoot, covering == nil {
      // What the listen for all data has received by this point is everything.
      covering = completeView?.cache.server.node
    }
    for sibling in reached(by: operation) {
      guard let below = operation.seen(from: sibling.key) else { continue }
      _ = children.modify(sibling) { child in
        child.apply(
          below,
          overlay: overlay[sibling.key],
          covering: covering.map { $0[sibling.key] },
          into: &events
        )
      }
    }
    let update = View.Update(overlay: overlay, covering: covering)
    for index in views.indices { events += views[index].apply(operation, in: update) }
  }

  private func reached(by operation: TreeOperation) -> [SiblingKey] {
    guard !children.isEmpty else { return [] }
    guard let keys = operation.reachedKeys else { return children.map(\.key) }
    return keys.map { SiblingKey(key: $0) }.sorted()
  }
}

/// A key in plain text order, the order in which siblings are visited.
struct SiblingKey: Comparable, Sendable {
  let key: ChildKey

  static func == (left: SiblingKey, right: SiblingKey) -> Bool { left.key == right.key }

  static func < (left: SiblingKey, right: SiblingKey) -> Bool {
    CodeUnits.precedes(left.key.text, right.key.text)
  }
}
