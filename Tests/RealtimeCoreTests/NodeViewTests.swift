import RealtimeCore
import TestSupport
import Testing

@Suite("NodeView")
struct NodeViewTests {
  /// Whether a view and a node have the same content at every level.
  private static func agree(_ view: NodeView, _ node: Node) -> Bool {
    guard view.isEmpty == node.isEmpty, view.childCount == node.childCount, view.node == node,
      view.priority == node.priority, view.child(.priority).isEmpty,
      view.child("none" as ChildKey).isEmpty
    else { return false }
    switch (view.content, node) {
    case (.empty, .empty): return true
    case (.text(let text), .leaf(.string(let string), _)):
      return text.string == string && text.utf16Count == string.utf16.count
        && text.byteCount == string.utf8.count
    case (.leaf(let value), .leaf(let other, _)): return value == other
    case (.children, .children(let children)):
      var seen: [ChildKey] = []
      view.forEachChild { text, child in
        let key = ChildKey(text)
        guard agree(child, node[key]), agree(view.child(key), node[key]),
          agree(view.child(text), node[key])
        else { return false }
        seen.append(key)
        return true
      }
      return seen == children.map.map(\.key)
    case (.empty, _), (.text, _), (.leaf, _), (.children, _): return false
    }
  }

  @Test("shows the node's content, packed or not", arguments: 0..<12 as Range<UInt64>)
  func model(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<20 {
      let node = Node.random(depth: 4, using: &random)
      #expect(node.withView { Self.agree($0, node) })
      let above = Node.empty.setting(Path(wire: "a/b"), to: node)
      let key: ChildKey = "a"
      #expect(above.withView { Self.agree($0.child(key).child("b" as ChildKey), node) })
    }
  }

  @Test("shows data that is not yet in the tree", arguments: 0..<12 as Range<UInt64>)
  func replacement(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var shown = 0
    for _ in 0..<60 {
      var node = Node.random(depth: 4, using: &random)
      if Bool.random(using: &random) {
        for number in 0..<40 {
          node.update(at: Path([ChildKey("child \(number)")]), to: .integer(Int64(number)))
        }
      }
      let path = Path((0...Int.random(in: 0...2, using: &random)).map { _ in anyKey(&random) })
      let new = Node.random(depth: 2, using: &random)
      let after = node.setting(path, to: new)
      let isShown = node.withView { view in
        view.withReplacement(at: path, by: new) { changed in
          #expect(Self.agree(changed, after), "\(path)")
          // Beside the tree, both versions of a child are found at once.
          let key = Bool.random(using: &random) ? path.keys[0] : anyKey(&random)
          let (old, next) = view.child(key, beside: changed)
          #expect(Self.agree(old, node[key]) && Self.agree(next, after[key]), "\(path) \(key)")
        }
      }
      if isShown { shown += 1 }
      let depth = path.count - 1
      let hasNodes = (0...depth).allSatisfy {
        node[Path(path.keys.prefix($0))].children != nil
      }
      let isPlain = (0...depth).allSatisfy { node[Path(path.keys.prefix($0))].priority == nil }
      if !hasNodes { #expect(!isShown) }
      if hasNodes, isPlain { #expect(isShown) }
    }
    #expect(shown > 5)
  }

  private func anyKey(_ random: inout SplitMix64) -> ChildKey {
    Bool.random(using: &random)
      ? Node.randomKey(using: &random) : ChildKey("child \(Int.random(in: 0..<50, using: &random))")
  }

  @Test(
    "finds several children at once as it finds them one by one",
    arguments: 0..<12 as Range<UInt64>
  )
  func severalChildren(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<50 {
      let node = Node.random(depth: 3, using: &random)
      var names = Set(["a", "none", "longer than a word", "7", "-P00001234"])
      if let children = node.children {
        for (key, _) in children.map where Bool.random(using: &random) { names.insert(key.text) }
      }
      let sorted = names.sorted { ChildKey($0) < ChildKey($1) }.prefix(16)
      let texts = sorted.map { Array($0.utf8) }
      let lent = texts.map { text in
        // Safety: `texts` owns the bytes, and outlives the values that borrow them.
        text.withUnsafeBufferPointer { LeafText($0) }
      }
      node.withView { view in
        var table = [NodeView](repeating: view, count: sorted.count)
        let present = lent.withUnsafeBufferPointer { names in
          table.withUnsafeMutableBufferPointer { table in
            table.baseAddress.flatMap { view.findChildren(named: names, into: $0) }
          }
        }
        #expect(present != nil || node.children?.isPacked != true)
        guard let present else { return }
        for (index, (name, child)) in zip(sorted, table).enumerated() {
          #expect(Self.agree(child, node[ChildKey(name)]), "\(name) of \(node)")
          #expect((present & 1 << UInt16(index) != 0) == !child.isEmpty, "\(name) of \(node)")
        }
      }
      withExtendedLifetime(texts) {}
    }
  }

  @Test("matches only equal data at a path", arguments: 0..<12 as Range<UInt64>)
  func sameData(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<50 {
      let (node, other) = (
        Node.random(depth: 2, using: &random), Node.random(depth: 2, using: &random)
      )
      let root = Node.empty.setting("a/b" as Path, to: node).setting("x" as Path, to: .integer(1))
      #expect(root.has(node, at: "a/b"))
      #expect(root.has(other, at: "a/b") == (other == node))
      #expect(root.has(.empty, at: "a/none"))
      #expect(root.has(root, at: .root))
      let priority = node.priority.map { Node.leaf($0) } ?? .empty
      #expect(root.has(priority, at: "a/b/.priority"))
    }
  }

  @Test("shows long strings, long keys and many children")
  func large() {
    let long = String(repeating: "a longer text, é🐵 ", count: 100)
    let key = ChildKey(String(repeating: "k", count: 300))
    let many = (100..<200).map { (key: ChildKey("k\($0)"), value: Node.string("value \($0)")) }
    let node = Node.empty.setting("a" as ChildKey, to: .string(long)).setting(
      key,
      to: .string("short")
    )
    .setting("many" as ChildKey, to: Node(sortedChildren: many, priority: .integer(1)))
    #expect(node.withView { Self.agree($0, node) })
  }

  @Test("stops visiting children on request")
  func first() throws {
    let node = try Node(json: JSONParser.parse(#"{"a":1,"b":{"c":"x"},"d":true}"#))
    var seen: [String] = []
    node.withView { view in
      view.forEachChild { key, child in
        seen.append(key.string)
        return child.child("c" as ChildKey).isEmpty
      }
    }
    #expect(seen == ["a", "b"])
  }
}

@Suite("LeafText")
struct LeafTextTests {
  private static let texts = [
    "", "a", "é", "e\u{301}", "🐵b", "\u{FB00}", "12", "a longer text, é", "eight by",
    "1234567é 🐵🐵 ends", "\u{FFFD}\u{10000}\u{7FF}\u{800}",
  ]

  /// Lends a text to a closure while it runs.
  private static func lend<Result>(_ text: String, _ body: (LeafText) -> Result) -> Result {
    var text = text
    return text.withUTF8 { body(LeafText($0)) }
  }

  @Test("compares by code units")
  func comparison() {
    for first in Self.texts {
      for second in Self.texts {
        let isEqual = Array(first.utf8) == Array(second.utf8)
        let isLess = first.utf16.lexicographicallyPrecedes(second.utf16)
        Self.lend(first) { first in
          Self.lend(second) { second in
            #expect((first == second) == isEqual)
            #expect((first < second) == isLess)
          }
        }
      }
    }
  }

  @Test("reports its length and converts to a string or a key", arguments: texts)
  func forms(_ string: String) {
    Self.lend(string) { text in
      #expect(text.string.utf8.elementsEqual(string.utf8))
      #expect(text.utf16Count == string.utf16.count && text.byteCount == string.utf8.count)
      #expect(ChildKey(text) == ChildKey(string))
    }
  }
}
