import RealtimeCore
import TestSupport
import Testing

@Suite("IndexEntry")
struct IndexEntryTests {
  private static func value(_ random: inout SplitMix64) -> IndexValue {
    let whole: [Int64] = [
      0, 1, -1, 2, 7, -8, 1_700_000_000_000, 1 << 50, -1 << 50, 1 << 51, (1 << 53) + 1, 1 << 53,
      .max, .max - 1, .min,
    ]
    let broken = [
      0.5, -0.5, 0.1, 0.1.nextUp, 0.1.nextDown, -0.1.nextUp, 1e300, -1e300, .leastNonzeroMagnitude,
      2e19,
    ]
    let texts = [
      "", "a", "ab", "a\0", "abcdefg", "abcdefgh", "abcdefghi", "abcdefgj", "\u{FB00}", "\u{10000}",
    ]
    switch random.below(8) {
    case 0: return .missing
    case 1: return .object
    case 2: return .leaf(.bool(random.once(in: 2)))
    case 3: return .leaf(.deferred(random.pick([.timestamp, .incrementInteger(1)])))
    case 4, 5:
      return .leaf(.integer(random.pick(whole) &+ Int64(random.below(3)) &- 1))
    case 6: return .leaf(.double(random.pick(broken)))
    default: return .leaf(.string(random.pick(texts)))
    }
  }

  @Test("sorts by value, then by key", arguments: 0..<20 as Range<UInt64>)
  func order(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<2_000 {
      let (left, right) = (Self.value(&random), Self.value(&random))
      let keys: [ChildKey] = ["1", "a", "b"]
      let (leftKey, rightKey) = (random.pick(keys), random.pick(keys))
      let first = IndexEntry(value: left, key: leftKey)
      let second = IndexEntry(value: right, key: rightKey)
      let isLess = left < right || (!(right < left) && leftKey < rightKey)
      #expect((first < second) == isLess, "\(left) \(right)")
      #expect((first == second) == (left == right && leftKey == rightKey), "\(left) \(right)")
      if first == second { #expect(first.hashValue == second.hashValue) }
      #expect(first.value == left && first.key == leftKey)
    }
  }
}
