/// The name of a child: ordered integers first, then by UTF-16 code units, compared without Unicode equivalence.
///
/// Swift's `String` treats composed and decomposed characters as equal; a database does not. Two
/// keys are equal when their code units are, and order is the one that official clients use: keys
/// that read as 32-bit integers come first, by number, then all others by UTF-16 code unit.
///
/// A key of up to 21 bytes, as a push id is, lies in the value itself, in a form that compares by a
/// few integers; a longer one is text, with the same form of its beginning.
package struct ChildKey: Hashable, Comparable, Sendable {
  // The beginning lies open, since it is what nearly all comparisons are decided by.
  private let first: UInt64
  private let second: UInt64
  private let rest: Rest

  /// What comes after the beginning; with it the key takes 24 bytes.
  private enum Rest: Sendable {
    case short(SortableText.Tail)
    case long(LongKey)
  }

  /// A key that is too long to lie in the value.
  private final class LongKey: Sendable {
    let start: SortableText
    let text: String

    init(_ start: SortableText, _ text: String) {
      self.start = start
      self.text = text
    }
  }

  /// Makes a key of any text; whether the text is legal in a database is checked elsewhere.
  package init(_ text: String) {
    var text = text
    self = text.withUTF8 { ChildKey(validUTF8: $0) }
  }

  /// Makes a key of bytes that are known to be UTF-8.
  init(validUTF8 bytes: UnsafeBufferPointer<UInt8>) {
    let start = SortableText(bytes)
    first = start.first
    second = start.second
    rest =
      start.isWhole
      ? .short(start.tail) : .long(LongKey(start, String(decoding: bytes, as: UTF8.self)))
  }

  /// Makes a key of text, wherever that lies.
  package init(_ text: LeafText) {
    self.init(validUTF8: text.utf8)
  }

  /// The pseudo key under which a node's own priority is addressed.
  package static let priority = ChildKey(".priority")

  private var start: SortableText {
    switch rest {
    case .short(let tail): SortableText(first: first, second: second, tail: tail)
    case .long(let key): key.start
    }
  }

  /// The key as text.
  ///
  /// - Complexity: O(length)
  package var text: String {
    switch rest {
    case .short: start.withUTF8 { String(decoding: $0, as: UTF8.self) }
    case .long(let key): key.text
    }
  }

  /// Hands out the UTF-8 of the key, without making text of it.
  package func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    switch rest {
    case .short: return start.withUTF8(body)
    case .long(let key):
      var text = key.text
      return text.withUTF8(body)
    }
  }

  /// The length in bytes of UTF-8.
  package var byteCount: Int {
    switch rest {
    case .short: start.byteCount
    case .long(let key): key.text.utf8.count
    }
  }

  /// The value of this key as a 32-bit integer, or nil when it does not read as one.
  package var integer: Int64? { start.integer }

  @inline(__always)
  package static func == (left: ChildKey, right: ChildKey) -> Bool {
    left.first == right.first && left.second == right.second && left.endsLike(right)
  }

  @inline(__always)
  package static func < (left: ChildKey, right: ChildKey) -> Bool {
    if left.first != right.first { return left.first < right.first }
    if left.second != right.second { return left.second < right.second }
    return left.endsBefore(right)
  }

  private func endsLike(_ other: ChildKey) -> Bool {
    // One after the other: to match both as a pair would copy them first.
    if case .short(let tail) = rest {
      if case .short(let otherTail) = other.rest { return tail == otherTail }
      return false
    }
    guard case .long(let key) = rest, case .long(let otherKey) = other.rest else { return false }
    return key.start == otherKey.start && CodeUnits.areEqual(key.text, otherKey.text)
  }

  private func endsBefore(_ other: ChildKey) -> Bool {
    if case .short(let tail) = rest, case .short(let otherTail) = other.rest {
      return tail < otherTail
    }
    let (start, otherStart) = (start, other.start)
    if start != otherStart { return start < otherStart }
    if integer != nil, byteCount != other.byteCount { return byteCount < other.byteCount }
    return CodeUnits.precedes(text, other.text)
  }

  /// Whether the key of one text comes before that of another, both valid UTF-8.
  static func precedes(
    _ left: UnsafeBufferPointer<UInt8>,
    _ right: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    // Most names begin with letters, and with different ones.
    if let first = left.first, let other = right.first, first != other,
      (0x3A..<0x80).contains(first), (0x3A..<0x80).contains(other)
    {
      return first < other
    }
    if SortableText.integer(left) == nil, SortableText.integer(right) == nil {
      return CodeUnits.precedes(left, right)
    }
    return ChildKey(validUTF8: left) < ChildKey(validUTF8: right)
  }

  package func hash(into hasher: inout Hasher) {
    switch rest {
    case .short: hasher.combine(start)
    case .long(let key): CodeUnits.hash(key.text, into: &hasher)
    }
  }
}

extension ChildKey: CustomStringConvertible {
  package var description: String { text }
}

extension ChildKey: ExpressibleByStringLiteral {
  package init(stringLiteral value: String) {
    self.init(value)
  }
}
