import RealtimeCore

extension View {
  mutating func overwrite(at path: Path, with node: Node, filtered: Bool, in update: inout Update) {
    let old = cache.server.known
    let serverFilter = filtered ? filter : filter.unfiltered
    if path.isRoot {
      cache.server.indexed = serverFilter.window(of: node)
    } else if serverFilter.filters, !old.isFiltered {
      cache.server.indexed = serverFilter.window(of: old.node.setting(path, to: node))
    } else if let key = path.first {
      // Data deep inside an unknown child belongs to another listen.
      if path.count > 1, !old.isComplete(for: path) || key == .priority { return }
      if key == .priority {
        if !serverFilter.filters { cache.server.indexed.setPriority(node.leafValue) }
      } else {
        var ignored = ChangeSet()
        serverFilter.set(
          key,
          to: old.node[key].setting(path.rest, to: node),
          affected: path.rest,
          in: &cache.server.indexed,
          source: nil,
          changes: &ignored
        )
      }
    }
    cache.server.isComplete = old.isComplete || path.isRoot
    cache.server.isFiltered = serverFilter.filters
    let location = affectedPath(on: path, since: old.node)
    refreshEvent(at: location, source: source(in: update), in: &update)
  }

  /// The path at which the event data may differ after the server's data changed at a path.
  ///
  /// It lies above the given path if a leaf was on the way, which pending writes may have hidden,
  /// or if a node on the way has become empty: its priority is then gone as well, although pending
  /// writes still show.
  private func affectedPath(on path: Path, since old: Node) -> Path {
    var before = old
    var after = cache.server.node
    for depth in 0..<path.count where !before.isEmpty {
      // For the view's own location becoming empty, the end of the refresh takes care of that.
      let hasGone = depth > 0 && after.isEmpty
      if hasGone || before.leafValue != nil { return Path(path.keys.prefix(depth)) }
      before = before[path.keys[depth]]
      after = after[path.keys[depth]]
    }
    return path
  }

  mutating func merge(
    at path: Path,
    with overlay: Overlay,
    filtered: Bool,
    in update: inout Update
  ) {
    // Without any data here, the merge was meant for a listen that has ended.
    if cache.server.node.isEmpty, !cache.server.isComplete { return }
    var rooted = Overlay.none
    for change in overlay.changes { rooted.set(path.appending(change.path), to: change.node) }
    guard case .children(let children) = rooted else {
      if let node = rooted.completeNode {
        overwrite(at: .root, with: node, filtered: filtered, in: &update)
      }
      return
    }
    if query.loadsAllData {
      return merge(children, filtered: filtered, in: &update)
    }
    let known = cache.server.known
    // Present children go first: with a limit, removals make room for new ones.
    for isPresent in [true, false] {
      for (key, below) in children where known.node.hasChild(key) == isPresent {
        if !isPresent, below.completeNode == nil, !known.isComplete(for: key) { continue }
        let child = below.applied(to: known.node[key])
        overwrite(at: Path([key]), with: child, filtered: filtered, in: &update)
      }
    }
  }

  /// Merges piece by piece, so that the cost depends on the pieces and not on the children.
  ///
  /// Additions go first, so that the location is never empty in between and keeps its priority.
  private mutating func merge(
    _ children: SortedMap<ChildKey, Overlay>,
    filtered: Bool,
    in update: inout Update
  ) {
    let pieces = Overlay.children(children).changes
    for isRemoval in [false, true] {
      for piece in pieces where piece.node.isEmpty == isRemoval {
        overwrite(at: piece.path, with: piece.node, filtered: filtered, in: &update)
      }
    }
  }

  /// The server has sent all data that the listen at or above this view requests.
  mutating func complete(at path: Path, isOwnListen: Bool, in update: inout Update) {
    if path.isRoot {
      if isOwnListen, !cache.server.isComplete, filter.filters {
        // Nothing was sent because the known selection was right; the rest remains unknown.
        cache.server.indexed = filter.window(of: cache.server.node)
        cache.server.isFiltered = true
      } else if !isOwnListen, let covering = update.covering,
        !cache.server.isComplete || cache.server.isFiltered || cache.server.node != covering
      {
        cache.server.indexed = IndexedNode(covering, by: query.index)
        cache.server.isFiltered = false
      }
      cache.server.isComplete = true
    }
    refreshEvent(at: path, source: nil, in: &update)
  }

  /// Updates the event data where the server's data may have changed.
  private mutating func refreshEvent(at path: Path, source: ChildSource?, in update: inout Update) {
    if update.overlay[path].completeNode != nil { return }
    let isComplete = cache.event.isComplete || path.isRoot
    guard let key = path.first else {
      show(wholeEvent(under: update.overlay), in: &update)
      cache.event.isComplete = isComplete
      return
    }
    if key == .priority {
      if !filter.filters {
        let priority = update.overlay[path].applied(to: cache.server.node[path]).leafValue
        cache.event.indexed.setPriority(priority)
      }
    } else if let child = eventChild(key, at: path, under: update.overlay) {
      filter.set(
        key,
        to: child,
        affected: path.rest,
        in: &cache.event.indexed,
        source: source,
        changes: &update.changes
      )
      alignPriority(under: update.overlay)
    }
    cache.event.isComplete = isComplete
  }

  /// Restores the priority of a location that was empty in between, which events never saw.
  private mutating func alignPriority(under overlay: Overlay) {
    guard !filter.filters, cache.server.isComplete, overlay.completeNode == nil else { return }
    let hidden = overlay[.priority].completeNode
    let priority = hidden.map(\.leafValue) ?? cache.server.node.priority
    if cache.event.node.priority != priority { cache.event.indexed.setPriority(priority) }
  }

  private func wholeEvent(under overlay: Overlay) -> IndexedNode {
    if cache.server.isFiltered {
      return filter.window(of: Self.knownChildren(of: cache.server.node, under: overlay))
    }
    if overlay.isTransparent, !filter.filters { return cache.server.indexed }
    return filter.window(of: overlay.applied(to: cache.server.node))
  }

  /// The child that events see after the server changed a path in it, or nil if it is not known.
  private func eventChild(_ key: ChildKey, at path: Path, under overlay: Overlay) -> Node? {
    if cache.event.isComplete(for: key) {
      let update = overlay[path].applied(to: cache.server.node[path])
      return cache.event.node[key].setting(path.rest, to: update)
    }
    return completeChild(key, under: overlay)
  }

  /// The server's child with pending writes applied, or nil if it is not known.
  func completeChild(_ key: ChildKey, under overlay: Overlay) -> Node? {
    let hidden = overlay[key]
    if let node = hidden.completeNode { return node }
    return cache.server.isComplete(for: key) ? hidden.applied(to: cache.server.node[key]) : nil
  }
}
