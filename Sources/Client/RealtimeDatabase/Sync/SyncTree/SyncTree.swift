import RealtimeCore

struct SyncResult: Sendable {
  var events: [ViewEvent] = []
  /// The listens to start and stop, in order.
  var actions: [ListenAction] = []
  var ended: [Registration.Owner] = []
}

/// A client's views of a tree of data, with its pending writes.
///
/// Every operation returns the events it raises and the listens to start and stop, and has no other
/// effect.
struct SyncTree: Sendable {
  private var root = SyncPoint()
  private(set) var writes = WriteTree()
  private var tags: [QuerySpec: Int64] = [:]
  private var tagged: [Int64: QuerySpec] = [:]
  private var lastTag: Int64 = 0

  // MARK: Writes of this client

  /// Adds a pending write, later than all others; a hidden one raises no events.
  mutating func applyUserWrite(_ write: PendingWrite) -> [ViewEvent] {
    writes.add(write)
    guard write.isVisible else { return [] }
    switch write.operation {
    case .set(let node): return apply(.overwrite(node), from: .user, at: write.path)
    case .merge: return apply(.merge(write.overlay), from: .user, at: write.path)
    }
  }

  /// Ends a pending write, which the server accepted or rejected.
  mutating func ackUserWrite(_ id: Int64, isAccepted: Bool) -> [ViewEvent] {
    guard let removal = writes.remove(id), removal.mayChangeViews else { return [] }
    let overlay = removal.write.overlay
    let kind = isAccepted ? TreeOperation.Kind.acknowledge(overlay) : .revert(overlay)
    return apply(kind, from: .user, at: removal.write.path)
  }

  /// Reverts all pending writes at once, so that no intermediate state is shown.
  mutating func removeAllWrites() -> [ViewEvent] {
    guard writes.count > 0 else { return [] }
    writes = WriteTree()
    return apply(.revert(.node(.empty)), from: .user, at: .root)
  }

  // MARK: Data from the server

  /// The server replaced the data at a path or, with a tag, for that query only.
  mutating func applyServerOverwrite(
    at path: Path,
    with node: Node,
    tag: Int64? = nil
  ) -> [ViewEvent] {
    applyPush(.overwrite(node), at: path, tag: tag)
  }

  /// The server replaced the data at several paths below a path.
  mutating func applyServerMerge(
    at path: Path,
    changes: [Change],
    tag: Int64? = nil
  ) -> [ViewEvent] {
    let overlay = Overlay(changes)
    switch overlay {
    case .none: return []
    case .node(let node): return applyPush(.overwrite(node), at: path, tag: tag)
    case .children: return applyPush(.merge(overlay), at: path, tag: tag)
    }
  }

  /// The server replaced ranges of a listen's data.
  mutating func applyServerRanges(_ ranges: [RangeMerge], to target: ListenTarget) -> [ViewEvent] {
    var node = serverNode(of: target)
    for range in ranges { node = range.applied(to: node) }
    return applyServerOverwrite(at: target.path, with: node, tag: target.tag)
  }

  /// The listen that a push at a path belongs to, or nil if it has ended.
  func target(at path: Path, tag: Int64?) -> ListenTarget? {
    guard let tag else { return ListenTarget(path: path, query: .all, tag: nil) }
    guard let spec = tagged[tag], spec.path == path else { return nil }
    return ListenTarget(path: path, query: spec.query, tag: tag)
  }

  /// The listen that pushes with a tag belong to, or nil if it has ended.
  func target(of tag: Int64) -> ListenTarget? { tagged[tag].map { target($0) } }

  /// The server has sent all data of a listen.
  ///
  /// - Parameters:
  ///   - path: The location.
  ///   - tag: The tag of the listen, or nil for the default one.
  ///   - confirmed: The data that the listen was sent with, if the server has sent none since.
  /// - Returns: The events.
  mutating func applyListenComplete(
    at path: Path,
    tag: Int64? = nil,
    confirming confirmed: Node? = nil
  ) -> [ViewEvent] {
    // What else is here came late, for a listen that had ended already.
    if let confirmed, let target = target(at: path, tag: tag), serverNode(of: target) != confirmed {
      return applyPush(.overwrite(confirmed), at: path, tag: tag)
    }
    // Data that no push has brought does not exist, even if an observer below knew it before.
    if tag == nil, let view = root[path]?.completeView, !view.cache.server.isComplete {
      return applyPush(.overwrite(view.cache.server.node), at: path, tag: nil)
    }
    return applyPush(.listenComplete, at: path, tag: tag)
  }

  /// The server sent data of a query without a listen; a view that is incomplete takes it.
  mutating func applyServerOverwrite(of spec: QuerySpec, with node: Node) -> [ViewEvent] {
    guard let point = root[spec.path], let index = point.viewIndex(of: spec.query),
      point.views[index].completeEventNode == nil
    else { return [] }
    return apply(.overwrite(node), from: .query(spec.query), at: spec.path, of: spec)
  }

  private mutating func applyPush(
    _ kind: TreeOperation.Kind,
    at path: Path,
    tag: Int64?
  ) -> [ViewEvent] {
    guard let tag else { return apply(kind, from: .server, at: path) }
    // A late push, for a listen since replaced by one of all data, would narrow the known data.
    guard let spec = tagged[tag], spec.path.contains(path), !hasAllData(at: spec.path) else {
      return []
    }
    return apply(kind, from: .query(spec.query), at: path, of: spec)
  }

  private mutating func apply(
    _ kind: TreeOperation.Kind,
    from source: TreeOperation.Source,
    at path: Path
  ) -> [ViewEvent] {
    var events: [ViewEvent] = []
    let operation = TreeOperation(source: source, path: path, kind: kind)
    root.apply(operation, overlay: writes.overlay, covering: nil, into: &events)
    return events
  }

  private mutating func apply(
    _ kind: TreeOperation.Kind,
    from source: TreeOperation.Source,
    at path: Path,
    of spec: QuerySpec
  ) -> [ViewEvent] {
    guard let relative = path.relative(to: spec.path) else { return [] }
    let operation = TreeOperation(source: source, path: relative, kind: kind)
    let update = View.Update(overlay: writes.overlay[spec.path], covering: nil)
    return root.modify(spec.path.keys[...]) { point in
      guard let index = point.viewIndex(of: spec.query) else { return [] }
      return point.views[index].apply(operation, in: update)
    }
  }

  // MARK: Reading

  /// The data that an observer of a query would see, or nil while it is incomplete.
  func cachedValue(at path: Path, query: Query) -> Node? {
    if let point = root[path], let index = point.viewIndex(of: query) {
      return point.views[index].completeEventNode
    }
    let overlay = writes.overlay[path]
    if let node = overlay.completeNode { return query.evaluate(node) }
    guard let server = completeServerNode(at: path) else { return nil }
    return query.evaluate(overlay.applied(to: server))
  }

  /// The data at a path with all pending writes but those excluded, even hidden ones.
  ///
  /// Older server data is used if no view has any; without it, the data is empty where unknown.
  func latest(
    at path: Path,
    excluding excluded: Set<Int64> = [],
    stored: Node? = nil
  ) -> Node {
    writes.latest(
      at: path,
      server: completeServerNode(at: path) ?? stored ?? .empty,
      excluding: excluded
    )
  }

  /// The data that an observer of a query would see over server data that no view has.
  func value(of spec: QuerySpec, over stored: Node) -> Node {
    let overlay = writes.overlay[spec.path]
    if spec.query.loadsAllData || overlay.completeNode != nil {
      return spec.query.evaluate(overlay.applied(to: stored))
    }
    return spec.query.evaluate(View.knownChildren(of: stored, under: overlay))
  }

  /// The server data that a listen already has.
  func serverNode(of target: ListenTarget) -> Node {
    guard let point = root[target.path] else { return .empty }
    if target.tag == nil { return point.completeView?.cache.server.node ?? .empty }
    return point.viewIndex(of: target.query).map { point.views[$0].cache.server.node } ?? .empty
  }

  /// The listen that keeps a query up to date, or nil if there is none.
  func covering(_ spec: QuerySpec) -> ListenTarget? {
    let above = root.firstResult(on: spec.path) { point, rest -> Path? in
      point.completeView == nil ? nil : Path(spec.path.keys.dropLast(rest.count))
    }
    if let above { return ListenTarget(path: above, query: .all, tag: nil) }
    return tags[spec] == nil ? nil : target(spec)
  }

  /// Whether visible pending writes affect the result of a query, or one child of it.
  func hasPendingWrites(_ spec: QuerySpec, child key: ChildKey?, in node: Node) -> Bool {
    let overlay = writes.overlay[spec.path]
    if let key { return !overlay[key].isTransparent }
    if overlay.isTransparent || overlay.completeNode != nil || spec.query.loadsAllData {
      return !overlay.isTransparent
    }
    let server = serverNode(of: target(spec))
    return overlay.touchedKeys.contains { node.hasChild($0) || server.hasChild($0) }
  }

  private func hasAllData(at path: Path) -> Bool {
    let view = root.firstResult(on: path) { point, _ -> View? in
      guard let view = point.completeView, view.cache.server.isComplete else { return nil }
      return view
    }
    return view != nil
  }

  private func completeServerNode(at path: Path) -> Node? {
    root.firstResult(on: path) { $0.completeServerNode(at: $1) }
  }

  /// Whether a new registration finds neither a view of its query nor a view above with the data.
  ///
  /// A view above that still waits for its data does not count, because a store may know more.
  func isUnknown(at path: Path, query: Query) -> Bool {
    root[path]?.viewIndex(of: query) == nil && completeServerNode(at: path) == nil
  }

  // MARK: Registrations

  /// Adds a registration, with a view and a listen for it if there are none yet.
  ///
  /// A new view that has no data gets older server data from a store: all that the query selects or,
  /// if that is not stored, some complete children of the location.
  mutating func add(
    _ registration: Registration,
    at path: Path,
    query: Query,
    stored: Node? = nil,
    storedChildren: Node = .empty
  ) -> SyncResult {
    var result = SyncResult()
    let isCovered = root.firstResult(on: path) { point, _ in point.completeView } != nil
    let overlay = writes.overlay[path]
    if let index = root[path]?.viewIndex(of: query) {
      result.events = root.modify(path.keys[...]) { $0.views[index].add(registration) }
      return result
    }
    let spec = QuerySpec(path: path, query: query)
    if !query.loadsAllData {
      lastTag += 1
      tags[spec] = lastTag
      tagged[lastTag] = spec
    }
    let known = completeServerNode(at: path) ?? stored
    var view = View(
      path: path,
      query: query,
      server: known ?? knownChildren(at: path, over: storedChildren),
      isComplete: known != nil,
      isFiltered: stored != nil && !query.loadsAllData,
      overlay: overlay
    )
    result.events = view.add(registration)
    root.modify(path.keys[...]) { $0.views.append(view) }
    if !isCovered {
      result.actions.append(.start(target(spec)))
      if query.loadsAllData { result.actions += superseded(at: path).map { .stop($0) } }
    }
    return result
  }

  /// The children of a location that views below it know completely, over those from a store.
  private func knownChildren(at path: Path, over stored: Node) -> Node {
    var node = stored
    root[path]?.forEachChild { key, child in
      if let known = child.completeServerNode(at: .root) {
        node.update(at: Path([key]), to: known)
      }
    }
    return node
  }

  /// Removes all registrations that depend on a listen that the server rejected.
  mutating func cancel(_ target: ListenTarget) -> SyncResult {
    remove(nil, at: target.path, query: target.query, isCancelled: true)
  }

  /// Removes a registration or, if nil, all of a query; with the default query, of the location.
  mutating func remove(
    _ owner: Registration.Owner?,
    at path: Path,
    query: Query,
    isCancelled: Bool = false
  ) -> SyncResult {
    var result = SyncResult()
    guard let hadCompleteView = root[path].map({ $0.completeView != nil }) else { return result }
    var removed: [Query] = []
    root.modify(path.keys[...]) { point in
      for index in point.views.indices.reversed() {
        guard query.isDefault || point.views[index].query == query else { continue }
        result.ended = point.views[index].remove(owner) + result.ended
        if point.views[index].isEmpty { removed.insert(point.views.remove(at: index).query, at: 0) }
      }
    }
    let isUncovered = hadCompleteView && root[path]?.completeView == nil
    let isCovered = root.firstResult(on: path) { point, _ in point.completeView } != nil
    if isUncovered, !isCovered { result.actions += uncovered(at: path).map { .start($0) } }
    if !isCovered, !isCancelled {
      if isUncovered {
        result.actions.append(.stop(ListenTarget(path: path, query: .all, tag: nil)))
      } else {
        for gone in removed where !gone.loadsAllData {
          result.actions.append(.stop(target(QuerySpec(path: path, query: gone))))
        }
      }
    }
    for gone in removed {
      if let tag = tags.removeValue(forKey: QuerySpec(path: path, query: gone)) {
        tagged[tag] = nil
      }
    }
    return result
  }

  private func target(_ spec: QuerySpec) -> ListenTarget {
    ListenTarget(
      path: spec.path,
      query: spec.query.loadsAllData ? .all : spec.query,
      tag: tags[spec]
    )
  }

  /// The listens that a new one for all data of a location makes redundant.
  private func superseded(at path: Path) -> [ListenTarget] {
    var result: [ListenTarget] = []
    guard let point = root[path] else { return result }
    for view in point.views where !view.query.loadsAllData {
      result.append(target(QuerySpec(path: path, query: view.query)))
    }
    point.forEachChild { key, child in collect(child, at: path.appending(key), into: &result) }
    return result
  }

  /// The listens that are needed at and below a location without a listen for all of it.
  private func uncovered(at path: Path) -> [ListenTarget] {
    var result: [ListenTarget] = []
    if let point = root[path] { collect(point, at: path, into: &result) }
    return result
  }

  private func collect(_ point: SyncPoint, at path: Path, into result: inout [ListenTarget]) {
    if point.completeView != nil {
      result.append(ListenTarget(path: path, query: .all, tag: nil))
      return
    }
    for view in point.views { result.append(target(QuerySpec(path: path, query: view.query))) }
    point.forEachChild { key, child in collect(child, at: path.appending(key), into: &result) }
  }
}
