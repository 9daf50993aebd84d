internal import RealtimeCore

/// The writes that a peer has scheduled for its disconnect, each as it was received.
///
/// Within a scheduled write there may be later writes, and paths where nothing is to be written
/// after all: an entry above another is always the older one. The resulting changes are computed
/// only when the peer disconnects, so that a short request never changes much of what is stored.
struct DisconnectTable: Sendable {
  private struct Entry: Sendable {
    /// The data to write; nil where a write scheduled above has been withdrawn.
    let node: Node?
    /// The length in bytes of the path and of the node as JSON.
    let bytes: Int
  }

  private var scheduled = SortedMap<Path, Entry>()
  /// The length of all entries in bytes: paths, and nodes as JSON.
  private(set) var bytes = 0
  /// The paths that have changed since ``takeTouched()``.
  private var touched: Set<Path> = []

  init() {}

  /// Restores a table from a store.
  init(changes: [Change], withdrawn: [Path]) {
    for change in changes { insert(change.node, at: change.path) }
    for path in withdrawn { insert(nil, at: path) }
    touched = []
  }

  var isEmpty: Bool { scheduled.isEmpty }

  /// The number of writes, and of withdrawals within them.
  var count: Int { scheduled.count }

  /// Whether anything has changed since ``takeTouched()``.
  var isTouched: Bool { !touched.isEmpty }

  /// Takes the paths that have changed since the last call.
  mutating func takeTouched() -> Set<Path> {
    defer { touched = [] }
    return touched
  }

  /// The entries at some paths, as an update of a session without any, for the store.
  func update(of session: StoredSession, at paths: Set<Path>) -> SessionUpdate {
    var update = SessionUpdate(session)
    // If nothing is left, the session ends, whoever scheduled it.
    if isEmpty { return update }
    update.replaces = false
    for path in paths.sorted() {
      guard let entry = scheduled[path] else {
        update.removed.append(path)
        continue
      }
      if let node = entry.node {
        update.session.changes.append(Change(path, to: node))
      } else {
        update.session.withdrawn.append(path)
      }
    }
    return update
  }

  /// The combined effect of the writes in order, with server values unresolved.
  ///
  /// No path contains another: a write at or below an earlier one becomes part of it. Where part of
  /// a write has been withdrawn, the remaining parts are written separately.
  ///
  /// - Complexity: O(size)
  var changes: [Change] {
    var joined = SortedMap<Path, Node>()
    for (path, entry) in scheduled {
      if let node = entry.node {
        if let above = Self.covering(path, in: joined), let rest = path.relative(to: above) {
          _ = joined.modify(above) { $0.update(at: rest, to: node) }
        } else {
          joined.updateValue(node, forKey: path)
        }
      } else {
        Self.cut(path, outOf: &joined)
      }
    }
    return joined.map { Change($0.key, to: $0.value) }
  }

  /// Schedules a write, replacing what is scheduled at the path and below it.
  mutating func set(_ node: Node, at path: Path) {
    removeAll(below: path)
    insert(node, at: path)
  }

  /// Withdraws what is scheduled at a path and below it.
  ///
  /// Where a write above covers the path, its other children stay scheduled.
  mutating func cancel(_ path: Path) {
    // Nothing can be scheduled any deeper, and searching there would take quadratic time.
    guard path.count <= Limits.depth + 1 else { return }
    removeAll(below: path)
    let above = path.prefixes.dropLast().last { scheduled[$0] != nil }
    if let above, scheduled[above]?.node?.children != nil { insert(nil, at: path) }
  }

  /// Removes what is scheduled at a path and below it, but nothing of a write that covers it from
  /// above.
  mutating func removeAll(below path: Path) {
    let doomed = scheduled.ascending { $0 < path }.prefix { path.contains($0.key) }
    for (candidate, _) in doomed { remove(candidate) }
  }

  private mutating func insert(_ node: Node?, at path: Path) {
    let length = path.wireText.utf8.count + (node.map(Self.jsonBytes) ?? 0)
    scheduled.updateValue(Entry(node: node, bytes: length), forKey: path)
    touched.insert(path)
    bytes += length
  }

  private mutating func remove(_ path: Path) {
    bytes -= scheduled.removeValue(forKey: path)?.bytes ?? 0
    touched.insert(path)
  }

  private static func jsonBytes(of node: Node) -> Int {
    var writer = JSONWriter()
    node.write(to: &writer)
    return writer.bytes.count
  }

  // MARK: Combined effect

  private static func covering(_ path: Path, in joined: SortedMap<Path, Node>) -> Path? {
    path.prefixes.first { joined[$0] != nil }
  }

  /// Cuts a path out of the write that covers it; its other children become separate writes.
  private static func cut(_ path: Path, outOf joined: inout SortedMap<Path, Node>) {
    while let above = covering(path, in: joined), above.count < path.count {
      guard let children = joined[above]?.children else { return }
      joined.removeValue(forKey: above)
      let kept = path.keys[above.count]
      for (key, child) in children.map {
        let childPath = above.appending(key)
        if key != kept || childPath.count < path.count {
          joined.updateValue(child, forKey: childPath)
        }
      }
    }
  }
}
