/// Text that is read where it lies: in a string, in a key or within packed children.
///
/// Who only compares it, or asks for its length, needs no string of its own.
package struct LeafText: Sendable {
  private enum Place: Sendable {
    case string(String)
    case key(ChildKey)
    case packed([UInt8], Range<Int>)
  }

  private let place: Place

  /// Takes a string.
  package init(_ text: String) {
    place = .string(text)
  }

  /// Takes the text of a key.
  package init(_ key: ChildKey) {
    place = .key(key)
  }

  /// Takes a part of packed children that is text.
  init(_ bytes: [UInt8], _ range: Range<Int>) {
    place = .packed(bytes, range)
  }

  /// Hands out the UTF-8.
  package func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    switch place {
    case .string(var text): text.withUTF8(body)
    case .key(let key): key.withUTF8(body)
    case .packed(let bytes, let range):
      bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range])) }
    }
  }

  /// The length in bytes of UTF-8.
  package var byteCount: Int {
    switch place {
    case .string(let text): text.utf8.count
    case .key(let key): key.byteCount
    case .packed(_, let range): range.count
    }
  }

  /// The length in code units of UTF-16.
  ///
  /// - Complexity: O(length)
  package var utf16Count: Int {
    // Of a character, the first byte counts one; that of four bytes becomes a pair.
    withUTF8 { bytes in
      bytes.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : $1 >= 0xF0 ? 2 : 1) }
    }
  }

  /// The text as a string.
  ///
  /// - Complexity: O(length) unless it is one
  package var string: String {
    switch place {
    case .string(let text): text
    case .key(let key): key.text
    case .packed: withUTF8 { String(decoding: $0, as: UTF8.self) }
    }
  }
}

extension LeafText: Equatable {
  /// Compares code units.
  ///
  /// - Complexity: O(length)
  package static func == (left: LeafText, right: LeafText) -> Bool {
    guard left.byteCount == right.byteCount else { return false }
    return left.withUTF8 { left in right.withUTF8 { CodeUnits.areEqual(left, $0) } }
  }
}
