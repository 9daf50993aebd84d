import RealtimeCore
import Testing

/// Part B of the protocol's gotchas, by number, with test vectors of official clients.
@Suite("Gotchas B: data and ordering")
struct GotchaDataTests {
  @Test(
    "9. 32-bit integer keys sort first, all others in UTF-16 order",
    arguments: [ChildKeyTests.sorted, ChildKeyTests.sortedByFirstClients]
  )
  func keys(sorted: [String]) {
    #expect(sorted.reversed().map { ChildKey($0) }.sorted().map(\.text) == sorted)
  }

  @Test(
    "10. Children become an array if their keys are canonical integers below twice their count",
    arguments: [
      (#"{"1":"a"}"#, #"[null,"a"]"#), (#"{"2":"a"}"#, #"{"2":"a"}"#),
      (#"{"2":"a","3":"b"}"#, #"[null,null,"a","b"]"#),
      (#"{"0":"a","3":"b"}"#, #"["a",null,null,"b"]"#),
      (#"{"0":"a","4":"b"}"#, #"{"0":"a","4":"b"}"#),
      (#"{"00":"a","1":"b"}"#, #"{"00":"a","1":"b"}"#), (#"{"01":"b"}"#, #"{"01":"b"}"#),
      (#"{"-1":"a","0":"b"}"#, #"{"-1":"a","0":"b"}"#), (#"{"0":1,"a":2}"#, #"{"0":1,"a":2}"#),
    ]
  )
  func arrays(data: String, value: String) throws {
    let node = try Node(text: data)
    #expect(node.json(.value).text == value)
    #expect(node.exportText == data)
  }

  @Test("10. Written data is never encoded as an array")
  func writtenArray() throws {
    #expect(try Node(text: #"[1,"a",true,null]"#).exportText == #"{"0":1,"1":"a","2":true}"#)
  }

  @Test(
    "11. Values sort as null, false, true, numbers, strings, objects, then by key",
    arguments: [
      (#"{"i":"v"}"#, "a p q b c d e f 9 10 g h i j m"),
      (#"{"i":"v","sp":"","sin":true}"#, "g h i j m"),
      (#"{"i":"v","ep":3,"ein":true,"l":2,"vf":"l"}"#, "a p"),
      (#"{"i":"v","ep":3,"ein":true,"l":2,"vf":"r"}"#, "9 10"),
      (#"{"i":"v","sp":null,"sin":true,"ep":null,"ein":true}"#, "a p q"),
    ]
  )
  func values(query: String, keys: String) throws {
    #expect(try selected(query) == keys)
  }

  @Test(
    "12. A set drops the priority, a child set on a leaf keeps it, removing the last child drops it"
  )
  func priorities() throws {
    var node = try Node(text: #"{".value":5,".priority":2}"#)
    #expect(node.setting(Path.root, to: .integer(6)).priority == nil)
    node.update(at: "k", to: .integer(1))
    #expect(node.exportText == #"{"k":1,".priority":2}"#)
    node.update(at: "k", to: .empty)
    #expect(node.isEmpty)
    #expect(node.priority == nil)
  }

  @Test("12. An empty child on a leaf or a priority on empty data changes nothing")
  func nothing() throws {
    let leaf = try Node(text: #"{".value":5,".priority":2}"#)
    #expect(leaf.setting(ChildKey("k"), to: .empty) == leaf)
    #expect(Node.empty.setting(Path([.priority]), to: .integer(1)).isEmpty)
    let children = try Node(text: #"{"a":1}"#)
    #expect(children.setting(Path(wire: "b/.priority"), to: .integer(1)) == children)
  }

  @Test(
    "13. A path plus the keys below is limited to 768 bytes, counting one extra per key",
    arguments: [
      (Path.root, "a", 767), (.root, "é", 383), ("x", "a", 765), ("x/y", "a", 763),
    ]
  )
  func pathBytes(path: Path, character: String, most: Int) {
    #expect(problem(path, [String(repeating: character, count: most)]) == nil)
    #expect(problem(path, [String(repeating: character, count: most + 1)]) != nil)
  }

  @Test("13. Data is at most 32 keys deep", arguments: [(Path.root, 32), ("x", 31)])
  func depth(path: Path, most: Int) {
    #expect(problem(path, Array(repeating: "k", count: most)) == nil)
    #expect(problem(path, Array(repeating: "k", count: most + 1)) != nil)
  }

  @Test(
    "13. Keys with forbidden characters are rejected",
    arguments: ["a.b", "a$", "a#", "[", "]", "a/b", "\u{1F}", "\u{7F}", ""]
  )
  func illegalKeys(key: String) {
    #expect(problem(.root, [key]) != nil)
  }

  @Test(
    "13. Keys with unusual legal characters are accepted",
    arguments: ["é", " ", "\"", "%", "\\"]
  )
  func legalKeys(key: String) {
    #expect(problem(.root, [key]) == nil)
  }

  @Test("13. A string is limited to 10 MiB", arguments: [(10_485_760, true), (10_485_761, false)])
  func strings(length: Int, isLegal: Bool) {
    let node = Node.string(String(repeating: "a", count: length))
    #expect((Validation.problem(withWritten: node, at: "s") == nil) == isLegal)
  }

  @Test("13. A priority without data is empty")
  func priorityOfNothing() throws {
    #expect(try Node(text: #"{".priority":5}"#).exportText == "null")
  }

  private func problem(_ path: Path, _ keys: [String]) -> String? {
    let below = Path(keys.map { ChildKey($0) })
    return Validation.problem(withWritten: Node.empty.setting(below, to: .integer(1)), at: path)
  }

  private func selected(_ text: String) throws -> String {
    let query = try Query(json: JSONParser.parse(text))
    let node = try Node(text: QueryTests.data)
    let keys = query.select(from: IndexedNode(node, by: query.index)).map(\.key.text)
    return keys.joined(separator: " ")
  }
}
