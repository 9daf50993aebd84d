import Foundation
import RealtimeCore
import RealtimeDatabase
import TestSupport
import Testing

@Suite("Decoding what was stored", .timeLimit(.minutes(2)), .cleansUp)
struct DecoderTests {
  private enum Color: String, Codable, CaseIterable { case red, green }

  private enum Shape: Codable, Equatable {
    case circle(Double)
    case path(points: [[Int]], names: [String: Bool])
  }

  /// A property of each kind; none is an empty container or ends with nil, which no database keeps.
  private struct Sample: Codable, Equatable {
    var text: String
    var isOn: Bool
    var whole: Int
    var small: Int8
    var long: UInt64
    var ratio: Double
    var single: Float
    var price: Decimal
    var bytes: Data
    var day: Date
    var page: URL
    var span: Range<Int>
    var color: Color
    var shape: Shape
    var list: [Int]
    var holes: [String?]
    var lists: [[Bool]]
    var byName: [String: Int]
    var byNumber: [Int: String]
    var byNumbers: [Int: [Int: Double]]
    var byNames: [String: [String: [Color]]]
    var shapes: [String: Shape]
    var inner: [Inner]?
    var only: Inner?
  }

  private struct Inner: Codable, Equatable {
    var userName: String?
    var votes: [String: Bool]
    var days: [Date]
  }

  /// Generates values from a seed.
  private struct Source {
    var random: SplitMix64

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func list<Value>(_ make: (inout Source) -> Value) -> [Value] {
      (0..<number(1...4)).map { _ in make(&self) }
    }

    mutating func maybe<Value>(_ make: (inout Source) -> Value) -> Value? {
      number(0...2) == 0 ? nil : make(&self)
    }

    /// Keys of a dictionary, many of which look like indices.
    mutating func named<Value>(_ make: (inout Source) -> Value) -> [String: Value] {
      let keys = ["0", "1", "2", "3", "7", "01", "-1", "a_b", "x y", "é", "40000", "4294967296"]
      return Dictionary(list { (keys[$0.number(0...keys.count - 1)], make(&$0)) }) { first, _ in
        first
      }
    }

    mutating func numbered<Value>(_ make: (inout Source) -> Value) -> [Int: Value] {
      Dictionary(list { ($0.number(-1...($0.number(0...1) == 0 ? 4 : 1 << 40)), make(&$0)) }) {
        first,
        _ in first
      }
    }

    mutating func color() -> Color { number(0...1) == 0 ? .red : .green }

    mutating func shape() -> Shape {
      if number(0...1) == 0 { return .circle(Double(number(0...9)) / 4) }
      return .path(
        points: list { $0.list { $0.number(0...9) } },
        names: named { $0.number(0...1) == 0 }
      )
    }

    mutating func date() -> Date { Date(timeIntervalSince1970: Double(number(0...1 << 34)) / 8) }

    mutating func inner() -> Inner {
      Inner(
        userName: maybe { "n\($0.number(0...9))" },
        votes: named { $0.number(0...1) == 0 },
        days: list { $0.date() }
      )
    }

    mutating func sample() -> Sample {
      let start = number(-9...9)
      return Sample(
        text: ["", "1", "null", "é\n\"\\\u{1F600}"][number(0...3)],
        isOn: number(0...1) == 0,
        whole: number(.min ... .max),
        small: Int8(number(-128...127)),
        long: UInt64(number(0 ... .max)),
        ratio: Double.random(in: -1e12...1e12, using: &random),
        single: Float.random(in: -9...9, using: &random),
        price: Decimal(number(0...99_999)) / 100,
        bytes: Data(list { UInt8($0.number(0...255)) }),
        day: date(),
        page: URL(string: "https://example.org/\(number(0...9))") ?? URL(fileURLWithPath: "/"),
        span: start..<start + number(1...9),
        color: color(),
        shape: shape(),
        list: list { $0.number(-2...2) },
        holes: (0..<number(0...9)).map { _ in maybe { _ in "x" } } + ["end"],
        lists: list { $0.list { $0.number(0...1) == 0 } },
        byName: named { $0.number(0...9) },
        byNumber: numbered { "\($0.number(0...9))" },
        byNumbers: numbered { $0.numbered { Double($0.number(0...9)) / 2 } },
        byNames: named { $0.named { $0.list { $0.color() } } },
        shapes: named { $0.shape() },
        inner: maybe { $0.list { $0.inner() } },
        only: maybe { $0.inner() }
      )
    }
  }

  @Test("Values of every kind come back as they were written", arguments: 0...5)
  func identity(seed: Int) async throws {
    let encoder = Database.Encoder()
    let decoder = Database.Decoder()
    if seed % 2 == 1 {
      encoder.dataEncodingStrategy = .deferredToData
      decoder.dataDecodingStrategy = .deferredToData
      encoder.dateEncodingStrategy = .millisecondsSince1970
      decoder.dateDecodingStrategy = .millisecondsSince1970
    }
    if seed % 3 == 1 {
      encoder.keyEncodingStrategy = .convertToSnakeCase
      decoder.keyDecodingStrategy = .convertFromSnakeCase
    }
    let ref = try await Station().open().reference(withPath: "samples")
    var source = Source(random: SplitMix64(seed: UInt64(seed)))
    let samples = (0..<60).map { _ in source.sample() }
    try await ref.setValue(from: samples, encoder: encoder)
    let snapshot = try await ref.getData()
    #expect(try snapshot.data(as: [Sample].self, decoder: decoder) == samples)
    let value = try #require(snapshot.value)
    #expect(try decoder.decode([Sample].self, from: value) == samples)
    let numbered = Dictionary(uniqueKeysWithValues: samples.enumerated().map { ($0, $1) })
    #expect(try snapshot.data(as: [Int: Sample].self, decoder: decoder) == numbered)
    let named = Dictionary(uniqueKeysWithValues: numbered.map { ("\($0)", $1) })
    #expect(try snapshot.data(as: [String: Sample].self, decoder: decoder) == named)
  }

  private static func result<Value: Decodable>(_ decode: () throws -> Value) -> String {
    func place(_ path: [any CodingKey]) -> String {
      path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: "/")
    }
    do {
      return "\(try decode())"
    } catch DecodingError.typeMismatch(_, let context) {
      return "mismatch at \(place(context.codingPath))"
    } catch DecodingError.valueNotFound(_, let context) {
      return "no value at \(place(context.codingPath))"
    } catch DecodingError.keyNotFound(let key, let context) {
      return "no \(key.stringValue) at \(place(context.codingPath))"
    } catch DecodingError.dataCorrupted(let context) {
      return "corrupted at \(place(context.codingPath))"
    } catch {
      return "\(error)"
    }
  }

  /// What the decoder makes of JSON, and what Foundation's does.
  private func both<Value: Decodable>(
    _ type: Value.Type,
    _ json: String,
    _ set: (Database.Decoder, JSONDecoder) -> Void
  ) throws -> (ours: String, theirs: String) {
    let (decoder, model) = (Database.Decoder(), JSONDecoder())
    set(decoder, model)
    let text = Data(json.utf8)
    let value = try JSONSerialization.jsonObject(with: text, options: .fragmentsAllowed)
    return (
      Self.result { try decoder.decode(type, from: value) },
      Self.result { try model.decode(type, from: text) }
    )
  }

  private final class Base: Decodable, CustomStringConvertible {
    let name: String
    let inside: String
    var description: String { "\(name) \(inside)" }

    private enum Key: CodingKey { case name, list }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      name = try String(from: try container.superDecoder(forKey: .name))
      var list = try container.nestedUnkeyedContainer(forKey: .list)
      let isNil = try list.decodeNil()
      let first = try list.decode(Int.self)
      let inner = try list.nestedContainer(keyedBy: Key.self).decode(Bool.self, forKey: .name)
      var rest = try list.nestedUnkeyedContainer()
      let last = try rest.superDecoder().singleValueContainer().decode([Int].self)
      inside = "\(isNil) \(first) \(inner) \(last) \(rest.isAtEnd) \(list.count ?? -1)"
    }
  }

  @Test("Values that do not depend on a container's form decode as in Foundation")
  func likeFoundation() throws {
    let texts = [
      "null", "true", "1", "0", "-1", "1.5", "300", "1e300", "9223372036854775807", "\"\"", "\"x\"",
      "\"AQI=\"", "\"https://e.org\"", "\"2026-01-02T03:04:05Z\"", "\"+inf\"", "\"red\"", "[1,2]",
      "[null,1]", "[1,\"x\"]", "[[1],[2,3]]", "{\"a\":1}", "{\"a\":null}", "{\"a\":{\"b\":[true]}}",
      "{\"user_name\":\"u\",\"votes\":{\"a_b\":true},\"days\":[5]}", "{\"votes\":{},\"days\":[]}",
      "{\"votes\":{\"a\":1},\"days\":[]}", "{\"_user_name_\":1}", "{\"circle\":{\"_0\":2}}",
      "{\"path\":{\"points\":[[1]],\"names\":{\"a\":true}}}", "{\"circle\":{\"_0\":\"x\"}}",
      "{\"name\":\"n\",\"list\":[null,3,{\"name\":true},[[1,2]]]}", "{\"name\":\"n\",\"list\":[1]}",
    ]
    let settings: [(Database.Decoder, JSONDecoder) -> Void] = [
      { _, _ in },
      { decoder, model in
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        model.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        model.dateDecodingStrategy = .iso8601
        decoder.dataDecodingStrategy = .deferredToData
        model.dataDecodingStrategy = .deferredToData
      },
      { decoder, model in
        let floats = JSONDecoder.NonConformingFloatDecodingStrategy.convertFromString(
          positiveInfinity: "+inf",
          negativeInfinity: "-inf",
          nan: "nan"
        )
        decoder.nonConformingFloatDecodingStrategy = floats
        model.nonConformingFloatDecodingStrategy = floats
        decoder.dateDecodingStrategy = .custom { try Date(from: $0) + 1 }
        model.dateDecodingStrategy = .custom { try Date(from: $0) + 1 }
        decoder.dataDecodingStrategy = .custom { Data([try UInt8(from: $0)]) }
        model.dataDecodingStrategy = .custom { Data([try UInt8(from: $0)]) }
        decoder.keyDecodingStrategy = .custom {
          $0[$0.count - 1].stringValue == "a" ? Key("b") : Key("a")
        }
        model.keyDecodingStrategy = .custom {
          $0[$0.count - 1].stringValue == "a" ? Key("b") : Key("a")
        }
      },
    ]
    for (number, set) in settings.enumerated() {
      for text in texts {
        let results = [
          try both(Bool.self, text, set), try both(Int.self, text, set),
          try both(UInt8.self, text, set), try both(UInt64.self, text, set),
          try both(Double.self, text, set), try both(Float.self, text, set),
          try both(String.self, text, set), try both(Decimal.self, text, set),
          try both(Date.self, text, set), try both(Data.self, text, set),
          try both(URL.self, text, set), try both(Color.self, text, set),
          try both(Shape.self, text, set), try both(Int?.self, text, set),
          try both([Int].self, text, set), try both([Int?].self, text, set),
          try both([[Int]].self, text, set), try both(Range<Int>.self, text, set),
          try both(Inner.self, text, set), try both(Inner?.self, text, set),
          try both([String: Int?].self, text, set), try both(Base.self, text, set),
          try both([String: [String: [Bool]]].self, text, set),
        ]
        for (place, result) in results.enumerated() {
          // Of null as a Boolean, Foundation says that it is something else, and of other types that
          // it is missing. A container in another form may be what the type asks for.
          let isMismatch = result.theirs.hasPrefix("mismatch")
          if isMismatch && (text == "null" || text.contains { "[{".contains($0) }) { continue }
          #expect(result.ours == result.theirs, "setting \(number), type \(place), \(text)")
        }
      }
    }
  }

  // Differs: ``Database/Decoder`` makes an array
  @Test("Children with index keys decode as an array if the type asks for one, with nil in gaps")
  func sparse() throws {
    let decoder = Database.Decoder()
    #expect(try decoder.decode([Int?].self, from: ["4": 1]) == [nil, nil, nil, nil, 1])
    #expect(try decoder.decode([Int].self, from: ["1": 5, "0": 4]) == [4, 5])
    #expect(try decoder.decode([Int?].self, from: [String: Int]()).isEmpty)
    #expect(try decoder.decode([[Int?]].self, from: ["0": ["2": 1]]) == [[nil, nil, 1]])
    #expect(try decoder.decode([Int: Int].self, from: [NSNull(), 1]) == [1: 1])
    #expect(
      Self.result { try decoder.decode([Int].self, from: ["1": 5]) }
        == "no value at 0"
    )
    // A stranger's data neither fill the memory nor pass for an array.
    for data in [["2000000000": 1], ["4294967295": 1], ["1026": 1], ["-1": 1], ["01": 1], ["x": 1]]
    {
      let result = Self.result { try decoder.decode([Int?].self, from: data) }
      #expect(result == "mismatch at ", "\(data)")
    }
  }

  @Test("An error names the path, even below a dictionary that looks like an array")
  func places() throws {
    let decoder = Database.Decoder()
    let data: [String: Any] = ["a": [["b": 1], ["b": "x"]]]
    let result = Self.result {
      try decoder.decode([String: [String: [String: Int]]].self, from: data)
    }
    #expect(result == "mismatch at a/1/b")
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ text: String) { stringValue = text }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }
}
