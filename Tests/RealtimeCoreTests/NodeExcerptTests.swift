import TestSupport
import Testing

@testable import RealtimeCore

@Suite("Node excerpts")
struct NodeExcerptTests {
  private func text(_ node: Node, _ limit: Int) -> [UInt8] {
    var writer = JSONWriter()
    node.write(to: &writer, limit: limit)
    return writer.bytes
  }

  private func whole(_ node: Node) -> [UInt8] {
    var writer = JSONWriter()
    node.write(to: &writer)
    return writer.bytes
  }

  /// Nodes of every form, some of them too large to be packed.
  private var nodes: [Node] {
    let long = String(repeating: "é\"x", count: 700)
    let leaves: [Node] = [
      .empty, .bool(true), .integer(-7), .leaf(.double(0.5)), .string("a\n"), .string(long),
      .leaf(.string(long), priority: Priority(.integer(3))), .leaf(.deferred(.timestamp)),
    ]
    let few = Node(sortedChildren: [(ChildKey("a"), .integer(1)), (ChildKey("b"), .string("x"))])
    let many = Node(
      sortedChildren: (0..<200).map { (ChildKey(String($0)), $0 % 9 == 0 ? few : .integer(1)) },
      priority: .string("p")
    )
    let mixed = Node(
      sortedChildren: [
        (ChildKey("few"), few), (ChildKey("leaf"), leaves[6]), (ChildKey("many"), many),
        (ChildKey("text"), .string(long)),
      ]
    )
    return leaves + [few, many, mixed]
  }

  @Test("are the whole node within the limit, and a prefix of it otherwise")
  func beginning() {
    for node in nodes {
      let all = whole(node)
      #expect(text(node, all.count) == all)
      #expect(text(node, 1 << 20) == all)
      for limit in stride(from: 0, to: all.count, by: max(1, all.count / 50)) {
        let some = text(node, limit)
        #expect(some.count > limit)
        #expect(some.prefix(limit + 1) == all.prefix(limit + 1))
      }
    }
  }

  @Test("cost no more than the limit, however large the node")
  func bounded() {
    let huge = Node.string(String(repeating: "x", count: 1_000_000))
    let list = Node(sortedChildren: (0..<20_000).map { (ChildKey(String($0)), huge) })
    #expect(text(huge, 1_000).count < 1_100)
    #expect(text(list, 1_000).count < 1_200)
    #expect((1_001..<2_000_000).contains(list.byteCount(upTo: 1_000)))
  }

  @Test("are known to be complete from a byte count that stops at the limit")
  func count() {
    #expect(Node.empty.byteCount(upTo: 10) == 0)
    #expect(Node.string("abcd").byteCount(upTo: 10) == 20)
    for node in nodes {
      let count = node.byteCount(upTo: .max)
      #expect(node.byteCount(upTo: count) == count)
      if count > 1 { #expect(node.byteCount(upTo: count - 1) > count - 1) }
      #expect(count >= whole(node).count / 7)
    }
  }
}
