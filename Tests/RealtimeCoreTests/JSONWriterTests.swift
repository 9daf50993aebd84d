import Foundation
import RealtimeCore
import TestSupport
import Testing

@Suite("JSONWriter")
struct JSONWriterTests {
  private func text(_ value: Double) -> String {
    var writer = JSONWriter()
    writer.write(value)
    return writer.text
  }

  @Test(
    "writes whole numbers without point or exponent only within 64 bits",
    arguments: [
      (0, "0"), (-0.0, "0"), (1, "1"), (-1, "-1"), (1e15, "1000000000000000"),
      (9_007_199_254_740_992, "9007199254740992"), (1e20, "1e+20"),
      (-1e20, "-1e+20"), (18_446_744_073_709_551_616, "1.8446744073709552e+19"),
      (1.5, "1.5"), (0.1, "0.1"),
    ]
  )
  func numbers(value: Double, expected: String) {
    #expect(text(value) == expected)
  }

  @Test("round-trips every number")
  func roundTrip() throws {
    var random = SplitMix64(seed: 21)
    var values: [Double] = [
      .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e21, 1e22, 1e-7, 0.1 + 0.2, 1e300,
    ]
    while values.count < 20_000 {
      let value = Double(bitPattern: random.next())
      if value.isFinite { values.append(value) }
    }
    for value in values {
      let expected = LeafValue(number: value).json
      #expect(try JSONParser.parse(text(value)) == expected)
    }
  }

  @Test("writes null for non-finite numbers", arguments: [Double.nan, .infinity, -.infinity])
  func notFinite(value: Double) {
    #expect(text(value) == "null")
  }

  @Test("escapes only what JSON requires")
  func strings() {
    #expect(
      JSONValue.string("a\"\\\n\r\t\u{0}\u{1F}\u{7F}é🐵/").text
        == "\"a\\\"\\\\\\n\\r\\t\\u0000\\u001f\u{7F}é🐵/\""
    )
  }

  @Test("writes members in order, or sorted on request")
  func members() throws {
    let json = try JSONParser.parse(#"{"b":[1,{"z":1,"a":2}],"a":null}"#)
    #expect(json.text == #"{"b":[1,{"z":1,"a":2}],"a":null}"#)
    #expect(json.canonicalText == #"{"a":null,"b":[1,{"a":2,"z":1}]}"#)
  }

  @Test("writes leaves that another JSON implementation parses the same")
  func foundation() throws {
    var random = SplitMix64(seed: 4)
    for _ in 0..<1_000 {
      let json = Node.randomLeaf(using: &random).json
      let other = try JSONSerialization.jsonObject(
        with: Data(json.text.utf8),
        options: .fragmentsAllowed
      )
      let again = try JSONSerialization.data(withJSONObject: other, options: .fragmentsAllowed)
      #expect(try JSONParser.parse(again) == json)
    }
  }
}
