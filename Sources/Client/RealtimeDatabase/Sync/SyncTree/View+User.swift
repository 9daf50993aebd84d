import RealtimeCore

extension View {
  mutating func overwriteByUser(at path: Path, with node: Node, in update: inout Update) {
    guard let key = path.first else {
      show(filter.window(of: node), in: &update)
      cache.event.isComplete = true
      return
    }
    if key == .priority {
      if !filter.filters { cache.event.indexed.setPriority(node.leafValue) }
      return
    }
    let source = source(in: update)
    var child = Node.empty
    if path.count == 1 {
      child = node
    } else if let present = source.completeChild(key) {
      child = present
      let isPriorityOfNothing =
        path.isPriority && path.rest.parent.map { present[$0].isEmpty } == true
      if !isPriorityOfNothing { child.update(at: path.rest, to: node) }
    }
    // If the child was not shown, all of it may be new.
    let affected = cache.event.isComplete(for: key) ? path.rest : .root
    filter.set(
      key,
      to: child,
      affected: affected,
      in: &cache.event.indexed,
      source: source,
      changes: &update.changes
    )
  }

  mutating func mergeByUser(at path: Path, with merged: [Change], in update: inout Update) {
    let parts = merged.map { Change(path.appending($0.path), to: $0.node) }
    let old = cache.event.known
    func isShown(_ change: Change) -> Bool {
      change.path.first.map { old.isComplete(for: $0) } ?? false
    }
    for change in parts where isShown(change) {
      overwriteByUser(at: change.path, with: change.node, in: &update)
    }
    for change in parts where !isShown(change) {
      overwriteByUser(at: change.path, with: change.node, in: &update)
    }
  }

  /// The server accepted a write: the server's own data counts again at the written paths.
  mutating func acknowledge(at path: Path, touched: Overlay, in update: inout Update) {
    if update.overlay[path].completeNode != nil { return }
    let server = cache.server.known
    if touched.completeNode == nil {
      let known = touched.changes.compactMap { change -> Change? in
        let location = path.appending(change.path)
        return server.isComplete(for: location)
          ? Change(change.path, to: server.node[location]) : nil
      }
      merge(at: path, with: Overlay(known), filtered: server.isFiltered, in: &update)
      if server.isComplete, server.isFiltered {
        for change in touched.changes {
          dropUnknown(path.appending(change.path), in: &update)
        }
      }
    } else if path.isRoot ? server.isComplete : server.isComplete(for: path) {
      overwrite(at: path, with: server.node[path], filtered: server.isFiltered, in: &update)
    } else if path.isRoot, let children = server.node.children {
      let known = children.map.map { Change(Path([$0.key]), to: $0.value) }
      merge(at: path, with: Overlay(known), filtered: server.isFiltered, in: &update)
    } else if server.isComplete, server.isFiltered {
      dropUnknown(path, in: &update)
    }
  }

  /// Hides a child that the server does not select, once the write that showed it is accepted.
  private mutating func dropUnknown(_ path: Path, in update: inout Update) {
    guard let key = path.first, key != .priority, !cache.server.node.hasChild(key),
      update.overlay[key].isTransparent
    else { return }
    revertChild(key, at: path, in: &update)
  }

  /// The server rejected a write: the path returns to its state without the write.
  mutating func revert(at path: Path, in update: inout Update) {
    if update.overlay[path].completeNode != nil { return }
    let server = cache.server.known
    if let key = path.first, key != .priority {
      revertChild(key, at: path, in: &update)
      if cache.event.node.isEmpty, server.isComplete {
        // The last written child is gone, and the server has a leaf at this location.
        let whole = update.overlay.applied(to: server.node)
        if whole.leafValue != nil { cache.event.indexed = filter.window(of: whole) }
      }
    } else {
      let whole: Node
      if server.isComplete {
        whole = update.overlay.applied(to: server.node)
      } else {
        whole = Self.knownChildren(of: server.node, under: update.overlay)
      }
      show(filter.window(of: whole), in: &update)
    }
    cache.event.isComplete = server.isComplete || update.overlay.completeNode != nil
  }

  private mutating func revertChild(_ key: ChildKey, at path: Path, in update: inout Update) {
    let known = completeChild(key, under: update.overlay)
    guard known != nil || cache.event.node.hasChild(key) else { return }
    let source = source(in: update)
    filter.set(
      key,
      to: known ?? .empty,
      affected: known == nil ? .root : path.rest,
      in: &cache.event.indexed,
      source: source,
      changes: &update.changes
    )
  }
}
