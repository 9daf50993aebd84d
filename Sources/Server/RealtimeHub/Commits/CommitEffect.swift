internal import RealtimeCore

/// What a commit did to the tree, as listeners need to know it.
struct CommitEffect: Sendable {
  /// The tree before.
  let before: Node
  /// The tree after.
  let after: Node
  /// The places to tell about, none within another.
  ///
  /// A write below a leaf, and a priority of a leaf, count as a change of the whole leaf, since
  /// clients cannot apply anything smaller there.
  let places: [Path]
  /// Whether several places belong together, so that they are told about as a merge.
  let isMerge: Bool

  init(before: Node, after: Node, changed paths: [Path], isMerge: Bool) {
    self.before = before
    self.after = after
    self.isMerge = isMerge
    let lifted = paths.map { Self.place(of: $0, before: before, after: after) }
    guard lifted.count > 1 else {
      places = lifted
      return
    }
    var distinct: [Path] = []
    for path in lifted.sorted() where distinct.last?.contains(path) != true {
      distinct.append(path)
    }
    places = distinct
  }

  /// The smallest place that clients can be told about for a change at a path.
  static func place(of path: Path, before: Node, after: Node) -> Path {
    let depth = min(before.leafDepth(above: path), after.leafDepth(above: path))
    return depth < path.count ? Path(path.keys.prefix(depth)) : path
  }
}
