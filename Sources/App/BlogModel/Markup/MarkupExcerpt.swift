/// The beginning of a text on one line, as its author meant it.
///
/// Markup signs are left out, and a link is shown by its label instead of its address.
package enum MarkupExcerpt {
  /// How far to read beyond what is shown: a sign may be closed there, and the address of a link
  /// with a label takes up space without being shown.
  private static let reach = 1_500

  /// Renders the beginning of a text on one line, which may be empty.
  ///
  /// One unit may consist of many scalars. Where they are so many that too few units were read, the
  /// line ends in `…`. The closure splits a line, which has only single blanks, into units. The
  /// blank stands between lines, the bullet before the item of a list.
  ///
  /// - Complexity: O(limit)
  package static func line<Unit: MarkupUnit>(
    of text: String,
    limit: Int,
    blank: Unit,
    bullet: [Unit],
    units: ([Unicode.Scalar]) -> [Unit]
  ) -> [Unit] {
    var line: [Unit] = []
    for length in [limit + reach, 8 * (limit + reach)] {
      let start = text.unicodeScalars.prefix(length)
      line = self.line(of: start, limit: limit, blank: blank, bullet: bullet, units: units)
      if line.count == limit || start.endIndex == text.endIndex { return line }
    }
    return line + units(["…"])
  }

  private static func line<Unit: MarkupUnit>(
    of text: Substring.UnicodeScalarView,
    limit: Int,
    blank: Unit,
    bullet: [Unit],
    units: ([Unicode.Scalar]) -> [Unit]
  ) -> [Unit] {
    var reader = LightMarkdown<Unit>.Reader()
    var result: [Unit] = []
    let lines = text.split(whereSeparator: { $0 == "\n" || $0 == "\r" })
    for scalars in lines where result.count < limit && !isTableRule(scalars) {
      // Most lines are plain; they are shown as written, even in a code block.
      let shown =
        isPlain(scalars)
        ? beginning(of: scalars, limit: limit, units: units)
        : meaning(
          of: reader.line(units(withSingleBlanks(scalars))),
          bullet: bullet,
          blank: blank
        )
      if !result.isEmpty, !shown.isEmpty { result.append(blank) }
      result += shown
    }
    return Array(result.prefix(limit))
  }

  /// More units of a plain line than the limit, if it has them; no more of it is read than needed.
  private static func beginning<Unit>(
    of line: Substring.UnicodeScalarView,
    limit: Int,
    units: ([Unicode.Scalar]) -> [Unit]
  ) -> [Unit] {
    var length = max(0, limit) + 1
    while true {
      let end = line.index(line.startIndex, offsetBy: length, limitedBy: line.endIndex)
      let shown = units(withSingleBlanks(line[..<(end ?? line.endIndex)]))
      if end == nil || shown.count > limit { return shown }
      length *= 2
    }
  }

  /// Whether a line contains no markup sign that an excerpt would leave out.
  private static func isPlain(_ line: Substring.UnicodeScalarView) -> Bool {
    for scalar in line {
      switch scalar {
      case "*", "_", "`", "[", "\\", "~": return false
      default: continue
      }
    }
    guard let first = line.first(where: { !isBlank($0) }) else { return true }
    switch first {
    case "#", ">", "-", "+", "•", "0"..."9": return false
    default: return true
    }
  }

  /// Whether a line is the one between the heading of a table and its rows.
  private static func isTableRule(_ line: Substring.UnicodeScalarView) -> Bool {
    line.allSatisfy { $0 == "|" || $0 == "-" || $0 == ":" || $0 == " " }
      && line.contains("|") && line.contains("-")
  }

  private static func meaning<Unit: MarkupUnit>(
    of line: LightMarkdown<Unit>.Line,
    bullet: [Unit],
    blank: Unit
  ) -> [Unit] {
    var shown: [Unit] = []
    switch line.kind {
    case .fence, .rule: return []
    case .item(let isNumbered): shown = isNumbered ? line.marker : bullet + [blank]
    case .code, .heading, .quote, .table, .text: break
    }
    for run in line.runs { shown += run.units.dropFirst(run.signs).dropLast(run.signs) }
    return shown
  }

  private static func withSingleBlanks(_ scalars: Substring.UnicodeScalarView) -> [Unicode.Scalar] {
    var line: [Unicode.Scalar] = []
    var followsBlank = false
    for scalar in scalars {
      let isBlank = isBlank(scalar)
      if !isBlank {
        if followsBlank, !line.isEmpty { line.append(" ") }
        line.append(scalar)
      }
      followsBlank = isBlank
    }
    return line
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    // Looking up the properties of ASCII characters would dominate the cost.
    scalar.isASCII
      ? scalar == " " || (0x09...0x0D).contains(scalar.value) : scalar.properties.isWhitespace
  }
}
