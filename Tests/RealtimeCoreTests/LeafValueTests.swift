import RealtimeCore
import TestSupport
import Testing

@Suite("LeafValue")
struct LeafValueTests {
  @Test("sorts as false, true, numbers, strings")
  func order() {
    let sorted: [LeafValue] = [
      .deferred(.timestamp), .bool(false), .bool(true), .double(-1e300), .integer(.min),
      .integer(-1),
      .double(-0.5), .integer(0), .double(0.5), .integer(1), .double(1.5),
      .integer(9_007_199_254_740_992), .integer(9_007_199_254_740_993), .integer(.max - 1),
      .integer(.max), .double(9_223_372_036_854_775_808), .double(1e300), .string(""), .string("A"),
      .string("a"), .string("e\u{301}"), .string("é"), .string("🐵"), .string("\u{E000}"),
    ]
    for (index, left) in sorted.enumerated() {
      for (other, right) in sorted.enumerated() {
        #expect((left < right) == (index < other), "\(left) \(right)")
        #expect((left == right) == (index == other), "\(left) \(right)")
      }
    }
  }

  @Test("is equal, and hashes equally, for equal numbers")
  func equality() {
    let pairs: [(LeafValue, LeafValue)] = [
      (.integer(1), .double(1)), (.integer(0), .double(-0.0)),
      (.integer(.min), .double(-9_223_372_036_854_775_808)),
      (.integer(9_007_199_254_740_992), .double(9_007_199_254_740_992)),
    ]
    for (left, right) in pairs {
      #expect(left == right)
      #expect(left.hashValue == right.hashValue)
      #expect(!(left < right) && !(right < left))
    }
  }

  @Test("stores whole numbers as integers")
  func numbers() {
    if case .integer(5) = LeafValue(number: 5) {} else { Issue.record("5 is not an integer") }
    if case .integer(0) = LeafValue(number: -0.0) {} else { Issue.record("-0 is not an integer") }
    if case .double = LeafValue(number: 1e19) {} else { Issue.record("1e19 is not a double") }
  }

  @Test("has a strict order for any mix of numbers")
  func strictOrder() {
    var random = SplitMix64(seed: 17)
    let bases: [Int64] = [0, 1 << 53, (1 << 53) + 1, .max, .max - 1, .min, .min + 1, 1 << 60]
    func number() -> LeafValue {
      let base = bases[Int.random(in: 0..<bases.count, using: &random)]
      return Bool.random(using: &random) ? .integer(base) : .double(Double(base))
    }
    for _ in 0..<20_000 {
      let (a, b, c) = (number(), number(), number())
      if a < b, b < c { #expect(a < c, "\(a) \(b) \(c)") }
      if a == b, b == c { #expect(a == c, "\(a) \(b) \(c)") }
      if a == b { #expect(a.hashValue == b.hashValue) }
      #expect([a < b, a == b, b < a].count { $0 } == 1, "\(a) \(b)")
    }
  }
}
