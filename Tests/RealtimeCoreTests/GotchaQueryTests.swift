import RealtimeCore
import TestSupport
import Testing

/// A key with the constants that clients send for "after it" and "before it".
struct KeyNeighbours: CustomTestStringConvertible {
  let key: String
  let after: String
  let before: String

  var testDescription: String { key }
}

/// The parts of gotchas C that concern queries, and number 29.
@Suite("Gotchas C and 29: queries and push IDs")
struct GotchaQueryTests {
  @Test("14. A null bound is still a bound")
  func boundAtNull() throws {
    let equal = Query(index: .child("z"), start: QueryBound(nil), end: QueryBound(nil))
    #expect(equal.json.text == #"{"sp":null,"sin":true,"ep":null,"ein":true,"i":"z"}"#)
    #expect(equal.id == #"{"ein":true,"ep":null,"i":"z","sin":true,"sp":null}"#)
    let read = try Query(json: JSONParser.parse(#"{"sp":null,"ep":null,"i":"z"}"#))
    #expect(read == equal)
    #expect(!read.loadsAllData)
    #expect(Query.all.id == "default")
  }

  @Test(
    "15. [MIN_NAME] and [MAX_NAME] lie beyond every key, and bounds are inclusive by default",
    arguments: [
      (#"{"sp":0,"sn":"[MAX_NAME]","sin":false,"i":"v"}"#, "9 10 g h i j m"),
      (#"{"sp":0,"sn":"[MAX_NAME]","i":"v"}"#, "9 10 g h i j m"),
      (#"{"sp":0,"sn":"e","sin":false,"i":"v"}"#, "f 9 10 g h i j m"),
      (#"{"ep":0,"en":"[MIN_NAME]","ein":false,"i":"v"}"#, "a p q b c d"),
      (#"{"sp":5,"sn":"[MAX_NAME]","i":"v"}"#, "g h i j m"),
      (#"{"sp":3,"i":"v"}"#, "9 10 g h i j m"),
    ]
  )
  func sentinels(text: String, keys: String) throws {
    #expect(
      try selected(text, try Node(text: QueryTests.data))
        == keys.split(separator: " ").map(String.init)
    )
  }

  private static let filler = String(repeating: "\u{FFFF}", count: 783)

  /// The constants of the first clients, which have no exclusive bounds.
  static let rows = [
    KeyNeighbours(key: "abc", after: "abc ", before: "abb" + filler),
    KeyNeighbours(key: "5", after: "6", before: "4"),
    KeyNeighbours(key: "2147483647", after: " ", before: "2147483646"),
    KeyNeighbours(key: "-2147483648", after: "-2147483647", before: "[MIN_NAME]"),
    KeyNeighbours(key: " ", after: "  ", before: "2147483647"),
  ]

  @Test(
    "16. A bound at a neighboring key selects the same as an exclusive bound",
    arguments: rows
  )
  func neighbours(row: KeyNeighbours) throws {
    let node = keys(near: row.key)
    let after = #"{"i":".key","sp":\#(quoted(row.after))}"#
    let before = #"{"i":".key","ep":\#(quoted(row.before))}"#
    let exclusiveStart = #"{"i":".key","sp":\#(quoted(row.key)),"sin":false}"#
    let exclusiveEnd = #"{"i":".key","ep":\#(quoted(row.key)),"ein":false}"#
    #expect(try selected(after, node) == selected(exclusiveStart, node))
    #expect(try selected(before, node) == selected(exclusiveEnd, node))
    #expect(try !selected(exclusiveStart, node).contains(row.key))
  }

  @Test("16. Clients that use the push ID alphabet send other neighbors, which work for such keys")
  func neighboursAmongPushIDs() throws {
    var node = Node.empty
    for key in ["abb", "abbz", "abc", "abc-", "abcz", "abd"] {
      node.update(at: Path([ChildKey(key)]), to: .integer(1))
    }
    let filler = String(repeating: "z", count: 783)
    #expect(try selected(#"{"i":".key","sp":"abc-"}"#, node) == ["abc-", "abcz", "abd"])
    #expect(try selected(#"{"i":".key","ep":"abb\#(filler)"}"#, node) == ["abb", "abbz"])
  }

  @Test("16. The neighbor of a number with leading zeros skips keys of equal value")
  func neighboursOfLeadingZeros() throws {
    var node = Node.empty
    for key in ["8", "9", "09", "10"] { node.update(at: Path([ChildKey(key)]), to: .integer(1)) }
    #expect(try selected(#"{"i":".key","ep":"8"}"#, node) == ["8"])
    #expect(try selected(#"{"i":".key","ep":"09","ein":false}"#, node) == ["8", "9"])
  }

  @Test(
    "29. Push IDs begin with the time in an alphabet from - to z",
    arguments: [
      (0, "--------"), (63, "-------z"), (64, "------0-"), (1_388_534_400_000, "-JCA5NF-"),
      (1_700_000_000_000, "-NjEtLV-"),
    ]
  )
  func pushIDs(time: Int64, expected: String) {
    #expect(PushID.timePart(time) == expected)
  }

  @Test("29. Push IDs count up with carry within a millisecond")
  func countingPushIDs() {
    var zeros = PushIDGenerator()
    let first = (0..<3).map { _ in zeros.next(time: 1_700_000_000_001) { 0 } }
    #expect(
      first == ["-NjEtLV0------------", "-NjEtLV0-----------0", "-NjEtLV0-----------1"]
    )
    var full = PushIDGenerator()
    let many = (0..<64).map { _ in full.next(time: 1_700_000_000_002) { 32 } }
    #expect(many.last == "-NjEtLV1VVVVVVVVVVWU")
    #expect(many.map { ChildKey($0) }.sorted().map(\.text) == many)
  }

  /// Every key by which the protocol's order is defined, and those around one key.
  private func keys(near key: String) -> Node {
    var node = Node.empty
    var texts = ChildKeyTests.sorted + ["0", "4", "5", "6", "2147483646", "abb", "abba", "abc"]
    texts += ["abb\u{10FFFF}", "abc ", "abc!", "abc\u{E9}", "abd", "  ", "-2147483647", key]
    for text in texts { node.update(at: Path([ChildKey(text)]), to: .integer(1)) }
    return node
  }

  private func quoted(_ text: String) -> String { JSONValue.string(text).text }

  private func selected(_ text: String, _ node: Node) throws -> [String] {
    let query = try Query(json: JSONParser.parse(text))
    return query.select(from: IndexedNode(node, by: query.index)).map(\.key.text)
  }
}
