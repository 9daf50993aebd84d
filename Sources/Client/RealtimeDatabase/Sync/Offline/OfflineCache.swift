import RealtimeCore

/// Tracks which server data a store has, and collects the changes that keep it up to date.
///
/// Every listen has an entry. While the listen is active, the entry starts out behind: the store
/// has nothing, or older data that stays unchanged. Once the listen is complete, the entry is
/// level: the store has exactly the view's data, and every change is passed on. When the listen
/// ends, the entry keeps its current data until it is pruned.
///
/// A location and its parts may each have an entry, and either may be shown: new data for one entry
/// also updates the others that no listen follows. An entry above takes no less than a whole child
/// of its location, though. The rest of a child may have changed in the same write, and would then
/// stand beside the new part as it was before: a star count beside other stars.
struct OfflineCache: Sendable {
  /// The listen that an entry follows.
  private struct Follower: Sendable {
    let target: ListenTarget
    var isLevel = false
    /// The stored data of a query with a selection, because one change may push other children out.
    var window = Node.empty
  }

  private var entries: [Int64: TrackedQuery] = [:]
  private var ids: [QuerySpec: Int64] = [:]
  private var entryPaths = PathIndex()
  private var followers: [Int64: Follower] = [:]
  private var followed = PathIndex()
  /// Entries that the previous process kept synced; not pruned until this one could do the same.
  private var pinned: Set<Int64> = []
  /// The lowest and the highest key of what an entry with a selection has; nil if not known.
  private var extents: [Int64: ClosedRange<ChildKey>] = [:]
  private var lastID: Int64 = 0
  private var changes: [OfflineChange] = []
  private let read: @Sendable (Int64) -> Node?

  init(_ queries: [TrackedQuery], read: @escaping @Sendable (Int64) -> Node?) {
    self.read = read
    for query in queries {
      lastID = max(lastID, query.id)
      guard query.isComplete else {
        changes.append(.forget(query: query.id))
        continue
      }
      insert(query)
      guard query.isKept else { continue }
      pinned.insert(query.id)
      entries[query.id]?.isKept = false
      note(query.id)
    }
  }

  /// The entries that no listen follows and that are not pinned, least recently used first.
  private var prunable: [TrackedQuery] {
    entries.values.filter { followers[$0.id] == nil && !pinned.contains($0.id) }
      .sorted { ($0.lastUse, $0.id) < ($1.lastUse, $1.id) }
  }

  /// Removes and returns the changes for the store since the last call.
  mutating func takeChanges() -> [OfflineChange] {
    defer { changes = [] }
    return changes
  }

  /// Adds a change that does not concern the cache, in its order.
  mutating func append(_ change: OfflineChange) {
    changes.append(change)
  }

  // MARK: Reading

  /// The stored data of a query: from its own entry, or from an entry of all data at or above it.
  ///
  /// - Returns: The data, and whether it is exactly what the query's own entry has; nil if there is
  ///   none.
  /// - Complexity: O(size of the entry), depending on the store
  mutating func load(_ spec: QuerySpec, now: Int64) -> (node: Node, isExact: Bool)? {
    let own = spec.normalized
    if let node = readEntry(own, now: now) {
      let current = own.query.loadsAllData ? node : renewed(node, at: own.path)
      let selected = spec.query.evaluate(current)
      return (selected, selected == node)
    }
    for prefix in spec.path.prefixes.reversed() {
      let above = QuerySpec(path: prefix, query: .all)
      guard above != own, let node = readEntry(above, now: now) else { continue }
      return (spec.query.evaluate(node[Path(spec.path.keys.dropFirst(prefix.count))]), false)
    }
    return nil
  }

  /// The stored data of a selection, with its children as their own entries have them.
  private mutating func renewed(_ selection: Node, at path: Path) -> Node {
    var result = selection
    for id in entryPaths.below(path) {
      guard let entry = entries[id], entry.isComplete, entry.query.loadsAllData,
        entry.path.parent == path, let key = entry.path.last, selection.hasChild(key)
      else { continue }
      if let node = read(id) { result.update(at: Path([key]), to: node) } else { forget(id) }
    }
    return result
  }

  /// The children of a location that are stored completely, even if not all children are.
  ///
  /// They come from queries at the location, and from listens and writes of single children.
  /// Entries that are known to have nothing that the query can select are not read.
  ///
  /// - Returns: The children; if there are several versions of a child, the most recently used one.
  /// - Complexity: O(entries at and below the location + size of those read), depending on the store
  mutating func children(for spec: QuerySpec) -> Node {
    let path = spec.path
    let here = entryPaths.overlapping(path).compactMap { entries[$0] }.filter { entry in
      guard entry.isComplete else { return false }
      return entry.query.loadsAllData
        ? entry.path.parent == path && !entry.path.isPriority
        : entry.path == path && mayReach(entry.id, by: spec.query)
    }
    var result = Node.empty
    for entry in here.sorted(by: { ($0.lastUse, $0.id) < ($1.lastUse, $1.id) }) {
      guard let node = read(entry.id) else {
        forget(entry.id)
        continue
      }
      if let key = entry.path.relative(to: path)?.first {
        result.update(at: Path([key]), to: node)
      } else {
        extents[entry.id] = Self.extent(of: node)
        var children: [(key: ChildKey, value: Node)] = []
        result.forEachChild(beside: renewed(node, at: path)) { key, older, newer in
          children.append((key, newer.isEmpty ? older : newer))
        }
        result = Node(sortedChildren: children)
      }
    }
    return result
  }

  /// Whether a query may select children that an entry of the same location has.
  private func mayReach(_ id: Int64, by query: Query) -> Bool {
    guard query.index == .key, let extent = extents[id] else { return true }
    let (first, last) = (extent.lowerBound, extent.upperBound)
    return !query.isAfterEnd(query.index.entry(for: first, node: .empty))
      && !query.isBeforeStart(query.index.entry(for: last, node: .empty))
  }

  private static func extent(of node: Node) -> ClosedRange<ChildKey>? {
    guard let map = node.children?.map, let first = map.first?.key, let last = map.last?.key
    else { return nil }
    return first...last
  }

  private mutating func readEntry(_ spec: QuerySpec, now: Int64) -> Node? {
    guard let id = ids[spec], entries[id]?.isComplete == true else { return nil }
    guard let node = read(id) else {
      forget(id)
      return nil
    }
    entries[id]?.lastUse = now
    note(id)
    return node
  }

  // MARK: Listens

  /// A listen starts, with `loaded` data if that is exactly what the store has.
  mutating func begin(_ target: ListenTarget, loaded: Node?, now: Int64) {
    let id = entry(of: target.spec, now: now)
    var follower = Follower(target: target, isLevel: loaded != nil)
    if let loaded, !target.query.loadsAllData {
      follower.window = loaded
      extents[id] = Self.extent(of: loaded)
    }
    if followers.updateValue(follower, forKey: id) == nil { followed.insert(id, at: target.path) }
    note(id)
  }

  /// A listen ends; its stored data remains.
  mutating func end(_ target: ListenTarget, now: Int64) {
    guard let id = unfollow(target) else { return }
    guard entries[id]?.isComplete == true else { return forget(id) }
    entries[id]?.lastUse = now
    note(id)
  }

  /// A listen was rejected: its stored data must not be shown any more.
  mutating func refuse(_ target: ListenTarget) {
    if let id = unfollow(target) { forget(id) }
  }

  /// A read was rejected: its stored data must not be shown any more, unless a listen may show it.
  mutating func refuse(_ spec: QuerySpec) {
    if let id = ids[spec.normalized], followers[id] == nil { forget(id) }
  }

  private mutating func unfollow(_ target: ListenTarget) -> Int64? {
    guard let id = ids[target.spec],
      followers.removeValue(forKey: id) != nil
    else { return nil }
    followed.remove(id, at: target.path)
    return id
  }

  /// The server has sent all data of a listen.
  mutating func complete(_ target: ListenTarget, with node: Node) {
    guard let id = ids[target.spec], let follower = followers[id] else { return }
    // Its parts may be older than the data that it started with and that has now been confirmed.
    if follower.isLevel { return forgetParts(of: id) }
    renew(id, with: node)
  }

  /// Stores data that was read once, unless a listen keeps it up to date anyway.
  mutating func keep(_ node: Node, of spec: QuerySpec, now: Int64) {
    let id = entry(of: spec.normalized, now: now)
    guard followers[id] == nil else { return }
    entries[id]?.lastUse = now
    renew(id, with: node)
  }

  /// Records for the next process whether a query is kept synced.
  ///
  /// Without an entry of its own, the query's data is in that of a location above.
  mutating func setKept(_ spec: QuerySpec, to isKept: Bool) {
    let own = ids[spec.normalized]
    guard let id = own ?? (isKept ? entryOfAllData(on: spec.path) : nil),
      !isKept || entries[id]?.isKept == false
    else { return }
    entries[id]?.isKept = isKept
    pinned.remove(id)
    note(id)
  }

  // MARK: Changes

  /// The server changed some paths; passes the resulting changes to the data of listens on.
  ///
  /// The paths of priorities come last. The tag names the listen that the change is for, nil all.
  mutating func follow(_ changed: [Path], tag: Int64?, in tree: SyncTree) {
    var reached: Set<Int64> = []
    if let tag {
      if let target = tree.target(of: tag), let id = ids[target.spec] { reached = [id] }
    } else {
      for path in changed { reached.formUnion(followed.overlapping(path)) }
    }
    for id in reached.sorted() {
      guard let follower = followers[id], follower.isLevel else { continue }
      pass(changed, to: id, follower: follower, node: tree.serverNode(of: follower.target))
    }
  }

  private mutating func pass(
    _ changed: [Path],
    to id: Int64,
    follower: Follower,
    node: Node
  ) {
    let target = follower.target
    let reached = changed.filter { $0.overlaps(target.path) }
    let below = reached.compactMap { $0.relative(to: target.path) }.filter { !$0.isRoot }
    // A leaf is replaced as a whole, too.
    if below.count < reached.count || follower.window.leafValue != nil {
      return renew(id, with: node)
    }
    if target.query.loadsAllData { return update(id, by: below.map { Change($0, to: node[$0]) }) }
    followers[id]?.window = node
    extents[id] = Self.extent(of: node)
    let keys = Set(below.compactMap(\.first)).subtracting([.priority])
    let children = differing(keys, from: follower.window, to: node)
    update(id, by: children.map { Change(Path([$0]), to: node[$0]) })
  }

  /// The children that differ: of the changed ones, or of all if the counts show further
  /// differences.
  ///
  /// - Complexity: O(changed · log n), or O(n) if other children were pushed out of the window
  private func differing(_ keys: Set<ChildKey>, from old: Node, to new: Node) -> [ChildKey] {
    let gone = keys.count { old.hasChild($0) }
    let present = keys.count { new.hasChild($0) }
    if new.childCount - old.childCount == present - gone { return keys.sorted() }
    var differences = ChangeSet()
    differences.trackDifferences(from: old, to: new)
    return differences.changes.keys.sorted()
  }

  /// Additions go first, as in views, so that nothing is empty in between.
  private mutating func update(_ id: Int64, by updates: [Change]) {
    for isRemoval in [false, true] {
      for change in updates where change.node.isEmpty == isRemoval {
        changes.append(.update(query: id, change))
        share(change, of: id)
      }
    }
  }

  /// Replaces the data of an entry, and updates the others that include it or are part of it.
  private mutating func renew(_ id: Int64, with node: Node) {
    replace(id, with: node)
    if entries[id]?.query.loadsAllData == true { return share(Change(.root, to: node), of: id) }
    guard let children = node.children?.map else { return }
    for (key, child) in children { share(Change(Path([key]), to: child), of: id) }
  }

  /// Applies a change of one entry's data to the others.
  ///
  /// It leaves out selections at and above a change, because the store would have to read each of
  /// them; those above are renewed when they are loaded.
  private mutating func share(_ change: Change, of id: Int64) {
    guard let source = entries[id] else { return }
    // A child that a query does not select any more may still exist.
    if change.node.isEmpty, !source.query.loadsAllData { return }
    let change = Change(source.path.appending(change.path), to: change.node)
    let depth = source.path.count + (source.query.loadsAllData ? 0 : 1)
    for other in entryPaths.overlapping(change.path) where other != id {
      guard followers[other] == nil, let entry = entries[other], Self.takes(depth, entry)
      else { continue }
      if entry.query.loadsAllData || change.path.contains(entry.path) { apply(change, to: other) }
    }
  }

  /// Whether an entry takes what another one knows completely from a depth on: a whole child.
  private static func takes(_ depth: Int, _ entry: TrackedQuery) -> Bool {
    depth <= entry.path.count + 1
  }

  /// Changes the data of an entry.
  private mutating func apply(_ change: Change, to id: Int64) {
    guard let entry = entries[id] else { return }
    guard let location = change.path.relative(to: entry.path), !location.isRoot else {
      let below = Path(entry.path.keys.dropFirst(change.path.count))
      return replace(id, with: entry.query.evaluate(change.node[below]))
    }
    if entry.query.loadsAllData {
      changes.append(.update(query: id, Change(location, to: change.node)))
    } else {
      extents[id] = nil
      changes.append(.amend(query: id, Change(location, to: change.node)))
    }
  }

  /// The server accepted or performed a write: entries are updated with it, unless a listen has
  /// brought what became of it.
  ///
  /// The written data gets its own entry, unless an entry above it is stored.
  mutating func acknowledge(
    _ parts: [Change],
    in tree: SyncTree,
    now: Int64,
    isUnconfirmed: (ListenTarget) -> Bool
  ) {
    for part in parts {
      let current = followed.overlapping(part.path).sorted().compactMap { id -> Follower? in
        guard let follower = followers[id], follower.isLevel else { return nil }
        return isUnconfirmed(follower.target) ? nil : follower
      }
      let keeper = keeper(of: part.path, among: current)
      let change: Change
      if let keeper {
        let below = Path(part.path.keys.dropFirst(keeper.path.count))
        change = Change(part.path, to: tree.serverNode(of: keeper)[below])
      } else if let child = selectedChild(on: part.path, among: current) {
        change = child
      } else {
        change = Change(part.path, to: renewed(part, in: tree, by: current))
      }
      let above = entryOfAllData(on: part.path).flatMap { entries[$0] }
      if !part.path.isPriority, above?.isComplete != true {
        _ = entry(of: QuerySpec(path: part.path, query: .all), now: now)
      }
      for id in entryPaths.overlapping(change.path) {
        guard let entry = entries[id] else { continue }
        if let keeper, Self.takes(keeper.path.count, entry) { continue }
        acknowledge(change, to: id, isUnconfirmed: isUnconfirmed)
      }
    }
  }

  /// Changes the data of an entry, which is then behind if a listen that is not answered follows it.
  private mutating func acknowledge(
    _ change: Change,
    to id: Int64,
    isUnconfirmed: (ListenTarget) -> Bool
  ) {
    guard let follower = followers[id] else { return apply(change, to: id) }
    guard !follower.isLevel || isUnconfirmed(follower.target), let entry = entries[id],
      entry.isComplete || change.path.contains(entry.path)
    else { return }
    apply(change, to: id)
    followers[id]?.isLevel = false
  }

  /// The listen that has brought what became of a write, which may have been changed since.
  private func keeper(of path: Path, among followers: [Follower]) -> ListenTarget? {
    followers.lazy.map(\.target).first { $0.query.loadsAllData && $0.path.contains(path) }
  }

  /// The topmost child on a path that a selection of a listen has, whole; nil if none has one.
  private func selectedChild(on path: Path, among followers: [Follower]) -> Change? {
    followers.compactMap { follower -> Change? in
      guard let key = path.relative(to: follower.target.path)?.first, follower.window.hasChild(key)
      else { return nil }
      return Change(follower.target.path.appending(key), to: follower.window[key])
    }.min { $0.path.count < $1.path.count }
  }

  /// Written data, with what listens at and below its path have brought, maybe since.
  private func renewed(_ part: Change, in tree: SyncTree, by followers: [Follower]) -> Node {
    var result = part.node
    for target in followers.map(\.target) {
      guard let location = target.path.relative(to: part.path) else { continue }
      let query = target.query
      let known = query.evaluate(tree.serverNode(of: target))
      if query.loadsAllData {
        result.update(at: location, to: known)
      } else {
        for change in Self.changes(of: result[location], by: query, toSelect: known) {
          result.update(at: location.appending(change.path), to: change.node)
        }
      }
    }
    return result
  }

  /// The changes after which a node has what a query is known to select from it.
  ///
  /// Additions go first, so that the node is not empty in between. A child that is not selected any
  /// more may still exist, except in key order.
  private static func changes(
    of node: Node,
    by query: Query,
    toSelect selection: Node
  ) -> [Change] {
    var changes: [Change] = []
    for (key, child) in selection.children.map({ Array($0.map) }) ?? [] {
      changes.append(Change(Path([key]), to: child))
    }
    guard query.index == .key else { return changes }
    let isFull = query.limit.map { changes.count >= $0.count } ?? false
    let bounds = isFull ? extent(of: selection) : nil
    for (key, child) in node.children.map({ Array($0.map) }) ?? []
    where query.contains(key, node: child) && !selection.hasChild(key) {
      let isBeyond =
        query.limit?.side == .first
        ? bounds.map { $0.upperBound < key } : bounds.map { key < $0.lowerBound }
      if isBeyond != true { changes.append(Change(Path([key]), to: .empty)) }
    }
    return changes
  }

  /// The entry of all data of a location, or of one above it, that is stored or followed.
  private func entryOfAllData(on path: Path) -> Int64? {
    path.prefixes.compactMap { ids[QuerySpec(path: $0, query: .all)] }
      .first { followers[$0] != nil || entries[$0]?.isComplete == true }
  }

  // MARK: Pruning

  /// Drops the least recently used entries if the store is too large or has too many unused ones.
  ///
  /// It drops only some of them at a time; the store then reports its size again.
  mutating func prune(size: Int64, byteLimit: Int64, queryLimit: Int) {
    let candidates = prunable
    let surplus = candidates.count - queryLimit
    guard size > byteLimit || surplus > 0 else { return }
    for query in candidates.prefix(max(surplus, (candidates.count + 4) / 5)) { forget(query.id) }
  }

  // MARK: Entries

  private mutating func entry(of spec: QuerySpec, now: Int64) -> Int64 {
    if let id = ids[spec] {
      entries[id]?.lastUse = now
      return id
    }
    lastID += 1
    insert(TrackedQuery(id: lastID, path: spec.path, query: spec.query, lastUse: now))
    return lastID
  }

  private mutating func insert(_ query: TrackedQuery) {
    entries[query.id] = query
    ids[QuerySpec(path: query.path, query: query.query)] = query.id
    entryPaths.insert(query.id, at: query.path)
  }

  private mutating func replace(_ id: Int64, with node: Node) {
    if entries[id]?.isComplete == false {
      entries[id]?.isComplete = true
      note(id)
    }
    followers[id]?.isLevel = true
    if entries[id]?.query.loadsAllData == false {
      followers[id]?.window = node
      extents[id] = Self.extent(of: node)
    }
    changes.append(.replace(query: id, node))
    forgetParts(of: id)
  }

  /// Drops the other entries at and below the location of an entry of all data, which includes them.
  private mutating func forgetParts(of id: Int64) {
    guard let whole = entries[id], whole.query.loadsAllData else { return }
    for part in entryPaths.below(whole.path) where part != id && followers[part] == nil {
      if pinned.contains(part) { pinned.insert(id) }
      forget(part)
    }
  }

  private mutating func note(_ id: Int64) {
    if let entry = entries[id] { changes.append(.track(entry)) }
  }

  private mutating func forget(_ id: Int64) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    ids[QuerySpec(path: entry.path, query: entry.query)] = nil
    entryPaths.remove(id, at: entry.path)
    pinned.remove(id)
    extents[id] = nil
    if followers.removeValue(forKey: id) != nil { followed.remove(id, at: entry.path) }
    changes.append(.forget(query: id))
    if entry.isKept { setKept(QuerySpec(path: entry.path, query: entry.query), to: true) }
  }
}
