/// What editors let into their text, from the keyboard and from the clipboard alike.
enum EditorText {
  /// The characters of the input that a user can mean: no controls, nothing that hides or reorders.
  ///
  /// Line breaks of any kind become newlines, tabs become blanks.
  static func characters(of input: String) -> [Character] {
    var scalars = String.UnicodeScalarView()
    var afterCarriageReturn = false
    for scalar in input.unicodeScalars {
      let followsCarriageReturn = afterCarriageReturn
      afterCarriageReturn = scalar == "\r"
      switch scalar.value {
      case 0x0A:
        if !followsCarriageReturn { scalars.append("\n") }
      case 0x0D, 0x85, 0x2028, 0x2029:
        scalars.append("\n")
      case 0x09:
        scalars.append(contentsOf: "    ".unicodeScalars)
      case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069,
        0xFDD0...0xFDEF:
        break
      default:
        if scalar.value & 0xFFFE != 0xFFFE { scalars.append(scalar) }
      }
    }
    return Array(String(scalars))
  }

  /// Replaces some of the characters, and returns where what was put in ends.
  ///
  /// Characters that become neighbours and together are one (a letter and its accent) are joined.
  static func replace(
    _ range: Range<Int>,
    of characters: inout [Character],
    with new: some Collection<Character>
  ) -> Int {
    let before = characters.count - range.count
    characters.replaceSubrange(range, with: new)
    let end = range.lowerBound + characters.count - before
    let joinedStart = joinSeam(of: &characters, at: range.lowerBound)
    let shifted = max(range.lowerBound, end - (joinedStart ? 1 : 0))
    if range.lowerBound < end { _ = joinSeam(of: &characters, at: shifted) }
    return min(shifted, characters.count)
  }

  private static func joinSeam(of characters: inout [Character], at index: Int) -> Bool {
    guard index > 0, index < characters.count else { return false }
    let (left, right) = (characters[index - 1], characters[index])
    guard !left.isASCII || !right.isASCII else { return false }
    let pair = String(left) + String(right)
    guard pair.count == 1, let joined = pair.first else { return false }
    characters.replaceSubrange((index - 1)...index, with: CollectionOfOne(joined))
    return true
  }

  /// The characters as they are drawn, each for itself so that widths add up.
  static func shown(_ characters: some Sequence<Character>) -> SafeText {
    var text = SafeText()
    for character in characters { text.append(SafeText(untrusted: String(character))) }
    return text
  }

  /// Where the word before the index begins.
  static func wordStart(before index: Int, in characters: [Character]) -> Int {
    var start = index
    while start > 0 && !isWord(characters[start - 1]) { start -= 1 }
    while start > 0 && isWord(characters[start - 1]) { start -= 1 }
    return start
  }

  /// Where the word after the index ends.
  static func wordEnd(after index: Int, in characters: [Character]) -> Int {
    var end = index
    while end < characters.count && !isWord(characters[end]) { end += 1 }
    while end < characters.count && isWord(characters[end]) { end += 1 }
    return end
  }

  /// Where the stretch without blanks before the index begins.
  static func blankSeparatedStart(before index: Int, in characters: [Character]) -> Int {
    var start = index
    while start > 0 && characters[start - 1].isWhitespace { start -= 1 }
    while start > 0 && !characters[start - 1].isWhitespace { start -= 1 }
    return start
  }

  private static func isWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber
  }
}
