import RealtimeCore
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("CoalescedChanges")
struct CoalescedChangesTests {
  private func coalesced(_ changes: [Change]) -> [Change] {
    var coalesced = CoalescedChanges()
    for change in changes { coalesced.add(change) }
    #expect(coalesced.count == coalesced.changes.count)
    return coalesced.changes
  }

  private func apply(_ changes: [Change], to root: Node) -> Node {
    changes.reduce(into: root) { $0.update(at: $1.path, to: $1.node) }
  }

  /// Checks that the coalesced changes have the same effect on a tree as all of them.
  private func check(_ changes: [Change], on root: Node = .empty, keep count: Int) {
    let fewer = coalesced(changes)
    #expect(fewer.count == count)
    #expect(exactText(apply(fewer, to: root)) == exactText(apply(changes, to: root)))
  }

  @Test(
    "Coalesced changes have the same effect on any tree",
    arguments: Thoroughness.third(of: 1...300 as ClosedRange<UInt64>)
  )
  func model(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var model = StoreModel(seed: seed)
    for _ in 0..<Int.random(in: 0..<6, using: &random) { _ = model.nextBatch() }
    let root = model.root
    let batches = (0..<Int.random(in: 1..<20, using: &random)).map { _ in model.nextBatch() }
    let changes = batches.flatMap(\.commits).flatMap(\.changes)
    let fewer = coalesced(changes)
    #expect(fewer.count <= changes.count)
    #expect(exactText(apply(fewer, to: root)) == exactText(model.root))
  }

  @Test("Only the last change at each path is kept")
  func samePlace() {
    let changes = (1...100).map { Change(Path(wire: "posts/\($0 % 5)"), to: .integer($0)) }
    check(changes, keep: 5)
  }

  @Test("A change merges into an earlier one above it and replaces earlier ones below it")
  func nested() {
    let whole = Node.empty.setting(Path("x"), to: .integer(1))
    check(
      [Change("a", to: whole), Change("a/y", to: .integer(2)), Change("a/x", to: .empty)],
      keep: 1
    )
    check(
      [Change("a/x", to: .integer(1)), Change("b", to: .integer(5)), Change("a", to: whole)],
      keep: 2
    )
    check(
      [Change("a/x", to: .integer(1)), Change("a/y", to: .integer(2)), Change("a", to: whole)],
      keep: 1
    )
  }

  @Test("Removing and rewriting a node drops the priorities above it")
  func priorities() {
    let root = Node.empty.setting(Path("a/x"), to: .integer(1)).setting(
      Path("a/.priority"),
      to: .integer(7)
    )
    let changes = [
      Change("a/x", to: .integer(2)), Change("a/x", to: .empty), Change("a/x", to: .integer(3)),
    ]
    check(changes, on: root, keep: 3)
    #expect(apply(coalesced(changes), to: root)[Path("a")].priority == nil)
  }

  @Test("Independent changes are sorted by path")
  func order() {
    let names = ["c", "a", "b", "10", "9"]
    let paths = coalesced(names.map { Change(Path(wire: "posts/\($0)"), to: .integer(1)) }).map(
      \.path
    )
    #expect(paths == paths.sorted())
    let removal = Change("posts/c", to: .empty)
    #expect(coalesced([removal, Change("posts/a", to: .integer(1))]).first == removal)
  }
}
