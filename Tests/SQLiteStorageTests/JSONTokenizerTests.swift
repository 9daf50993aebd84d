import RealtimeCore
import StoreTestSupport
import TestSupport
import Testing

@Suite("JSONTokenizer")
struct JSONTokenizerTests {
  /// Supplies a text in pieces of random lengths.
  private func tokenizer(_ bytes: [UInt8], seed: UInt64 = 1) -> JSONTokenizer {
    var random = SplitMix64(seed: seed)
    var rest = bytes[...]
    return JSONTokenizer {
      let piece = rest.prefix(Int.random(in: 1...9, using: &random))
      rest = rest.dropFirst(piece.count)
      return Array(piece)
    }
  }

  private func readAll(_ text: String) throws {
    var tokenizer = tokenizer(Array(text.utf8))
    while try tokenizer.next() != nil {}
  }

  /// Reassembles a value from its tokens.
  private func value(_ bytes: [UInt8], seed: UInt64 = 1) throws -> JSONValue {
    var tokenizer = tokenizer(bytes, seed: seed)
    let first = try #require(try tokenizer.next())
    let result = try value(first, &tokenizer)
    #expect(try tokenizer.next() == nil)
    return result
  }

  private func value(
    _ token: JSONTokenizer.Token,
    _ tokenizer: inout JSONTokenizer
  ) throws -> JSONValue {
    switch token {
    case .scalar(let value): return value
    case .arrayStart:
      var elements: [JSONValue] = []
      while let next = try tokenizer.next(), next != .arrayEnd {
        elements.append(try value(next, &tokenizer))
      }
      return .array(elements)
    case .objectStart:
      var members: [JSONMember] = []
      while case .name(let name)? = try tokenizer.next() {
        let next = try #require(try tokenizer.next())
        members.append(JSONMember(name, try value(next, &tokenizer)))
      }
      return .object(members)
    case .name, .objectEnd, .arrayEnd:
      Issue.record("\(token) in the place of a value")
      return .null
    }
  }

  @Test(
    "returns what the parser returns, however the text is split",
    arguments: 1...4 as ClosedRange<UInt64>
  )
  func values(seed: UInt64) throws {
    var model = StoreModel(seed: seed)
    for _ in 0..<60 {
      _ = model.nextBatch()
      let text = model.root.json(.export).text
      #expect(try value(Array(text.utf8), seed: seed) == JSONParser.parse(text))
    }
  }

  @Test(
    "reads every kind of value with any white space",
    arguments: [
      "null", " true ", "\t-0.5e+3\r\n", "[]", "[ ]", "{ }", "[1 , [ 2,{} ] ]", "\"\"",
      "{\"a\\\"}\" : [ \"\\\\\", \"\\ud83d\\udc35\" ] }", "12345678901234567890",
    ]
  )
  func forms(text: String) throws {
    for seed in 1...8 as ClosedRange<UInt64> {
      #expect(try value(Array(text.utf8), seed: seed) == JSONParser.parse(text))
    }
  }

  @Test(
    "refuses what the parser refuses",
    arguments: [
      "", " ", "[", "]", "{", "}", "[1", "[1,", "[1,]", "{\"a\"", "{\"a\":", "{\"a\":1",
      "{\"a\":1,",
      "{\"a\":1,}", "{a:1}", "{1:1}", "[1 2]", "{\"a\" 1}", "1 2", "\"a", "\"a\\", "tru", "truex",
      "-", "01", "1.", "nul", "[1}", "{\"a\":1]", "\u{1}", "\"\u{1}\"", "\"\\x\"", "\"\\ud800\"",
    ]
  )
  func refusals(text: String) {
    #expect(throws: JSONError.self) { try JSONParser.parse(text) }
    #expect(throws: JSONError.self) { try readAll(text) }
  }

  @Test("counts lines and bytes across chunks")
  func places() {
    let text = "{\n  \"a\": 1,\n  \"b\": x\n}"
    var tokenizer = tokenizer(Array(text.utf8))
    let error = #expect(throws: JSONError.self) { while try tokenizer.next() != nil {} }
    #expect(tokenizer.place.line == 3)
    #expect(error?.offset == text.utf8.count - 3)
  }

  @Test("accepts nesting as deep as the parser does", arguments: [127, 128, 129, 130, 10_000])
  func depth(count: Int) {
    for inner in ["", "1"] {
      let text = String(repeating: "[", count: count) + inner + String(repeating: "]", count: count)
      let expected = (try? JSONParser.parse(text)) != nil
      let found = (try? readAll(text)) != nil
      #expect(found == expected)
    }
  }
}
