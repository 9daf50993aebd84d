private import Foundation

/// The tags and mentions in a text: `#garden` and `@alice`.
///
/// A mark starts where a word may start, and consists of letters, digits, `_` and `-`. Marks are
/// compared without regard to case, by a key that the database can store.
package struct TextMarks: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// `#garden`
    case tag
    /// `@alice`
    case mention
  }

  package struct Mark: Hashable, Sendable {
    package let kind: Kind
    /// The scalars it covers, including its sign.
    package let range: Range<Int>
    /// The key by which it is compared.
    package let key: String
  }

  /// How many tags and how many mentions of one text count, so that the write of a post is bounded.
  package static let limit = 10
  /// The longest tag or mention, in scalars; a longer word is neither.
  package static let longest = 50

  /// The keys of the tags, each once, in the order of the text.
  package private(set) var tags: [String] = []
  /// The keys of the mentions, each once, in the order of the text.
  package private(set) var mentions: [String] = []

  /// Finds the marks in some texts.
  ///
  /// - Complexity: O(n) in the length of the texts
  package init(of texts: String...) {
    for text in texts where text.utf8.contains(where: { $0 == 0x23 || $0 == 0x40 }) {
      for mark in Self.marks(in: Array(text.precomposedStringWithCanonicalMapping.unicodeScalars)) {
        switch mark.kind {
        case .tag: Self.add(mark.key, to: &tags)
        case .mention: Self.add(mark.key, to: &mentions)
        }
      }
    }
  }

  private static func add(_ key: String, to keys: inout [String]) {
    if keys.count < limit, !keys.contains(key) { keys.append(key) }
  }

  /// The key by which a name is mentioned: its letters and digits in lower case; nil if it has
  /// none.
  ///
  /// For example, `Ann Lee` is mentioned as `@annlee`. If two people's names have the same key,
  /// both are notified.
  package static func key(ofName name: String) -> String? {
    let scalars = name.precomposedStringWithCanonicalMapping.unicodeScalars.filter(isPart)
    let key = key(of: Array(scalars.prefix(longest))[...])
    return key.isEmpty ? nil : key
  }

  /// The key of a tag as a user types it, with or without its sign; nil if it is not a tag.
  package static func key(ofTag text: String) -> String? {
    let sign: Unicode.Scalar = "#"
    var scalars = Array(text.precomposedStringWithCanonicalMapping.unicodeScalars)
    if scalars.first != sign { scalars.insert(sign, at: 0) }
    guard let mark = marks(in: scalars).first, mark.range == 0..<scalars.count else { return nil }
    return mark.key
  }

  /// All marks in a text, in order.
  ///
  /// - Complexity: O(n)
  package static func marks(in scalars: [Unicode.Scalar]) -> [Mark] {
    var marks: [Mark] = []
    var index = 0
    while index < scalars.count {
      defer { index += 1 }
      guard scalars[index] == "#" || scalars[index] == "@",
        index == 0 || isBeforeMark(scalars[index - 1])
      else { continue }
      let kind: Kind = scalars[index] == "#" ? .tag : .mention
      var end = index + 1
      while end < scalars.count, isPart(scalars[end]) { end += 1 }
      let next = end
      // Emphasis signs around a mark are not part of it.
      while end > index + 1, scalars[end - 1] == "_" || scalars[end - 1] == "-" { end -= 1 }
      let word = scalars[(index + 1)..<end]
      guard !word.isEmpty, word.count <= longest,
        kind == .mention || word.contains(where: \.properties.isAlphabetic)
      else {
        index = next - 1
        continue
      }
      marks.append(Mark(kind: kind, range: index..<end, key: key(of: word)))
      index = next - 1
    }
    return marks
  }

  private static func key(of scalars: ArraySlice<Unicode.Scalar>) -> String {
    var key = String.UnicodeScalarView()
    for scalar in scalars {
      // A letter without a single-scalar lower-case form stays as it is.
      let small = scalar.properties.lowercaseMapping.unicodeScalars
      key.append(small.count == 1 ? small.first ?? scalar : scalar)
    }
    return String(key)
  }

  /// Whether a mark can begin after a character, or at the start of a line if there is none.
  package static func canBegin(after character: Character?) -> Bool {
    character.flatMap(\.unicodeScalars.last).map(isBeforeMark) ?? true
  }

  package static func isPart(_ character: Character) -> Bool {
    character.unicodeScalars.first.map(isPart) ?? false
  }

  private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII {
      return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_"
        || scalar == "-"
    }
    return scalar.properties.isAlphabetic || scalar.properties.generalCategory == .decimalNumber
  }

  /// Whether a mark can begin after a scalar: after blanks, brackets, quotes and the like, but not
  /// inside a word, an email address or a link.
  private static func isBeforeMark(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || "([{\"'“„«‹,;:!?*_~>—–".unicodeScalars.contains(scalar)
  }
}
