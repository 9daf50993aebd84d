/// The beginning of a text on one line, as its author meant it: without signs, and with the label of a link
/// instead of its address.
package enum MarkupExcerpt {
  /// How far behind what is shown a text is read: a sign may be closed there, and an address that has a
  /// label is not shown.
  private static let reach = 1_500

  /// The lines of which the beginning of a text is made, each with single blanks only.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - limit: How many characters of it are wanted.
  /// - Returns: The lines that are not empty.
  /// - Complexity: O(limit)
  package static func source(of text: String, limit: Int) -> [[Unicode.Scalar]] {
    Array(text.unicodeScalars.prefix(limit + reach))
      .split(whereSeparator: { $0 == "\n" || $0 == "\r" })
      .map { line in
        let isMarked = line.contains { $0 == "*" || $0 == "_" || $0 == "`" || $0 == "[" }
        return withSingleBlanks(isMarked ? line : line.prefix(limit))
      }
  }

  /// What lines mean, one behind the other, and no more of it than is wanted.
  ///
  /// - Parameters:
  ///   - lines: The lines, which are read as they are needed.
  ///   - limit: How many characters are wanted.
  ///   - blank: What stands between lines.
  ///   - bullet: What stands before an item of a list.
  /// - Returns: The line, which may be empty.
  package static func line<Unit: MarkupUnit>(
    of lines: some Sequence<[Unit]>,
    limit: Int,
    blank: Unit,
    bullet: [Unit]
  ) -> [Unit] {
    var reader = LightMarkdown<Unit>.Reader()
    var result: [Unit] = []
    for units in lines where result.count < limit {
      let line = reader.line(units)
      var shown: [Unit] = []
      switch line.kind {
      case .fence, .rule: continue
      case .item(let isNumbered): shown = isNumbered ? line.marker : bullet + [blank]
      case .code, .heading, .quote, .text: break
      }
      for run in line.runs { shown += run.units.dropFirst(run.signs).dropLast(run.signs) }
      if !result.isEmpty, !shown.isEmpty { result.append(blank) }
      result += shown
    }
    return Array(result.prefix(limit))
  }

  private static func withSingleBlanks(_ scalars: ArraySlice<Unicode.Scalar>) -> [Unicode.Scalar] {
    var line: [Unicode.Scalar] = []
    line.reserveCapacity(scalars.count)
    var followsBlank = false
    for scalar in scalars {
      // Looking up the properties of ASCII characters would dominate the cost.
      let isBlank =
        scalar.isASCII
        ? scalar == " " || (0x09...0x0D).contains(scalar.value) : scalar.properties.isWhitespace
      if !isBlank {
        if followsBlank, !line.isEmpty { line.append(" ") }
        line.append(scalar)
      }
      followsBlank = isBlank
    }
    return line
  }
}
