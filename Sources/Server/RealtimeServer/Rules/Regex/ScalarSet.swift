internal import RealtimeCore

/// A set of characters: ranges, with a bitmap for ASCII.
struct ScalarSet: Hashable, Sendable {
  private(set) var ranges: [ClosedRange<UInt32>] = []
  private(set) var isNegated = false
  private var lowBits: UInt64 = 0
  private var highBits: UInt64 = 0

  init(_ ranges: [ClosedRange<UInt32>] = [], isNegated: Bool = false) {
    for range in ranges { insert(range) }
    self.isNegated = isNegated
  }

  init(_ scalar: Unicode.Scalar) {
    insert(scalar.value...scalar.value)
  }

  mutating func insert(_ range: ClosedRange<UInt32>) {
    ranges.append(range)
    for value in range {
      if value < 64 {
        lowBits |= 1 << UInt64(value)
      } else if value < 128 {
        highBits |= 1 << UInt64(value - 64)
      } else {
        return
      }
    }
  }

  /// Adds another set, which may be negated.
  mutating func insert(_ other: ScalarSet) {
    for range in other.isNegated ? other.gaps : other.ranges { insert(range) }
  }

  func negated() -> ScalarSet { ScalarSet(ranges, isNegated: !isNegated) }

  private var gaps: [ClosedRange<UInt32>] {
    var gaps: [ClosedRange<UInt32>] = []
    var next: UInt32 = 0
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound > next { gaps.append(next...(range.lowerBound - 1)) }
      next = max(next, range.upperBound + 1)
    }
    if next <= 0x10FFFF { gaps.append(next...0x10FFFF) }
    return gaps
  }

  func contains(_ value: UInt32) -> Bool { isListed(value) != isNegated }

  /// Whether the set contains a character or one of its other cases.
  func contains(_ value: UInt32, otherCases: [UInt32]) -> Bool {
    (isListed(value) || otherCases.contains(where: isListed)) != isNegated
  }

  /// Searches valid UTF-8 for a member.
  ///
  /// - Returns: Whether there is one, and the number of characters before it.
  /// - Complexity: O(bytes · log ranges), O(bytes) for ASCII
  func search(_ bytes: UnsafeBufferPointer<UInt8>) -> (isFound: Bool, passed: Int) {
    var passed = 0
    var index = 0
    let isWithoutPrintable = !hasPrintable
    while index < bytes.count {
      if isWithoutPrintable {
        let count = bytes.printableLength(from: index)
        (index, passed) = (index + count, passed + count)
        guard index < bytes.count else { break }
      }
      let byte = bytes[index]
      if byte < 128 {
        let bits = byte < 64 ? lowBits : highBits
        if (bits >> UInt64(byte & 63) & 1 == 1) != isNegated { return (true, passed) }
        index += 1
      } else {
        // The lead byte determines the length; each further byte contributes six bits.
        let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
        let rest = bytes[(index + 1)..<min(index + length, bytes.count)]
        let lead = UInt32(byte & (0x7F >> UInt8(length)))
        if contains(rest.reduce(lead) { $0 << 6 | UInt32($1 & 0x3F) }) { return (true, passed) }
        index += length
      }
      passed += 1
    }
    return (false, passed)
  }

  /// Whether any printable ASCII character is a member.
  private var hasPrintable: Bool {
    let (low, high) = (lowBits >> 32, highBits & ~(1 << 63))
    return isNegated ? low != .max >> 32 || high != .max >> 1 : low != 0 || high != 0
  }

  /// Sorts and merges the ranges, as the binary search requires.
  mutating func normalize() {
    var joined: [ClosedRange<UInt32>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = joined.last, range.lowerBound <= last.upperBound {
        let upper = max(last.upperBound, range.upperBound)
        joined[joined.count - 1] = last.lowerBound...upper
      } else {
        joined.append(range)
      }
    }
    ranges = joined
  }

  private func isListed(_ value: UInt32) -> Bool {
    if value < 64 { return lowBits >> UInt64(value) & 1 == 1 }
    if value < 128 { return highBits >> UInt64(value - 64) & 1 == 1 }
    let index = ranges.partitioningIndex { $0.upperBound >= value }
    return index < ranges.count && ranges[index].contains(value)
  }

  /// The other cases of a character, as far as they are single characters.
  static func otherCases(_ value: UInt32) -> [UInt32] {
    if value < 128 {
      let isLetter = (0x41...0x5A).contains(value & ~0x20)
      return isLetter ? [value ^ 0x20] : []
    }
    guard let properties = Unicode.Scalar(value)?.properties else { return [] }
    return [properties.lowercaseMapping, properties.uppercaseMapping].compactMap {
      let scalars = $0.unicodeScalars
      return scalars.count == 1 ? scalars.first?.value : nil
    }
  }

  static let digits = ScalarSet([0x30...0x39])
  static let wordCharacters = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
  static let whiteSpace = ScalarSet([
    0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
    0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
  ])
  static let allButLineBreaks = ScalarSet(
    [0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029],
    isNegated: true
  )
}

extension UnsafeBufferPointer<UInt8> {
  /// Counts the bytes of printable ASCII from an offset on, eight at a time.
  ///
  /// Each test sets the top bit of the bytes it finds: those with their own top bit set, those below
  /// 0x20, and 0x7F, which overflows into it.
  fileprivate func printableLength(from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let bytes = UnsafeRawBufferPointer(self)
    var index = start
    // Safety: the condition of the loop keeps all eight bytes within the buffer.
    while index + 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let found = (word | (word &- ones &* 0x20) | (word &+ ones)) & (ones << 7)
      if found != 0 { break }
      index += 8
    }
    return index - start
  }
}
