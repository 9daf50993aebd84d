/// The number of cells that characters take, from one table used for layout and for clipping.
///
/// The table agrees with the C library of Debian 12 in a UTF-8 locale, because ncurses asks that
/// library: a difference of one cell would shift the rest of the row.
package enum TextWidth {
  /// The cells of one scalar: 0 for marks and invisible scalars, 1, 2, or nil if it is unknown.
  package static func width(of scalar: Unicode.Scalar) -> Int? {
    let value = scalar.value
    if value < 0x7F { return value < 0x20 ? nil : 1 }
    if value >= 0xA0 && value < 0x300 { return 1 }
    if contains(value, in: unknownRanges) { return nil }
    if contains(value, in: zeroWidthRanges) { return 0 }
    return contains(value, in: wideRanges) ? 2 : 1
  }

  /// The cells of a character after sanitising, possibly none.
  package static func width(of character: Character) -> Int {
    if let ascii = character.asciiValue, ascii >= 0x20, ascii < 0x7F { return 1 }
    return width(of: String(character))
  }

  /// The cells of a string after sanitising it as a single line.
  package static func width(of text: String) -> Int {
    SafeText(untrusted: text, mode: .singleLine, limit: .max).width
  }

  private static func contains(_ value: UInt32, in ranges: [UInt32]) -> Bool {
    var low = 0
    var high = ranges.count / 2
    while low < high {
      let middle = (low + high) / 2
      if value < ranges[2 * middle] {
        high = middle
      } else if value > ranges[2 * middle + 1] {
        low = middle + 1
      } else {
        return true
      }
    }
    return false
  }
}
