import RealtimeCore
import RealtimeServer
import Testing

@Suite("Importing a tree")
struct TreeImporterTests {
  private static let modes = [ImportMode.replacing, .merging(below: { $0.count < 2 })]

  private func read(_ text: String, _ mode: ImportMode) throws {
    var pieces = [Array(text.utf8)]
    var json = JSONTokenizer { pieces.popLast() ?? [] }
    var importer = TreeImporter(nil, mode: mode)
    try importer.addAll(&json)
  }

  private func isRefused(_ text: String, _ mode: ImportMode) throws -> Bool {
    do {
      try read(text, mode)
      return false
    } catch is ImportError {
      return true
    }
  }

  /// Whether a check of the whole tree refuses it.
  private func isInvalid(_ text: String) throws -> Bool {
    Validation.problem(with: try Node(json: JSONParser.parse(text)), at: .root) != nil
  }

  private static let values = [
    "1", "\"x\"", "[1,[2]]", #"{".value":1,".priority":2}"#,
    "\"\(String(repeating: "x", count: 2_000))\"", "{\"\(String(repeating: "é", count: 9))\":1}",
  ]

  @Test("refuses what is nested too deep, and nothing else", arguments: values)
  func depth(value: String) throws {
    for depth in 27...33 {
      let nested =
        String(repeating: #"{"k":"#, count: depth) + value + String(repeating: "}", count: depth)
      let text = "{\"a\":\(nested),\"b\":\(nested)}"
      for mode in Self.modes {
        #expect(try isRefused(text, mode) == isInvalid(text), "\(depth) keys")
      }
    }
  }

  @Test("refuses paths that are too long, and nothing else", arguments: values)
  func length(value: String) throws {
    let first = String(repeating: "f", count: 700)
    for length in 40...70 {
      let second = String(repeating: "é", count: length / 2) + (length.isMultiple(of: 2) ? "" : "s")
      let text = "{\"\(first)\":{\"\(second)\":\(value),\"t\":1},\"u\":{\"v\":\(value)}}"
      for mode in Self.modes {
        #expect(try isRefused(text, mode) == isInvalid(text), "\(length) bytes")
      }
    }
  }

  @Test(
    "refuses a text that is too long, also as a priority and beside what is written already",
    arguments: ["\"c\":T", "\".priority\":T", "\"c\":{\".value\":T}"]
  )
  func longText(member: String) throws {
    let beside = String(repeating: "x", count: 2_000)
    for (count, isRefused) in [(Limits.stringBytes, false), (Limits.stringBytes + 1, true)] {
      let long = "\"\(String(repeating: "x", count: count))\""
      let text = "{\"a\":{\"b\":\"\(beside)\",\(member.replacing("T", with: long))}}"
      #expect(try self.isRefused(text, .replacing) == isRefused)
    }
  }
}
