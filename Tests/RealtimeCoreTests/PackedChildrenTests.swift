import RealtimeCore
import TestSupport
import Testing

@Suite("Packed children")
struct PackedChildrenTests {
  private static let keys = [
    "a", "author", "10", "9", "-1", "é", "🐵", "\u{FB00}", String(repeating: "k", count: 30), "",
  ].map { ChildKey($0) }

  private static func leaf(_ random: inout SplitMix64, kinds: Int = 9) -> Node {
    switch Int.random(in: 0..<kinds, using: &random) {
    case 0: .empty
    case 1: .bool(Bool.random(using: &random))
    case 2: .integer(Int64.random(in: -200...200, using: &random))
    case 3: .integer(Int64.random(in: .min ... .max, using: &random))
    case 4: .leaf(.double(Double.random(in: -1...1, using: &random)))
    case 5: .string(String(repeating: "é", count: Int.random(in: 0...600, using: &random)))
    case 6: .leaf(.deferred(.timestamp))
    case 7: .string("\"quoted\" \u{1} text\n")
    default: Node.integer(1).withPriority(.string("p"))
    }
  }

  @Test(
    "match a dictionary through any changes, whatever is packed",
    arguments: 0..<40 as Range<UInt64>
  )
  func model(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var node = Node.empty
    var model: [Path: Node] = [:]
    for _ in 0..<200 {
      var path: [ChildKey] = [Self.keys[Int.random(in: 0..<Self.keys.count, using: &random)]]
      if Bool.random(using: &random) {
        path.append(Self.keys[Int.random(in: 0..<3, using: &random)])
      }
      // A leaf that becomes children leaves them its priority, which the model ignores.
      let leaf = Self.leaf(&random, kinds: 8)
      let place = Path(path)
      node.update(at: place, to: leaf)
      model = model.filter { leaf.isEmpty ? !place.contains($0.key) : !$0.key.overlaps(place) }
      if !leaf.isEmpty { model[place] = leaf }
      #expect(Self.leaves(node) == model)
    }
    let again = model.reduce(into: Node.empty) { $0.update(at: $1.key, to: $1.value) }
    #expect(again == node)
    #expect(again.hash == node.hash)
  }

  private static func leaves(_ node: Node) -> [Path: Node] {
    var leaves: [Path: Node] = [:]
    func visit(_ node: Node, _ path: Path) {
      guard let children = node.children else {
        if !node.isEmpty { leaves[path] = node }
        return
      }
      #expect(children.count == children.map.map(\.key).count)
      #expect(children.map.map(\.key) == children.map.map(\.key).sorted())
      for (key, child) in children.map {
        #expect(node[key] == child)
        visit(child, path.appending(key))
      }
    }
    visit(node, .root)
    return leaves
  }

  @Test("are written as the same JSON as their value", arguments: 0..<40 as Range<UInt64>)
  func json(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var node = Node.empty
    for _ in 0..<12 {
      let key = Self.keys[Int.random(in: 0..<Self.keys.count, using: &random)]
      node.update(at: Path([key, key]), to: Self.leaf(&random))
      var writer = JSONWriter()
      node.write(to: &writer)
      #expect(writer.text == node.json(.export).text)
      #expect(try Node(json: JSONParser.parse(writer.text)) == node)
    }
  }

  @Test("equal unpacked children, in both directions")
  func mixed() {
    let long = Node.string(String(repeating: "x", count: 2_000))
    var packed = Node.empty.setting("a" as Path, to: .integer(1))
    var mapped = packed.setting("b" as Path, to: long).setting("b" as Path, to: .empty)
    #expect(packed == mapped)
    #expect(mapped == packed)
    mapped.update(at: "a", to: .integer(2))
    #expect(packed != mapped)
    #expect(mapped != packed)
    packed.update(at: "a", to: .leaf(.double(2)))
    #expect(packed == mapped)
  }

  @Test("iterate in both directions and find the neighbors of a key")
  func order() throws {
    let text = #"{"b":2,"10":0,"a":{"y":1,"x":2},"9":true}"#
    let node = try Node(json: JSONParser.parse(text))
    let map = try #require(node.children).map
    #expect(map.map(\.key.text) == ["9", "10", "a", "b"])
    #expect(map.descending { _ in true }.map(\.key.text) == ["b", "a", "10", "9"])
    #expect(map.ascending { $0 < "a" }.map(\.key.text) == ["a", "b"])
    #expect(map.descending { $0 < "a" }.map(\.key.text) == ["10", "9"])
    #expect(map.entry(before: "a")?.key == "10")
    #expect(map.first?.key == "9")
    #expect(map.last?.value == .integer(2))
    #expect(map["c"] == nil)
  }
}
