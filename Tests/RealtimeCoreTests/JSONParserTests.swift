import RealtimeCore
import TestSupport
import Testing

@Suite("JSONParser")
struct JSONParserTests {
  @Test(
    "rejects invalid JSON",
    arguments: [
      "", " ", "nul", "nulls", "True", "tru", "falsey", "'a'", "\"a", "\"\\", "\"\\u12",
      "\"\\u12g4\"",
      "\"\\x\"", "\"a\nb\"", "\"\u{0}\"", "\"\u{1F}\"", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]",
      "]",
      "{", "{}}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\" 1}", "{,}", "{1:2}", "01",
      "-",
      "-01", "+1", ".5", "1.", "1.e5", "1e", "1e+", "0x10", "1_000", "NaN", "Infinity", "-Infinity",
      "1 2", "1,", "// c\n1", "\u{FEFF}1", "\u{A0}1", "1e400", "-1e400", "\"\\ud800\"",
      "\"\\udc00\"",
      "\"\\ud800x\"", "\"\\ud800\\n\"", "\"\\ud800\\ud800\"", "\"\\udc00\\ud800\"",
    ]
  )
  func refusal(text: String) {
    #expect(throws: JSONError.self) { try JSONParser.parse(text) }
  }

  @Test(
    "parses values",
    arguments: [
      ("null", .null), (" true\r\n", .bool(true)), ("\tfalse ", .bool(false)),
      ("[]", .array([])), ("[ ]", .array([])), ("{ }", .object([])),
      ("[1,[2]]", .array([.integer(1), .array([.integer(2)])])),
      ("{\"a\":{\"b\":null}}", .object(("a", .object(("b", .null))))),
      (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{C}\n\r\t")),
      (#""\u00e9\u0000\uFFFF""#, .string("\u{E9}\u{0}\u{FFFF}")),
      (#""\ud83d\udc35 \uD83D\uDC35""#, .string("🐵 🐵")),
      ("\"\u{7F}\u{2028}\"", .string("\u{7F}\u{2028}")),
    ] as [(String, JSONValue)]
  )
  func values(text: String, value: JSONValue) throws {
    #expect(try JSONParser.parse(text) == value)
  }

  @Test(
    "parses whole numbers within 64 bits as integers",
    arguments: [
      ("0", .integer(0)), ("-0", .integer(0)), ("-0.0", .integer(0)), ("1.0", .integer(1)),
      ("1e2", .integer(100)), ("1E+2", .integer(100)), ("100e-2", .integer(1)),
      ("1.5", .double(1.5)),
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ("9223372036854775808", .double(9_223_372_036_854_775_808)),
      ("-9223372036854775809", .integer(.min)),
      ("1.8446744073709552E19", .double(18_446_744_073_709_551_616)),
      ("9007199254740993", .integer(9_007_199_254_740_993)),
      ("1e308", .double(1e308)), ("5e-324", .double(.leastNonzeroMagnitude)),
      ("1e-400", .integer(0)),
      ("0.1", .double(0.1)), ("123456789012345678901234567890", .double(1.2345678901234568e29)),
    ] as [(String, JSONValue)]
  )
  func numbers(text: String, value: JSONValue) throws {
    #expect(try JSONParser.parse(text) == value)
  }

  @Test("parses a number of a hundred thousand digits")
  func longNumber() throws {
    let text = "0." + String(repeating: "1", count: 100_000)
    #expect(try JSONParser.parse(text) == .double(0.1111111111111111))
  }

  @Test("parses nesting up to its limit and no deeper", arguments: ["[", "{\"a\":"])
  func depth(opening: String) {
    let closing = opening == "[" ? "]" : "}"
    func nested(_ levels: Int) -> String {
      String(repeating: opening, count: levels) + "1" + String(repeating: closing, count: levels)
    }
    #expect(throws: Never.self) { try JSONParser.parse(nested(Limits.jsonDepth)) }
    #expect(throws: JSONError.self) { try JSONParser.parse(nested(Limits.jsonDepth + 1)) }
    #expect(throws: JSONError.self) {
      try JSONParser.parse(String(repeating: opening, count: 100_000))
    }
  }

  @Test("keeps duplicate members; the last one counts")
  func duplicates() throws {
    let json = try JSONParser.parse(#"{"a":1,"b":2,"a":3}"#)
    #expect(json.members?.count == 3)
    #expect(json["a"] == .integer(3))
    #expect(json["c"] == nil)
  }

  @Test("compares member names by code unit")
  func memberNames() throws {
    let json = try JSONParser.parse(#"{"\u00e9":1}"#)
    #expect(json["\u{E9}"] == .integer(1))
    #expect(json["e\u{301}"] == nil)
  }

  @Test("reports the position of an error")
  func offset() throws {
    expectError(\JSONError.offset, 4, saying: "'x'") { try JSONParser.parse("[1, x]") }
  }

  @Test(
    "rejects invalid UTF-8",
    arguments: [
      [0x80], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82], [0xFF],
      [0xF4, 0x90, 0x80, 0x80], [0xC3],
    ] as [[UInt8]]
  )
  func invalidUTF8(bytes: [UInt8]) {
    let plain: [UInt8] = [0x22] + bytes + [0x22]
    #expect(throws: JSONError.self) { try JSONParser.parse(plain) }
    let escaped: [UInt8] = [0x22, 0x5C, 0x6E] + bytes + [0x22]
    #expect(throws: JSONError.self) { try JSONParser.parse(escaped) }
  }

  @Test("parses a noncontiguous collection")
  func lazyBytes() throws {
    let bytes = Array("[1]".utf8).lazy.map { $0 }
    #expect(try JSONParser.parse(bytes) == .array([.integer(1)]))
  }
}
