import RealtimeCore
import TestSupport
import Testing

@Suite("IndexedNode")
struct IndexedNodeTests {
  @Test("treats equal numbers as one position and has a total order of all numbers")
  func numbers() {
    func entry(_ value: LeafValue) -> IndexEntry { IndexEntry(value: .leaf(value), key: "k") }
    #expect(entry(.integer(1)) == entry(.double(1)))
    #expect(Set([entry(.integer(1)), entry(.double(1)), entry(.integer(2))]).count == 2)
    #expect(!(entry(.integer(1)) < entry(.double(1))) && !(entry(.double(1)) < entry(.integer(1))))
    let ordered: [LeafValue] = [
      .bool(true), .double(-0.5), .integer(0), .integer(1), .double(1.5), .integer(2), .string("0"),
    ]
    #expect(ordered.reversed().map(entry).sorted() == ordered.map(entry))
    let other = IndexEntry(value: .leaf(.integer(1)), key: "l")
    #expect(entry(.integer(1)) < other && entry(.integer(1)) != other)
  }

  @Test(
    "matches a sorted array through random changes",
    arguments: [.priority, .key, .value, .child("a"), .child("a/b")] as [Index]
  )
  func model(index: Index) {
    var random = SplitMix64(seed: 31)
    for _ in 0..<60 {
      let start = Node.random(depth: Int.random(in: 0...2, using: &random), using: &random)
      var indexed = IndexedNode(start, by: index)
      var model = start
      for _ in 0..<40 {
        let key = Node.randomKey(using: &random)
        let isRemoval = Int.random(in: 0..<3, using: &random) == 0
        let child = isRemoval ? Node.empty : Node.random(depth: 2, using: &random)
        indexed.set(key, to: child)
        model.update(at: Path([key]), to: child)
        check(indexed, model, index)
      }
    }
  }

  @Test(
    "matches a fresh sort when several children change between versions",
    arguments: [.priority, .key, .value, .child("a"), .child("a/b")] as [Index],
    1...4 as ClosedRange<UInt64>
  )
  func follow(index: Index, seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var node = Node.empty
    var order = ChildOrder(of: node, by: index)
    for step in 1...120 {
      let before = node
      // Every now and then all children are removed, so that the next one is the first again.
      var changed = step % 50 == 0 ? node.children?.map.map(\.key) ?? [] : []
      for key in changed { node.update(at: Path([key]), to: .empty) }
      while step % 50 != 0, changed.count < Int.random(in: 1...4, using: &random) {
        let key = Self.anyKey(&random)
        guard !changed.contains(key) else { continue }
        changed.append(key)
        Self.change(key, of: &node, &random)
      }
      order.follow(changed, from: before, to: node)
      check(IndexedNode(node, in: order), node, index)
    }
  }

  @Test(
    "follows a child given before and after its change, unless it has the first priority",
    arguments: [.priority, .key, .value, .child("a"), .child("a/b")] as [Index],
    1...4 as ClosedRange<UInt64>
  )
  func followChild(index: Index, seed: UInt64) {
    var random = SplitMix64(seed: seed)
    // One that stays, since a node without children has no order to follow.
    var node = Node.empty.setting("stays" as Path, to: .bool(true))
    var order = ChildOrder(of: node, by: index)
    for _ in 1...120 {
      let key = Self.anyKey(&random)
      let before = node
      Self.change(key, of: &node, &random)
      if !order.follow(key, from: before[key], to: node[key]) {
        #expect(index == .priority && (before.children?.prioritizedCount ?? 0) == 0)
        order.rebuild(of: node)
      }
      check(IndexedNode(node, in: order), node, index)
    }
  }

  @Test(
    "follows an exchange of data below a child",
    arguments: [.priority, .key, .value, .child("a"), .child("a/b"), .child("a/.priority")]
      as [Index],
    1...4 as ClosedRange<UInt64>
  )
  func followBelow(index: Index, seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var node = Node.empty
    for _ in 0..<40 {
      node.update(at: Path([Self.anyKey(&random)]), to: Node.random(depth: 3, using: &random))
    }
    var order = ChildOrder(of: node, by: index)
    var exchanged = 0
    for _ in 1...400 {
      let key = Bool.random(using: &random) ? Self.anyKey(&random) : "a"
      let below = (0...Int.random(in: 0...1, using: &random)).map { _ in
        Bool.random(using: &random) ? Node.randomKey(using: &random) : "a" as ChildKey
      }
      let new = Node.random(depth: 2, using: &random)
      var old = new
      guard node.exchange(&old, at: Path([key] + below)) else { continue }
      exchanged += 1
      let follows = order.follow(key, below: below[...], from: old, to: new)
      #expect(follows)
      check(IndexedNode(node, in: order), node, index)
    }
    #expect(exchanged > 10)
  }

  /// A key from a set so large that the children do not fit into a few bytes.
  private static func anyKey(_ random: inout SplitMix64) -> ChildKey {
    Bool.random(using: &random)
      ? Node.randomKey(using: &random)
      : ChildKey("child \(Int.random(in: 0..<60, using: &random))")
  }

  private static func change(_ key: ChildKey, of node: inout Node, _ random: inout SplitMix64) {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: node.update(at: Path([key]), to: .empty)
    case 1: node.update(at: Path([key, "a"]), to: Node.random(depth: 1, using: &random))
    // A child may be listed as changed and still be equal.
    case 2: break
    default: node.update(at: Path([key]), to: Node.random(depth: 2, using: &random))
    }
  }

  private func check(_ indexed: IndexedNode, _ model: Node, _ index: Index) {
    #expect(indexed.node == model)
    let entries = (model.children?.map.map { index.entry(for: $0.key, node: $0.value) } ?? [])
      .sorted()
    let keys = entries.map(\.key)
    #expect(indexed.ascending.map(\.key) == keys)
    #expect(indexed.ascending.map(\.node) == keys.map { model[$0] })
    #expect(indexed.descending.map(\.key) == Array(keys.reversed()))
    #expect(indexed.first?.key == keys.first)
    #expect(indexed.last?.key == keys.last)
    for (position, key) in keys.enumerated() {
      let expected = position > 0 ? keys[position - 1] : nil
      #expect(indexed.keyBefore(key, child: model[key]) == expected)
    }
    guard let middle = entries.dropFirst(entries.count / 2).first, index != .key else { return }
    #expect(
      indexed.ascending(after: { $0 < middle }).map(\.key)
        == keys.filter { key in
          !(index.entry(for: key, node: model[key]) < middle)
        }
    )
    #expect(
      indexed.descending(within: { !(middle < $0) }).map(\.key)
        == keys.reversed().filter { key in
          !(middle < index.entry(for: key, node: model[key]))
        }
    )
  }

  @Test("switches to priority order when the first priority appears")
  func firstPriority() {
    var indexed = IndexedNode(.empty.setting(Path("a"), to: .integer(1)), by: .priority)
    indexed.set("b", to: .integer(2))
    #expect(indexed.ascending.map(\.key) == ["a", "b"])
    indexed.set("a", to: .leaf(.integer(1), priority: Priority(.integer(9))))
    #expect(indexed.ascending.map(\.key) == ["b", "a"])
    indexed.set("a", to: .integer(1))
    #expect(indexed.ascending.map(\.key) == ["a", "b"])
  }

  @Test("accepts its own priority without changing the order")
  func ownPriority() {
    var indexed = IndexedNode(.empty.setting(Path("a"), to: .integer(1)), by: .value)
    indexed.setPriority(.integer(3))
    #expect(indexed.node.priority == .integer(3))
    #expect(indexed.ascending.map(\.key) == ["a"])
  }
}
