import GRDB
import RealtimeCore
import StoreTestSupport
import Testing

@testable import RealtimeServer

@Suite("NodeTable")
struct NodeTableTests {
  private static let long = Node.string(String(repeating: "x", count: NodeRow.packedBytes))

  /// Applies groups of changes to rows and to a node, and compares the results and the number of
  /// rows.
  private func check(_ groups: [[Change]], rows expected: Int) throws {
    let queue = try DatabaseQueue()
    try StoreSchema.migrator.migrate(queue)
    var model = Node.empty
    for change in groups.flatMap(\.self) {
      model.update(at: change.path, to: change.node)
      let root = try queue.write { database in
        let table = NodeTable(database)
        try table.apply(change)
        return try table.load()
      }
      #expect(exactText(root) == exactText(model), "\(change.path)")
    }
    let count = try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM nodes") }
    #expect(count == expected)
  }

  /// Changes that create a node with a priority whose two children have their own rows.
  private func branch(_ path: Path) -> [Change] {
    [
      Change(path.appending(Path("x")), to: Self.long),
      Change(path.appending(Path("y")), to: Self.long),
      Change(path.appending(.priority), to: .integer(7)),
    ]
  }

  @Test("keeps a small subtree in one row, and a large one in several")
  func packing() throws {
    let small = Node.empty.setting(Path("x"), to: .integer(1)).setting(Path("y"), to: .bool(true))
    try check([[Change("a", to: small)]], rows: 1)
    try check([[Change("a", to: small), Change("a/z", to: Self.long)]], rows: 3)
    try check([branch("a")], rows: 3)
  }

  @Test("drops the priority of a node with its last child")
  func lastChild() throws {
    try check([branch("a"), [Change("a/x", to: .empty), Change("a/y", to: .empty)]], rows: 0)
    let again = [
      Change("a/x", to: .empty), Change("a/y", to: .empty), Change("a/z", to: .integer(1)),
    ]
    try check([branch("a"), again], rows: 1)
  }

  @Test("drops the priorities of all ancestors left empty")
  func ancestors() throws {
    let removal = [Change("a/b/x", to: .empty), Change("a/b/y", to: .empty)]
    let priority = [Change("a/.priority", to: .string("p"))]
    try check([branch("a/b"), priority, removal], rows: 0)
    try check([branch("a/b"), priority, [Change("a/c", to: Self.long)], removal], rows: 2)
    try check([branch("a/b"), [Change("a/b/x/deep", to: .integer(1))], removal], rows: 0)
  }

  @Test("changes and removes the priority of a node stored in several rows")
  func priorities() throws {
    try check([branch("a"), [Change("a/.priority", to: .string("p"))]], rows: 3)
    try check([branch("a"), [Change("a/.priority", to: .empty)]], rows: 2)
    try check([branch(.root), [Change(".priority", to: .empty)]], rows: 2)
    try check([[Change("a/.priority", to: .integer(1))]], rows: 0)
  }

  @Test("keeps a leaf's priority when the leaf gets children")
  func leaf() throws {
    let leaf = Change("a", to: .leaf(.integer(5), priority: Priority(.integer(2))))
    try check([[leaf, Change("a/x/y", to: .integer(1))]], rows: 1)
    try check([[leaf, Change("a/x/y", to: Self.long), Change("a/z", to: Self.long)]], rows: 3)
    try check([[leaf, Change("a/x", to: .empty), Change("a/x/y", to: .empty)]], rows: 1)
  }

  @Test("replaces everything below a path, including the whole tree, but no other path")
  func replacement() throws {
    let others = ["a-b", "a0", "a b", "aa", "A"].map { branch(Path(wire: $0)) }
    for value in [Node.integer(1), .empty] {
      let change = [Change("a", to: value)]
      try check([branch("a")] + others + [change], rows: value.isEmpty ? 15 : 16)
    }
    try check([branch("a"), branch("b"), [Change(.root, to: .integer(1))]], rows: 1)
    try check([branch("a"), branch("b"), [Change(.root, to: .empty)]], rows: 0)
    try check([branch("a"), [Change("a", to: .leaf(.integer(1)))], branch("a")], rows: 3)
  }
}
