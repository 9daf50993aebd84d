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

/// The first clients have no exclusive bounds and name the neighbor of a key instead.
@Suite("Queries bounded by a neighboring key")
struct QueryNeighbourTests {
  private static let filler = String(repeating: "\u{FFFF}", count: 783)

  /// The constants of the first clients.
  static let rows = [
    KeyNeighbours(key: "abc", after: "abc ", before: "abb" + filler),
    KeyNeighbours(key: "5", after: "6", before: "4"),
    KeyNeighbours(key: "2147483647", after: " ", before: "2147483646"),
    KeyNeighbours(key: "-2147483648", after: "-2147483647", before: "[MIN_NAME]"),
    KeyNeighbours(key: " ", after: "  ", before: "2147483647"),
  ]

  @Test("A bound at a neighboring key selects the same as an exclusive bound", arguments: rows)
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

  @Test("Clients that use the push ID alphabet send other neighbors, which work for such keys")
  func neighboursAmongPushIDs() throws {
    var node = Node.empty
    for key in ["abb", "abbz", "abc", "abc-", "abcz", "abd"] {
      node.update(at: Path([ChildKey(key)]), to: .integer(1))
    }
    let filler = String(repeating: "z", count: 783)
    #expect(try selected(#"{"i":".key","sp":"abc-"}"#, node) == ["abc-", "abcz", "abd"])
    #expect(try selected(#"{"i":".key","ep":"abb\#(filler)"}"#, node) == ["abb", "abbz"])
  }

  @Test("The neighbor of a number with leading zeros skips keys of equal value")
  func neighboursOfLeadingZeros() throws {
    var node = Node.empty
    for key in ["8", "9", "09", "10"] { node.update(at: Path([ChildKey(key)]), to: .integer(1)) }
    #expect(try selected(#"{"i":".key","ep":"8"}"#, node) == ["8"])
    #expect(try selected(#"{"i":".key","ep":"09","ein":false}"#, node) == ["8", "9"])
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
