internal import RealtimeCore

/// Changes that may be made, and the tree that results from them.
struct TreeStep: ~Copyable {
  /// The changes that have an effect; one, which may have none, where nobody built the tree.
  let changes: [Change]
  /// The tree after the changes; nil where small data is to be replaced in place.
  let after: Node?
}

/// Data that replaces other data, in a tree that has no leaf above it.
///
// A class, since it is passed on several times, and one reference count costs less than those of
// its members.
final class Exchange: Sendable {
  let path: Path
  /// The data before; empty if there was none.
  let old: Node
  let new: Node
  /// Whether the new data differs from the old.
  let hasEffect: Bool

  init(of old: Node, by new: Node, at path: Path) {
    self.path = path
    // First, so that the rest is moved and not copied.
    hasEffect = !(old == new)
    self.old = old
    self.new = new
  }
}

/// What a commit did to the tree, as far as listeners need to know.
struct CommitEffect: Sendable {
  let after: Node
  /// Whether several paths belong together and are reported as one merge.
  let isMerge: Bool
  private let origin: Origin

  /// What leads back to the tree before.
  private enum Origin {
    indirect case version(Node, paths: [Path])
    case exchange(Exchange)
  }

  /// Describes the changes from one tree to the next.
  init(of changes: [Change], from before: Node, to after: Node, isMerge: Bool) {
    self.after = after
    self.isMerge = isMerge
    let lifted = changes.map {
      Self.smallestPath(for: $0.path, before: before, after: after)
    }
    var distinct: [Path] = []
    for path in lifted.sorted() where distinct.last?.contains(path) != true {
      distinct.append(path)
    }
    if distinct.count > 1 {
      distinct = Self.joined(distinct[...], at: .root, before: before, after: after).paths
    }
    origin = .version(before, paths: distinct)
  }

  /// Describes an exchange of data in a tree.
  init(of exchange: Exchange, makingOf after: Node, isMerge: Bool) {
    origin = .exchange(exchange)
    self.after = after
    self.isMerge = isMerge
  }

  /// The paths to report, none within another.
  ///
  /// A write below a leaf, or of the priority of a leaf, counts as a change of the whole leaf,
  /// since clients cannot apply anything smaller there. Several changes count as one of the data
  /// around them if that has a priority which depends on their order.
  var paths: [Path] {
    switch origin {
    case .version(_, let paths): paths
    case .exchange(let exchange): [exchange.path]
    }
  }

  /// The exchange that is the whole commit, if it is one.
  var exchange: Exchange? {
    if case .exchange(let exchange) = origin { exchange } else { nil }
  }

  /// The data at a path before the commit.
  ///
  /// - Complexity: O(depth · log children)
  func before(at path: Path) -> Node {
    switch origin {
    case .version(let root, _): return root[path]
    case .exchange(let exchange):
      if let below = path.relative(to: exchange.path) { return exchange.old[below] }
      guard let rest = exchange.path.relative(to: path) else { return after[path] }
      return after[path].setting(rest, to: exchange.old)
    }
  }

  /// Some children of a location before the commit, empty where there were none.
  ///
  /// - Complexity: O(keys · depth · log children)
  func children(_ keys: [ChildKey], before path: Path) -> [Node] {
    switch origin {
    case .version(let root, _):
      let node = root[path]
      return keys.map { node[$0] }
    case .exchange: return keys.map { before(at: path.appending($0)) }
    }
  }

  /// The deepest path at which a change can be reported to clients.
  static func smallestPath(for path: Path, before: Node, after: Node) -> Path {
    let depth = before.leafDepth(above: path, or: after)
    return depth < path.count ? Path(path.keys.prefix(depth)) : path
  }

  /// Replaces paths by those around them, where the order in which clients apply the changes would
  /// decide about a priority.
  ///
  /// A location without children has no priority. So it matters which comes first if the changes
  /// give a location its first child and its priority, or remove all children that it had: a client
  /// might remove the last child ahead of adding another, or set the priority ahead of the first.
  ///
  /// The paths are at or below the location, in order, none within another, before and afterwards.
  ///
  /// - Returns: Such paths, and whether the location has no data before, in between or afterwards,
  ///   in some order.
  /// - Complexity: O(paths · depth · log children)
  private static func joined(
    _ paths: ArraySlice<Path>,
    at location: Path,
    before: Node,
    after: Node
  ) -> (paths: [Path], isVacant: Bool) {
    if paths.first == location { return ([location], before.isEmpty || after.isEmpty) }
    var result: [Path] = []
    var vacant = 0
    var rest = paths
    while let key = rest.first?.keys[location.count] {
      let group = rest.prefix { $0.keys[location.count] == key }
      rest = rest.dropFirst(group.count)
      let child = joined(
        group,
        at: location.appending(key),
        before: before[key],
        after: after[key]
      )
      result += child.paths
      if child.isVacant, !key.isPriority, !before[key].isEmpty { vacant += 1 }
    }
    let isVacant = vacant == before.childCount
    guard isVacant, paths.count > 1, before.priority != nil || after.priority != nil else {
      return (result, isVacant)
    }
    return ([location], before.isEmpty || after.isEmpty)
  }
}

extension CommitEffect {
  /// Whether a location lies above, at or below a path of the commit.
  func affects(_ location: Path) -> Bool {
    switch origin {
    case .version(_, let paths): paths.contains { $0.overlaps(location) }
    case .exchange(let exchange): exchange.path.overlaps(location)
    }
  }

  /// The locations in a map that lie above, at or below the paths of the commit, in path order.
  ///
  /// - Complexity: O(depth · log locations) for a path, and O(1) for a location found
  func affectedPaths<Value>(in locations: SortedMap<Path, Value>) -> [Path] {
    if locations.isEmpty { return [] }
    // A few locations are scanned faster than they are looked up for each ancestor of a changed
    // path.
    if locations.count <= 8 {
      // A local variable, since a closure would capture a copy of the whole effect.
      let paths = paths
      return locations.keys { path in paths.contains { path.overlaps($0) } }
    }
    let paths = paths
    var affected: [Path] = []
    for changed in paths {
      for count in 0..<changed.count {
        let prefix = Path(changed.keys.prefix(count))
        if locations[prefix] != nil { affected.append(prefix) }
      }
      for (path, _) in locations.ascending(after: { $0 < changed }) {
        guard changed.contains(path) else { break }
        affected.append(path)
      }
    }
    guard paths.count > 1 else { return affected }
    var distinct: [Path] = []
    for path in affected.sorted() where distinct.last != path { distinct.append(path) }
    return distinct
  }

  /// The changes below a location, grouped by child, in path order; nil when the location itself or
  /// one above it has changed.
  func changedChildren(of path: Path) -> (keys: [ChildKey], paths: [ChildKey: [Path]])? {
    var keys: [ChildKey] = []
    var below: [ChildKey: [Path]] = [:]
    for changed in paths {
      if changed.contains(path) { return nil }
      guard let relative = changed.relative(to: path), let key = relative.first, !key.isPriority
      else { continue }
      if below[key] == nil { keys.append(key) }
      below[key, default: []].append(relative)
    }
    return (keys, below)
  }
}

extension Change {
  /// Whether it may write a large map; a packed map has few children at every level.
  var isLarge: Bool { node.hasUnpackedChildren }

  /// Whether it stores small data that needs nothing computed.
  var isReplacement: Bool {
    !node.isEmpty && !isLarge && !path.isPriority && !node.hasDeferredValues
  }

  /// The few effective changes when a large map is rewritten, or else the change itself.
  ///
  /// A transaction writes a whole value, of which it has usually changed very little. Without this,
  /// all the rest would be sent to every listener and written to the disk once more: with many
  /// stars on one post, that grows with the square of their number.
  ///
  /// The existing data at the path is evaluated only when needed. No change is within another.
  ///
  /// - Complexity: O(n log n)
  func narrowed(from existing: @autoclosure () -> Node) -> [Change] {
    guard isLarge else { return [self] }
    var narrowing = Narrowing()
    let isNarrow = narrowing.compare(existing(), to: node, at: path) && narrowing.isWide
    return isNarrow ? narrowing.changes : [self]
  }
}

/// A comparison of two values that stops once they differ at too many paths.
private struct Narrowing {
  /// The number of children from which a map counts as large.
  private static let wide = 32
  /// The maximum number of paths that are reported separately.
  private static let mostPaths = 4

  var changes: [Change] = []
  /// Whether the comparison has descended into a large map.
  var isWide = false

  /// Collects the differences; false when there are too many.
  mutating func compare(_ old: Node, to new: Node, at path: Path) -> Bool {
    guard let before = old.children, let after = new.children, old.priority == new.priority else {
      changes.append(Change(path, to: new))
      return changes.count <= Self.mostPaths
    }
    if after.count >= Self.wide { isWide = true }
    var kept = 0
    for (key, node) in after.map {
      let earlier = old[key]
      if !earlier.isEmpty { kept += 1 }
      guard node != earlier else { continue }
      if !compare(earlier, to: node, at: path.appending(key)) { return false }
    }
    guard kept < before.count else { return true }
    for (key, _) in before.map where new[key].isEmpty {
      changes.append(Change(path.appending(key), to: .empty))
      if changes.count > Self.mostPaths { return false }
    }
    return true
  }
}
