/// The smallest unit of text that a terminal positions: one spacing character and its combining
/// marks.
///
/// Only the sanitiser makes clusters, so their text is always harmless to a terminal. A cluster is
/// two words of plain data, without a reference: screens of thousands of cells are made, copied and
/// compared for every key.
package struct Cluster: Hashable, Sendable {
  /// A single blank cell.
  package static let space = Cluster(" ", width: 1)
  /// The right half of a wide cluster: no text, and no cell of its own.
  static let continuation = Cluster(low: 0, high: 0)

  /// The bits that a scalar takes.
  private static let scalarBits: UInt64 = 21
  private static let scalarMask: UInt64 = 1 << scalarBits - 1
  /// Where the width is in the second word.
  private static let widthShift: UInt64 = 62

  // Three scalars, then two more and the width; 0 where there is none, as no control is ever shown.
  private var low: UInt64
  private var high: UInt64

  private init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// Makes a cluster of a character that the sanitiser has checked.
  ///
  /// - Parameters:
  ///   - base: The character; not U+0000.
  ///   - width: The number of cells that it covers, 1 or 2.
  init(_ base: Unicode.Scalar, width: Int) {
    low = UInt64(base.value)
    high = UInt64(truncatingIfNeeded: width) << Self.widthShift
  }

  /// The number of cells it covers, 1 or 2.
  package var width: Int { Int(high >> Self.widthShift) }

  /// The character without its marks.
  var base: Unicode.Scalar? { Self.scalar(low) }

  /// Whether there are combining marks after the base.
  var hasMarks: Bool { low >> Self.scalarBits != 0 }

  /// The characters: a base and at most ``SafeText/markLimit`` combining marks.
  package var text: String {
    guard let base else { return "" }
    var text = String(Character(base))
    guard hasMarks else { return text }
    let words = [
      low >> Self.scalarBits, low >> (2 * Self.scalarBits), high, high >> Self.scalarBits,
    ]
    for case let mark? in words.map(Self.scalar) { text.unicodeScalars.append(mark) }
    return text
  }

  /// Whether this is a blank at which a line may be broken.
  package var isSpace: Bool { !hasMarks && (base == " " || base == "\u{3000}") }

  /// Adds a combining mark; at most ``SafeText/markLimit`` of them are kept.
  mutating func add(_ mark: Unicode.Scalar) {
    let value = UInt64(mark.value)
    for number in 1...2 {
      let shift = UInt64(number) * Self.scalarBits
      guard low >> shift & Self.scalarMask == 0 else { continue }
      return low |= value << shift
    }
    for number in 0...1 {
      let shift = UInt64(number) * Self.scalarBits
      guard high >> shift & Self.scalarMask == 0 else { continue }
      return high |= value << shift
    }
  }

  private static func scalar(_ word: UInt64) -> Unicode.Scalar? {
    let value = UInt32(truncatingIfNeeded: word & scalarMask)
    return value == 0 ? nil : Unicode.Scalar(value)
  }
}
