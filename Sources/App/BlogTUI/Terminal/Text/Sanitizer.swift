/// Turns any string into clusters that are safe to draw; the only source of ``SafeText`` contents.
///
/// Works on scalars rather than characters: a cell of ncurses holds one spacing scalar and a few
/// marks. Joined emoji are one cluster of two cells, in which a terminal that cannot join them
/// shows the first one.
struct Sanitizer {
  private static let tabWidth = 4
  private static let ellipsis = Cluster("…", width: 1)

  private let mode: SafeText.Mode
  private let limit: Int
  private var clusters: [Cluster] = []
  private var lineBreaks: [Int] = []
  /// The column at the end of the first clusters of a line, as far as a tab needed it.
  private var column = 0
  private var measured = 0
  private var base: Unicode.Scalar?
  private var marks = 0
  private var afterCarriageReturn = false
  /// Whether the last cluster is an emoji, which later scalars may extend.
  private var isAfterEmoji = false
  /// Whether a joiner has followed that emoji.
  private var isJoining = false

  init(mode: SafeText.Mode, limit: Int) {
    self.mode = mode
    self.limit = limit
  }

  /// Makes safe text from the scalars of a string.
  ///
  /// Their number need not be counted for this: an upper bound is enough.
  ///
  /// - Complexity: O(n) in the number of scalars, but it stops soon after the limit
  mutating func sanitize(
    _ scalars: some Sequence<Unicode.Scalar>,
    atMost most: Int
  ) -> SafeText {
    clusters.reserveCapacity(min(limit, most))
    for scalar in scalars {
      add(scalar)
      if isOverLimit { break }
    }
    if isOverLimit { cut() }
    return SafeText(clusters: clusters, lineBreaks: lineBreaks)
  }

  private var isOverLimit: Bool { clusters.count + lineBreaks.count > limit }

  private mutating func cut() {
    while clusters.count + lineBreaks.count > limit - 1 {
      if let last = lineBreaks.last, last == clusters.count {
        lineBreaks.removeLast()
      } else {
        clusters.removeLast()
      }
    }
    clusters.append(Self.ellipsis)
  }

  private mutating func add(_ scalar: Unicode.Scalar) {
    let value = scalar.value
    let followsCarriageReturn = afterCarriageReturn
    afterCarriageReturn = value == 0x0D
    switch value {
    case 0x20...0x7E:
      clusters.append(Cluster(scalar, width: 1))
      base = scalar
      marks = 0
      isAfterEmoji = false
    case 0x09:
      addTab()
    case 0x0A:
      if !followsCarriageReturn { addLineBreak() }
    case 0x0D:
      addLineBreak()
    case 0x85, 0x2028, 0x2029:
      begin("\u{2424}", width: 1)
    case 0x00...0x1F:
      addPicture(0x2400 + value)
    case 0x7F:
      addPicture(0x2421)
    case 0x80...0x9F:
      // The seven-bit form of the same control: Escape and a letter.
      addPicture(0x241B)
      begin(Unicode.Scalar(UInt8(value - 0x40)), width: 1)
    default:
      addBeyondASCII(scalar)
    }
  }

  private mutating func addBeyondASCII(_ scalar: Unicode.Scalar) {
    if let name = Self.bidirectionalName(scalar) {
      if mode == .singleLine { addNote(name) }
      return
    }
    if scalar.value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(scalar.value) {
      return begin("\u{FFFD}", width: 1)
    }
    if isAfterEmoji, joins(scalar) { return }
    let properties = scalar.properties
    if properties.isDefaultIgnorableCodePoint { return }
    guard let width = TextWidth.width(of: scalar) else { return begin("\u{25A1}", width: 1) }
    if width == 0 {
      if properties.generalCategory != .format { addMark(scalar) }
      return
    }
    // Terminals disagree about whether a skin tone takes cells of its own after a hand.
    if properties.isEmojiModifier, let base, base.properties.isEmojiModifierBase { return }
    begin(scalar, width: width)
  }

  private mutating func begin(_ scalar: Unicode.Scalar, width: Int) {
    let cluster = Cluster(scalar, width: width)
    clusters.append(cluster)
    base = scalar
    marks = 0
    isAfterEmoji = scalar.value >= 0x2010 && cluster.isEmoji
    isJoining = false
  }

  /// Whether a scalar extends the preceding emoji; if so, the emoji is changed.
  private mutating func joins(_ scalar: Unicode.Scalar) -> Bool {
    guard let last = clusters.indices.last else { return false }
    if scalar == "\u{200D}" {
      isJoining = true
      return true
    }
    let whole =
      scalar == "\u{FE0F}"
      ? clusters[last].asPicture()
      : clusters[last].toned(scalar) ?? (isJoining ? clusters[last].joined(with: scalar) : nil)
    guard let whole else { return false }
    clusters[last] = whole
    isJoining = false
    return true
  }

  private mutating func addMark(_ scalar: Unicode.Scalar) {
    if base == nil { begin("\u{25CC}", width: 1) }
    guard marks < SafeText.markLimit, let last = clusters.indices.last else { return }
    isAfterEmoji = false
    clusters[last].add(scalar)
    marks += 1
  }

  private mutating func addPicture(_ value: UInt32) {
    begin(Unicode.Scalar(value) ?? "\u{FFFD}", width: 1)
  }

  private mutating func addNote(_ name: StaticString) {
    for scalar in "⟨\(name)⟩".unicodeScalars { begin(scalar, width: 1) }
  }

  private mutating func addTab() {
    var count = 1
    if mode == .multiLine {
      for cluster in clusters[measured...] { column += cluster.width }
      count = Self.tabWidth - column % Self.tabWidth
      measured = clusters.count
    }
    for _ in 0..<count { begin(" ", width: 1) }
  }

  private mutating func addLineBreak() {
    switch mode {
    case .singleLine:
      begin("⏎", width: 1)
    case .multiLine:
      lineBreaks.append(clusters.count)
      (column, measured) = (0, clusters.count)
      base = nil
      isAfterEmoji = false
    }
  }

  private static func bidirectionalName(_ scalar: Unicode.Scalar) -> StaticString? {
    switch scalar.value {
    case 0x061C: "ALM"
    case 0x200E: "LRM"
    case 0x200F: "RLM"
    case 0x202A: "LRE"
    case 0x202B: "RLE"
    case 0x202C: "PDF"
    case 0x202D: "LRO"
    case 0x202E: "RLO"
    case 0x2066: "LRI"
    case 0x2067: "RLI"
    case 0x2068: "FSI"
    case 0x2069: "PDI"
    default: nil
    }
  }
}
