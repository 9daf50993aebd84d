/// The smallest unit of text that a terminal positions: one spacing character and its combining
/// marks.
///
/// Only the sanitiser makes clusters, so their text is always harmless to a terminal. A cluster is
/// two words of plain data without a reference, because screens of thousands of cells are made,
/// copied and compared for every key.
package struct Cluster: Hashable, Sendable {
  package static let space = Cluster(" ", width: 1)
  /// What stands for a wide cluster where there is room for one cell.
  static let box = Cluster("□", width: 1)
  /// The right half of a wide cluster: no text, and no width of its own.
  static let continuation = Cluster(low: 0, high: 0)

  /// The number of bits of a scalar.
  fileprivate static let scalarBits: UInt64 = 21
  fileprivate static let scalarMask: UInt64 = 1 << scalarBits - 1
  /// The position of the width in the second word.
  fileprivate static let widthShift: UInt64 = 62

  // Three scalars, then two more and the width; 0 means no scalar, as no control is ever shown.
  fileprivate var low: UInt64
  fileprivate var high: UInt64

  fileprivate init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// Makes a cluster of 1 or 2 cells from a character, not U+0000, that the sanitiser has checked.
  init(_ base: Unicode.Scalar, width: Int) {
    low = UInt64(base.value)
    high = UInt64(truncatingIfNeeded: width) << Self.widthShift
  }

  /// The number of cells that it covers: 1, 2, or 0 for the right half of a wide cluster.
  package var width: Int { Int(high >> Self.widthShift) }

  /// The character without its marks.
  var base: Unicode.Scalar? { Self.scalar(low) }

  /// Whether anything follows the base: combining marks, or what joined emoji store there.
  var hasMarks: Bool { low >> Self.scalarBits != 0 }

  /// The characters: a base and at most ``SafeText/markLimit`` combining marks, or joined emoji.
  package var text: String {
    if isJoined { return joinedText }
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

  /// Adds a combining mark; keeps at most ``SafeText/markLimit`` of them, and none on joined emoji.
  mutating func add(_ mark: Unicode.Scalar) {
    guard !isJoined else { return }
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

  fileprivate static func scalar(_ word: UInt64) -> Unicode.Scalar? {
    let value = UInt32(truncatingIfNeeded: word & scalarMask)
    return value == 0 ? nil : Unicode.Scalar(value)
  }
}

/// Emoji that are joined and take two cells: with a skin tone, as a picture, or as a family.
///
/// Each emoji takes 17 bits: its number, its skin tone, and whether it has the picture selector.
/// The first one is stored as the base, as in any other cluster, so that code that looks at the
/// base sees an emoji; the position of its first mark holds a number that is not a scalar.
extension Cluster {
  /// One of the joined emoji.
  private struct Part {
    var base: Unicode.Scalar
    /// The skin tone from 1 to 5, or 0 for none.
    var tone: UInt64 = 0
    var isPicture = false

    /// Fails if the scalar is not an emoji that can be stored.
    init?(_ base: Unicode.Scalar) {
      guard Part.place(of: base) != nil else { return nil }
      self.base = base
    }

    init?(bits: UInt64) {
      let place = UInt32(truncatingIfNeeded: bits & 0x1FFF)
      let value = place < 0x1000 ? 0x2000 + place : 0x1F000 + place - 0x1000
      guard bits & 0x1FFF != 0, let base = Unicode.Scalar(value) else { return nil }
      self.base = base
      tone = bits >> 13 & 7
      isPicture = bits >> 16 & 1 == 1
    }

    var bits: UInt64 { (Part.place(of: base) ?? 0) | flags << 13 }
    /// The tone and the picture selector.
    var flags: UInt64 { tone | (isPicture ? 8 : 0) }

    /// The number of the emoji among all emoji, in 13 bits.
    private static func place(of scalar: Unicode.Scalar) -> UInt64? {
      let properties = scalar.properties
      guard properties.isEmoji, !properties.isEmojiModifier else { return nil }
      switch scalar.value {
      // Flag letters are emoji, but join by other rules.
      case 0x1F1E6...0x1F1FF: return nil
      case 0x2010...0x2FFF: return UInt64(scalar.value - 0x2000)
      case 0x1F000...0x1FFFF: return UInt64(scalar.value - 0x1F000 + 0x1000)
      default: return nil
      }
    }

    func write(to text: inout String) {
      text.unicodeScalars.append(base)
      if isPicture { text.unicodeScalars.append("\u{FE0F}") }
      let tone = tone > 0 ? Unicode.Scalar(0x1F3FA + UInt32(tone)) : nil
      if let tone { text.unicodeScalars.append(tone) }
    }
  }

  private static let joinedMark: UInt64 = scalarMask
  private static let partBits: UInt64 = 17
  /// The largest number of emoji that can be joined.
  private static let partLimit = 5

  /// Whether the cluster consists of joined emoji.
  var isJoined: Bool { low >> Self.scalarBits & Self.scalarMask == Self.joinedMark }

  /// Whether it can begin a sequence of joined emoji.
  var isEmoji: Bool { isJoined || !hasMarks && base.flatMap(Part.init) != nil }

  private var parts: [Part] {
    guard let base, var first = Part(base) else { return [] }
    guard isJoined else { return [first] }
    let flags = low >> (2 * Self.scalarBits)
    first.tone = flags & 7
    first.isPicture = flags >> 3 & 1 == 1
    let words = [
      low >> (2 * Self.scalarBits + 4), high, high >> Self.partBits, high >> (2 * Self.partBits),
    ]
    return [first] + words.compactMap { Part(bits: $0 & (1 << Self.partBits - 1)) }
  }

  private init(_ parts: [Part]) {
    low = UInt64(parts[0].base.value) | Self.joinedMark << Self.scalarBits
    high = 2 << Self.widthShift
    low |= parts[0].flags << (2 * Self.scalarBits)
    if parts.count > 1 { low |= parts[1].bits << (2 * Self.scalarBits + 4) }
    for (number, part) in parts.dropFirst(2).enumerated() {
      high |= part.bits << (UInt64(number) * Self.partBits)
    }
  }

  private var joinedText: String {
    var text = ""
    for (number, part) in parts.enumerated() {
      if number > 0 { text.unicodeScalars.append("\u{200D}") }
      part.write(to: &text)
    }
    return text
  }

  /// The replacement where emoji are not joined: the first one, in the same number of cells.
  var plainText: String {
    guard isJoined, let base else { return text }
    let isNarrow = TextWidth.width(of: base) == 1
    return String(Character(base)) + (isNarrow ? " " : "")
  }

  /// The cluster with the last emoji as a picture; nil if the selector does not apply to it.
  func asPicture() -> Cluster? {
    guard !hasMarks || isJoined else { return nil }
    var parts = parts
    guard let last = parts.indices.last, parts[last].tone == 0,
      !parts[last].base.properties.isEmojiPresentation
    else { return nil }
    parts[last].isPicture = true
    return Cluster(parts)
  }

  /// The cluster with a skin tone on the last emoji; nil if it takes none or already has one.
  func toned(_ tone: Unicode.Scalar) -> Cluster? {
    guard !hasMarks || isJoined, (0x1F3FB...0x1F3FF).contains(tone.value) else { return nil }
    var parts = parts
    guard let last = parts.indices.last, parts[last].base.properties.isEmojiModifierBase,
      parts[last].tone == 0
    else { return nil }
    parts[last].tone = UInt64(tone.value - 0x1F3FA)
    parts[last].isPicture = false
    return Cluster(parts)
  }

  /// The cluster joined with another emoji; nil if the scalar is not an emoji or there are too
  /// many.
  func joined(with scalar: Unicode.Scalar) -> Cluster? {
    guard !hasMarks || isJoined, let next = Part(scalar) else { return nil }
    let parts = parts
    guard !parts.isEmpty, parts.count < Self.partLimit else { return nil }
    return Cluster(parts + [next])
  }
}
