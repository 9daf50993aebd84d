import RealtimeCore
import TestSupport

/// Random data, writes and queries over a few keys, so that they often overlap.
struct RandomWorld {
  var random: SplitMix64
  static let places: [Path] = ["/", "a", "b", "a/2", "a/k"]
  private static let keys = ["1", "2", "10", "k", "x", "y", "é", "z"]

  mutating func below(_ bound: Int) -> Int { random.below(bound) }

  mutating func leaf() -> Node {
    let value: LeafValue =
      switch below(5) {
      case 0: .bool(below(2) == 0)
      case 1: .string(["a", "b", "é"][below(3)])
      case 2: .double(Double(below(4)) + 0.5)
      default: .integer(Int64(below(6)))
      }
    return .leaf(value, priority: Priority(priority()))
  }

  mutating func priority() -> LeafValue? {
    switch below(8) {
    case 0: .integer(Int64(below(3)))
    case 1: .string("p")
    default: nil
    }
  }

  mutating func node(_ depth: Int = 0) -> Node {
    switch below(depth == 0 ? 10 : 6) {
    case 0: return .empty
    case 1, 2, 3: return leaf()
    default:
      if depth > 2 { return leaf() }
      var node = Node.empty
      for _ in 0..<below(5) {
        node.update(at: Path([key()]), to: self.node(depth + 1))
      }
      if below(6) == 0 { node = node.withPriority(priority()) }
      return node
    }
  }

  mutating func key() -> ChildKey {
    switch below(4) {
    case 0: "n"
    default: ChildKey(Self.keys[below(Self.keys.count)])
    }
  }

  mutating func path() -> Path {
    let start: [ChildKey] = below(8) == 0 ? [] : [below(4) == 0 ? "b" : "a"]
    return Path(start + (0..<below(4)).map { _ in key() })
  }

  mutating func write(on root: Node) -> (path: Path, operation: WriteOperation) {
    let path = path()
    switch below(10) {
    case 0, 1: return (path, .merge(merge()))
    case 2:
      if root[path].isEmpty { return (path, .set(leaf())) }
      return (path.appending(.priority), .set(priority().map { .leaf($0) } ?? .empty))
    case 3: return (path, .set(.leaf(.deferred(.incrementInteger(1)))))
    case 4, 5: return (path, .set(.empty))
    default: return (path, .set(node(path.count)))
    }
  }

  private mutating func merge() -> [Change] {
    var changes: [Change] = []
    for _ in 0..<below(5) {
      let path = path()
      if path.isRoot || changes.contains(where: { $0.path.overlaps(path) }) { continue }
      changes.append(Change(path, to: node(2)))
    }
    return changes
  }

  mutating func query() -> Query {
    var query = Query()
    switch below(5) {
    case 0: query.index = .key
    case 1: query.index = .value
    case 2: query.index = .child("n")
    case 3: query.index = .child("n/x")
    default: break
    }
    if below(3) == 0 { query.start = bound(query.index) }
    if below(3) == 0 { query.end = bound(query.index) }
    if below(4) > 0 || query.loadsAllData {
      query.limit = Query.Limit(1 + below(4), side: below(2) == 0 ? .first : .last)
    }
    return query
  }

  private mutating func bound(_ index: Index) -> QueryBound {
    if index == .key { return QueryBound(.string(key().text), isInclusive: below(2) == 0) }
    let value = below(4) == 0 ? nil : leaf().leafValue
    let name: QueryBound.KeyPart? =
      switch below(4) {
      case 0: .minimum
      case 1: .maximum
      case 2: .key(key())
      default: nil
      }
    return QueryBound(value, key: name, isInclusive: below(2) == 0)
  }
}
