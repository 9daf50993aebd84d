import RealtimeCore

/// The data of one query at one location, and the registrations that follow it.
///
/// It keeps two versions: the server's data (restricted to the query if the server sends no more),
/// and the event data, which is the server's data with visible pending writes applied, restricted
/// to the query. Events describe the changes of the event data.
struct View: Sendable {
  /// What a view needs to know while an operation is applied to it, and what has changed so far.
  struct Update {
    /// The visible pending writes over the view's location, after the operation.
    let overlay: Overlay
    /// The complete server data at this location if a view above has it, or nil.
    let covering: Node?
    var changes = ChangeSet()
  }

  let path: Path
  let query: Query
  let filter: QueryFilter
  var cache: ViewCache
  private(set) var registrations: [Registration] = []

  /// Makes a view from what is known of the server's data, and the visible writes over it.
  ///
  /// That may be all data of the location, or only what the query selects.
  init(
    path: Path,
    query: Query,
    server: Node,
    isComplete: Bool,
    isFiltered: Bool = false,
    overlay: Overlay
  ) {
    self.path = path
    self.query = query
    filter = QueryFilter(query: query)
    let event: Node
    if (isComplete && !isFiltered) || overlay.completeNode != nil {
      event = overlay.applied(to: server)
    } else {
      event = Self.knownChildren(of: server, under: overlay)
    }
    cache = ViewCache(
      server: CacheNode(
        indexed: IndexedNode(server, by: query.index),
        isComplete: isComplete,
        isFiltered: isFiltered
      ),
      event: CacheNode(
        indexed: filter.window(of: event),
        isComplete: isComplete || overlay.completeNode != nil,
        isFiltered: filter.filters
      )
    )
  }

  var isEmpty: Bool { registrations.isEmpty }

  /// The event data, or nil while it is incomplete.
  var completeEventNode: Node? { cache.event.isComplete ? cache.event.node : nil }

  /// The server's data at a relative path, or nil if this view does not know all of it.
  func completeServerNode(at path: Path) -> Node? {
    guard cache.server.isComplete else { return nil }
    let node = cache.server.node
    if query.loadsAllData { return node[path] }
    guard let key = path.first, node.hasChild(key) else { return nil }
    return node[path]
  }

  /// The known children of a node with pending writes applied, and the children that only the
  /// writes add.
  static func knownChildren(of node: Node, under overlay: Overlay) -> Node {
    switch overlay {
    case .node(let whole): return whole.children == nil ? .empty : whole.withPriority(nil)
    case .none, .children:
      var result = node.children == nil ? Node.empty : node.withPriority(nil)
      for key in overlay.touchedKeys {
        let hidden = overlay[key]
        if node.hasChild(key) || hidden.completeNode != nil {
          result.update(at: Path([key]), to: hidden.applied(to: node[key]))
        }
      }
      return result
    }
  }

  /// Applies an operation and returns the events it raises, in order.
  mutating func apply(_ operation: TreeOperation, in update: consuming Update) -> [ViewEvent] {
    let old = cache.event.known
    switch operation.kind {
    case .overwrite(let node):
      if operation.source == .user {
        overwriteByUser(at: operation.path, with: node, in: &update)
      } else {
        let isFiltered =
          operation.source != .server || (cache.server.isFiltered && !operation.path.isRoot)
        overwrite(at: operation.path, with: node, filtered: isFiltered, in: &update)
      }
    case .merge(let overlay):
      if operation.source == .user {
        mergeByUser(at: operation.path, with: overlay.changes, in: &update)
      } else {
        let isFiltered = operation.source != .server || cache.server.isFiltered
        merge(at: operation.path, with: overlay, filtered: isFiltered, in: &update)
      }
    case .acknowledge(let touched):
      acknowledge(at: operation.path, touched: touched, in: &update)
    case .revert: revert(at: operation.path, in: &update)
    case .listenComplete:
      let isOwnListen = operation.source != .server
      complete(at: operation.path, isOwnListen: isOwnListen, in: &update)
    }
    return events(since: old, changes: update.changes)
  }

  mutating func add(_ registration: Registration) -> [ViewEvent] {
    registrations.append(registration)
    return initialEvents(for: registration)
  }

  /// Removes a registration, or all of them if nil; returns the owners of those removed.
  mutating func remove(_ owner: Registration.Owner?) -> [Registration.Owner] {
    guard let owner else {
      let owners = registrations.map(\.owner)
      registrations = []
      return owners
    }
    let count = registrations.count
    registrations.removeAll { $0.owner == owner }
    return registrations.count < count ? [owner] : []
  }

  /// Replaces all event data.
  mutating func show(_ indexed: IndexedNode, in update: inout Update) {
    update.changes.trackDifferences(from: cache.event.node, to: indexed.node)
    cache.event.indexed = indexed
  }

  func source(in update: Update) -> ChildSource {
    ChildSource(
      overlay: update.overlay,
      event: cache.event.known,
      server: cache.server,
      covering: update.covering,
      index: query.index
    )
  }
}
