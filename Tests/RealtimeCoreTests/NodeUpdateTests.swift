import RealtimeCore
import TestSupport
import Testing

@Suite("Node")
struct NodeUpdateTests {
  @Test(
    "updates paths by the rules of the protocol",
    arguments: [
      (#"{".value":5,".priority":2}"#, "k", "1", #"{"k":1,".priority":2}"#),
      (#"{"k":1,".priority":2}"#, "k", "null", "null"),
      (#"{".value":5,".priority":2}"#, "k", "null", #"{".value":5,".priority":2}"#),
      (#"{".value":5,".priority":2}"#, "k/l", "null", #"{".value":5,".priority":2}"#),
      (#"{".value":5,".priority":2}"#, "k/.priority", "1", #"{".value":5,".priority":2}"#),
      (#"{".value":5,".priority":2}"#, "", "6", "6"),
      ("null", ".priority", "1", "null"),
      ("null", "a/.priority", "1", "null"),
      (#"{"b":1}"#, "a/.priority", "1", #"{"b":1}"#),
      ("5", ".priority", "1", #"{".value":5,".priority":1}"#),
      (#"{".value":5,".priority":1}"#, ".priority", "null", "5"),
      (#"{"a":1}"#, ".priority", #""p""#, #"{"a":1,".priority":"p"}"#),
      (#"{"a":1,".priority":3}"#, ".priority", "4", #"{"a":1,".priority":4}"#),
      (#"{"a":1}"#, "a/.priority", "4", #"{"a":{".value":1,".priority":4}}"#),
      ("null", "a/b/c", "1", #"{"a":{"b":{"c":1}}}"#),
      (#"{"a":{"b":{"c":1}}}"#, "a/b/c", "null", "null"),
      (#"{"a":{"b":{"c":1}},"d":1}"#, "a/b/c", "null", #"{"d":1}"#),
      (#"{"a":{"b":1,".priority":1},"d":1}"#, "a/b", "2", #"{"a":{"b":2,".priority":1},"d":1}"#),
      (#"{"a":{".value":1,".priority":9},"d":1}"#, "a", "2", #"{"a":2,"d":1}"#),
      (#"{"a":1}"#, "a/b", "2", #"{"a":{"b":2}}"#),
      (#"{"0":"a"}"#, "123456789012345", #""c""#, #"{"0":"a","123456789012345":"c"}"#),
    ]
  )
  func rules(before: String, path: String, data: String, after: String) throws {
    let node = try Node(text: before)
    #expect(node.setting(Path(wire: path), to: try Node(text: data)).exportText == after)
    #expect(node.exportText == (try Node(text: before)).exportText)
  }

  @Test(
    "exchanges data and returns the old data, or does nothing",
    arguments: 1...4 as ClosedRange<UInt64>
  )
  func exchange(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var exchanged = 0
    for _ in 0..<1_000 {
      let before = Node.random(depth: 4, using: &random)
      let keys = (0..<Int.random(in: 0...4, using: &random)).map { _ in
        Node.randomKey(using: &random)
      }
      let path = Path(keys)
      let data = Node.random(depth: 2, using: &random)
      var (node, old) = (before, data)
      guard node.exchange(&old, at: path) else {
        #expect(node == before && old == data)
        continue
      }
      exchanged += 1
      #expect(old == before[path])
      #expect(node == before.setting(path, to: data))
      #expect(Self.isSound(node))
      #expect(before.leafDepth(above: path, or: node) == path.count)
    }
    #expect(exchanged > 100)
    var node = Node.empty.setting("a/b" as Path, to: .integer(1))
    let two = Node.integer(2)
    for (data, path) in [
      (two, "a/.priority"), (.empty, "a/b"), (two, "a/b/c"), (two, "b/c"),
    ] as [(Node, Path)] {
      var old = data
      #expect(!node.exchange(&old, at: path) && old == data, "\(path)")
    }
    #expect(node.exportText == #"{"a":{"b":1}}"#)
    var old = two
    #expect(node.exchange(&old, at: "a/c") && old == .empty)
    #expect(node.exportText == #"{"a":{"b":1,"c":2}}"#)
  }

  @Test(
    "sets the data at a path and leaves everything else unchanged",
    arguments: Thoroughness.third(of: 1...4 as ClosedRange<UInt64>)
  )
  func model(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<300 {
      let before = Node.random(depth: 4, using: &random)
      let hash = before.hash
      var node = before
      for _ in 0..<10 {
        let keys = (0..<Int.random(in: 1...4, using: &random)).map { _ in
          Node.randomKey(using: &random)
        }
        let path = Path(keys)
        let isRemoval = Int.random(in: 0..<3, using: &random) == 0
        let data = isRemoval ? Node.empty : Node.random(depth: 2, using: &random)
        node.update(at: path, to: data)
        #expect(node[path] == data)
        #expect(Self.isSound(node))
      }
      #expect(before.hash == hash)
    }
  }

  /// Whether no child is empty, keys ascend and the count of priorities is right, at every level.
  private static func isSound(_ node: Node) -> Bool {
    guard let children = node.children else { return true }
    let keys = children.map.map(\.key)
    let prioritized = children.map.count { $0.value.priority != nil }
    return !keys.isEmpty && zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
      && children.prioritizedCount == prioritized
      && children.map.allSatisfy { !$0.value.isEmpty && isSound($0.value) }
  }

  @Test("compares priorities and leaf types")
  func equality() throws {
    #expect(try Node(text: "1") == Node(text: "1.0"))
    #expect(try Node(text: "1") != Node(text: #""1""#))
    #expect(try Node(text: "1") != Node(text: "true"))
    #expect(try Node(text: "1") != Node(text: #"{".value":1,".priority":1}"#))
    #expect(try Node(text: #"{"a":1}"#) != Node(text: #"{"a":1,".priority":1}"#))
    #expect(Node.string("\u{E9}") != Node.string("e\u{301}"))
  }

  @Test("reads a priority as a child")
  func priorityChild() throws {
    let node = try Node(text: #"{"a":{".value":1,".priority":"p"}}"#)
    #expect(node[Path("a/.priority")] == .string("p"))
    #expect(node[ChildKey.priority] == .empty)
    #expect(node.hasChild("a"))
    #expect(!node.hasChild("b"))
  }
}
