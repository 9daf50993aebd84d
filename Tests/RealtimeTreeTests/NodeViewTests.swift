import RealtimeTree
import TestSupport
import Testing

@Suite("A view of a node")
struct NodeViewTests {
  /// Whether a view and a node show the same, all the way down.
  private static func agree(_ view: NodeView, _ node: Node) -> Bool {
    guard view.isEmpty == node.isEmpty, view.childCount == node.childCount, view.node == node,
      view.priority == node.priority, view.child(.priority).isEmpty, view.child("none").isEmpty
    else { return false }
    switch (view.content, node) {
    case (.empty, .empty): return true
    case (.text(let text), .leaf(.string(let string), _)):
      return text == LeafText(string) && text.string == string
        && text.utf16Count == string.utf16.count && text.byteCount == string.utf8.count
    case (.leaf(let value), .leaf(let other, _)): return value == other
    case (.children, .children(let children)):
      var seen: [ChildKey] = []
      view.forEachChild { key, child in
        guard agree(child, node[key]), agree(view.child(key), node[key]) else { return false }
        seen.append(key)
        return true
      }
      return seen == children.map.map(\.key)
    case (.empty, _), (.text, _), (.leaf, _), (.children, _): return false
    }
  }

  @Test("shows what is there, packed or not", arguments: 0..<12 as Range<UInt64>)
  func model(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<20 {
      let node = Node.random(depth: 4, using: &random)
      #expect(Self.agree(NodeView(node), node))
      let above = Node.empty.setting(Path(wire: "a/b"), to: node)
      #expect(Self.agree(NodeView(above).child("a").child("b"), node))
    }
  }

  @Test("looks at no more children than are wanted")
  func first() throws {
    let node = try Node(json: JSONParser.parse(#"{"a":1,"b":{"c":"x"},"d":true}"#))
    var seen: [ChildKey] = []
    NodeView(node).forEachChild { key, child in
      seen.append(key)
      return child.child("c").isEmpty
    }
    #expect(seen == ["a", "b"])
  }
}

@Suite("The text of a leaf")
struct LeafTextTests {
  private static let texts = ["", "a", "é", "e\u{301}", "🐵b", "\u{FB00}", "12", "a longer text, é"]

  @Test("is equal to another when the code units are, wherever they lie")
  func equality() throws {
    for first in Self.texts {
      let key = LeafText(ChildKey(first))
      let packed = NodeView(try Node(json: .object(("k", .string(first))))).child("k")
      guard case .text(let text) = packed.content else {
        Issue.record("no text: \(first)")
        continue
      }
      for second in Self.texts {
        let isEqual = Array(first.utf8) == Array(second.utf8)
        #expect((LeafText(first) == LeafText(second)) == isEqual)
        #expect((key == LeafText(second)) == isEqual)
        #expect((text == LeafText(second)) == isEqual)
        #expect((LeafText(second) == key) == isEqual)
      }
      for one in [key, text] {
        #expect(one.string.utf8.elementsEqual(first.utf8))
        #expect(one.utf16Count == first.utf16.count && one.byteCount == first.utf8.count)
        #expect(Path(wire: one) == Path(wire: first))
      }
    }
  }
}
