/// The name of a child: ordered integers first, then by UTF-16 code units, compared without Unicode equivalence.
///
/// Swift's `String` treats composed and decomposed characters as equal; a database does not. Two
/// keys are equal when their code units are, and order is the one that official clients use: keys
/// that read as 32-bit integers come first, by number, then all others by UTF-16 code unit.
///
/// A key of up to 21 bytes, as a push id is, lies in the value itself, in a form that compares by a
/// few integers; a longer one is text, with the same form of its beginning.
package struct ChildKey: Hashable, Comparable, Sendable {
  private enum Storage: Sendable {
    case short(SortableText)
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

  private let storage: Storage

  /// Makes a key of any text; whether the text is legal in a database is checked elsewhere.
  package init(_ text: String) {
    var text = text
    self = text.withUTF8 { ChildKey(validUTF8: $0) }
  }

  /// Makes a key of bytes that are known to be UTF-8.
  init(validUTF8 bytes: UnsafeBufferPointer<UInt8>) {
    let start = SortableText(bytes)
    storage =
      start.isWhole
      ? .short(start) : .long(LongKey(start, String(decoding: bytes, as: UTF8.self)))
  }

  /// The pseudo key under which a node's own priority is addressed.
  package static let priority = ChildKey(".priority")

  private var start: SortableText {
    switch storage {
    case .short(let text): text
    case .long(let key): key.start
    }
  }

  /// The key as text.
  ///
  /// - Complexity: O(length)
  package var text: String {
    switch storage {
    case .short(let text): text.withUTF8 { String(decoding: $0, as: UTF8.self) }
    case .long(let key): key.text
    }
  }

  /// Hands out the UTF-8 of the key, without making text of it.
  package func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    switch storage {
    case .short(let text): return text.withUTF8(body)
    case .long(let key):
      var text = key.text
      return text.withUTF8(body)
    }
  }

  /// The length in bytes of UTF-8.
  package var byteCount: Int {
    switch storage {
    case .short(let text): text.byteCount
    case .long(let key): key.text.utf8.count
    }
  }

  /// The value of this key as a 32-bit integer, or nil when it does not read as one.
  package var integer: Int64? { start.integer }

  package static func == (left: ChildKey, right: ChildKey) -> Bool {
    // One after the other: to match both as a pair would copy them first.
    if case .short(let left) = left.storage {
      if case .short(let right) = right.storage { return left == right }
      return false
    }
    guard case .long(let left) = left.storage, case .long(let right) = right.storage else {
      return false
    }
    return left.start == right.start && CodeUnits.areEqual(left.text, right.text)
  }

  package static func < (left: ChildKey, right: ChildKey) -> Bool {
    if case .short(let left) = left.storage, case .short(let right) = right.storage {
      return left < right
    }
    let (leftStart, rightStart) = (left.start, right.start)
    if leftStart != rightStart { return leftStart < rightStart }
    if left.integer != nil, left.byteCount != right.byteCount {
      return left.byteCount < right.byteCount
    }
    return CodeUnits.precedes(left.text, right.text)
  }

  package func hash(into hasher: inout Hasher) {
    switch storage {
    case .short(let text): hasher.combine(text)
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
