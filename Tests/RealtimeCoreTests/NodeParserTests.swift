import RealtimeCore
import TestSupport
import Testing

@Suite("Nodes parsed directly from JSON text")
struct NodeParserTests {
  /// The result of either way of parsing a text.
  private enum Outcome: Equatable {
    case node(Node)
    case noJSON
    case noData
  }

  private func direct(_ text: String) -> Outcome {
    let bytes = Array("{\"d\":\(text)}".utf8)
    return bytes.withUnsafeBufferPointer { source in
      do {
        var reader = JSONReader(source)
        _ = try reader.startsObject()
        _ = try reader.nextName()
        let (node, _) = try reader.node()
        guard try reader.nextName() == nil else { return .noJSON }
        try reader.finish()
        return .node(try node.get())
      } catch is NodeError {
        return .noData
      } catch {
        return .noJSON
      }
    }
  }

  private func byValue(_ text: String) -> Outcome {
    do {
      return .node(try Node(json: try JSONParser.parse(text)))
    } catch is NodeError {
      return .noData
    } catch {
      return .noJSON
    }
  }

  @Test(
    "equal those built from a JSON value",
    arguments: [
      "null", "true", "-0", "1.5", "1e3", "\"a\"", "[]", "{}", "[1,null,[2]]",
      #"{"b":1,"a":2}"#, #"{"a":1,"a":null}"#, #"{"a":null,"a":1}"#, #"{"10":1,"9":2,"x":{}}"#,
      #"{".value":1,".priority":2}"#, #"{".value":null,".priority":1,"a":2}"#,
      #"{".value":{"a":1}}"#, #"{".priority":true,"a":1}"#, #"{".priority":[]}"#,
      #"{".sv":"timestamp"}"#, #"{".sv":{"increment":1},".sv":"x"}"#, #"{".x":{"y":1},"a":2}"#,
      #"{"a":{".value":{".sv":"timestamp"},".priority":"p"}}"#, #"{".value":1,"a":2}"#,
      #"{"a":2,".value":1}"#, #"{".value":1,"a":null}"#, #"{"a":null,".value":null}"#,
      #"{"":null}"#,
      #"{"a.b":{}}"#, #"{"":1}"#, #"{".sv":"timestamp","a":1}"#,
      #"{".sv":"timestamp",".priority":1}"#,
      #"{".key":"a"}"#, #"{".priority":{".sv":"timestamp","a":1},"b":1}"#, "{\"a\":1", "[1}",
      "{\"a\":}", "",
      "}", "1 2", #"{"a":"\ud83d\udc35","é":"\u00e9"}"#, #"{".priority":true,"a":}"#,
    ]
  )
  func examples(text: String) {
    #expect(direct(text) == byValue(text))
  }

  @Test(
    "equal those built from a JSON value for strings of any length",
    arguments: Array(0...34)
      + [255, 256, 500, 507, 508, 509, 1_000, 1_016, 1_024, 1_025, 5_000]
  )
  func lengths(count: Int) {
    // Letters that differ, so that one in the wrong place is noticed.
    let text = String((0..<count).map { Character(UnicodeScalar(UInt8(0x61 + $0 % 26))) })
    for example in [
      "\"\(text)", "{\"\(text)\":\"\(text)\"}", "{\"\(text)\":7,\"\(text)z\":70,\"\(text)zz\":7.5}",
      "{\"\(text)é\":\"é\(text)\"}", "\"\(text)\\n\"", "\"\(text)\n\"", "\"\(text)\"",
      "{\"\(text)b\":1}", "{\"a\":\"\(text)\",\"b\":{\"c\":\"\(text)\"}}",
      "{\"a\":\"\(text)\",\"b\":\"\\n\(text)\"}", "[\"\(text)\",[\"\(text)\"]]",
    ] {
      #expect(direct(example) == byValue(example))
    }
  }

  @Test("equal those built from a JSON value for random text", arguments: 0..<20 as Range<UInt64>)
  func model(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<400 {
      var text = Self.text(depth: 0, using: &random)
      if Int.random(in: 0..<4, using: &random) == 0, !text.isEmpty {
        var bytes = Array(text.utf8)
        let place = Int.random(in: bytes.indices, using: &random)
        bytes[place] = Array("{}[],:\"\\ 1a.".utf8).randomElement(using: &random) ?? 0
        text = String(decoding: bytes, as: UTF8.self)
      }
      let expected = byValue(text)
      let actual = direct(text)
      // A deferred value ends where its brackets do, so a text with too many brackets is split
      // differently by the two; both refuse it.
      #expect(actual == expected, "\(text)")
    }
  }

  private static let names = [
    "a", "b", "1", "2", "10", "-1", ".priority", "é",
    "longer than any small", "longer than any small one", "B", "10x", "-", "\\u0061",
    "\\ud83d\\udc35",
    "🐵", "\u{E000}",
  ]

  private static func text(depth: Int, using random: inout SplitMix64) -> String {
    switch Int.random(in: 0..<(depth < 4 ? 9 : 6), using: &random) {
    case 0: return "null"
    case 1: return "true"
    case 2: return String(Int64.random(in: -5...5_000_000_000, using: &random))
    case 3: return String(Double.random(in: -1e6...1e6, using: &random))
    case 4: return "\"plain text of some length, with \\n and \\u00e9\""
    case 5: return "\"🐵\""
    case 6:
      let count = Int.random(in: 0..<4, using: &random)
      return "["
        + (0..<count).map { _ in text(depth: depth + 1, using: &random) }
        .joined(separator: ",") + "]"
    default:
      let count = Int.random(in: 0..<40, using: &random) % Int.random(in: 1..<41, using: &random)
      let members = (0..<count).map { _ in
        // Few, because an object with one of these is seldom valid.
        let isSpecial = Int.random(in: 0..<200, using: &random) == 0
        let name =
          (isSpecial ? [".value", ".sv", ".x"] : names).randomElement(using: &random) ?? "a"
        return "\"\(name)\(Bool.random(using: &random) ? "" : "x")\": "
          + text(depth: depth + 1, using: &random)
      }
      return "{" + members.joined(separator: " ,") + "}"
    }
  }
}
