/// A unit of text in which markup is found: what a reader perceives as one character.
///
/// Both a terminal cell and a `Character` are such units, so one markup reader serves both.
package protocol MarkupUnit: Hashable {
  /// The character; nil if it has more than one scalar and so is never a markup sign.
  var plain: Unicode.Scalar? { get }
  /// Whether it is a letter or a digit, with or without combining marks.
  var isOfWord: Bool { get }
  var isBlank: Bool { get }
}

extension Character: MarkupUnit {
  package var plain: Unicode.Scalar? {
    // Counting the scalars would take as long as there are combining marks.
    let scalars = unicodeScalars
    guard let first = scalars.first else { return nil }
    return scalars.index(after: scalars.startIndex) == scalars.endIndex ? first : nil
  }
  package var isOfWord: Bool { isLetter || isNumber }
  package var isBlank: Bool { isWhitespace }
}

/// The light markup that people use naturally: headings, quotes, lists, tables, code, emphasis and
/// links.
///
/// Everything else is text. Only http and https addresses become links. Apart from code blocks and
/// tables, no markup spans more than one line.
package struct LightMarkdown<Unit: MarkupUnit> {
  /// How a part of a line is styled.
  package enum Look: Hashable, Sendable {
    case emphasis
    case strong
    case code
    /// A word with a meaning of its own in the language of a code block.
    case keyword
    /// A string in a code block.
    case string
    /// A number in a code block.
    case number
    /// A comment in a code block.
    case comment
    /// A tag or a name.
    case mark
    case link
  }

  /// A part of a line with one style.
  package struct Run {
    package var units: [Unit]
    /// The styles, possibly several, such as strong and emphasis.
    package var looks: Set<Look> = []
    package var link: Link?
    /// Whether the run is a link whose text was chosen by its author and may say anything.
    package var isLabel = false
    /// How many units at each end are backticks.
    package var signs = 0
  }

  /// Cells in rows and aligned columns.
  package struct Table {
    /// Where the text of a column stands.
    package enum Alignment: Sendable {
      case leading
      case center
      case trailing
    }

    package let alignments: [Alignment]
    /// The rows, the heading first; each has as many cells as there are columns.
    package fileprivate(set) var rows: [[[Run]]]
  }

  package struct Line {
    package enum Kind: Hashable, Sendable {
      /// The fence that starts or ends a code block; its content is the fence as written.
      case fence
      case code
      case rule
      /// A heading with its level, from 1 to 6.
      case heading(Int)
      /// A quote with its nesting depth, from 1.
      case quote(Int)
      case item(isNumbered: Bool)
      case table
      case text
    }

    package let kind: Kind
    /// The number of leading blanks; only the runs of text and code include them.
    package let indent: Int
    /// The marker of a list item as written, with the blank after it.
    package let marker: [Unit]
    package let runs: [Run]
    package fileprivate(set) var table: Table?

    fileprivate init(
      _ kind: Kind,
      indent: Int = 0,
      marker: ArraySlice<Unit> = [],
      runs: [Run] = [],
      table: Table? = nil
    ) {
      self.kind = kind
      self.indent = indent
      self.marker = Array(marker)
      self.runs = runs
      self.table = table
    }
  }

  /// Parses lines.
  ///
  /// - Complexity: O(n) in the number of units, whatever they are: no search for the end of markup
  ///   looks at a unit that an earlier search has passed.
  package static func lines(of source: some Sequence<[Unit]>) -> [Line] {
    var reader = Reader()
    var lines: [Line] = []
    var isInTable = false
    // The cells of the last line, if it can be the heading of a table.
    var heading: [ArraySlice<Unit>]?
    for units in source {
      let columns = isInTable ? lines.last?.table?.alignments.count : nil
      if let columns, let cells = cells(units, limit: columns) {
        lines[lines.count - 1].table?.rows.append(row(cells, count: columns))
        continue
      }
      isInTable = false
      if let cells = heading, let alignments = alignments(units), alignments.count == cells.count {
        let table = Table(alignments: alignments, rows: [row(cells, count: cells.count)])
        lines[lines.count - 1] = Line(.table, table: table)
        isInTable = true
        heading = nil
        continue
      }
      let line = reader.line(units)
      heading = line.kind == .text ? self.cells(units, limit: columnLimit + 1) : nil
      if heading?.count ?? 0 > columnLimit { heading = nil }
      lines.append(line)
    }
    return lines
  }

  /// Parses lines one after the other; the only state carried between them is an open code block
  /// and what its language leaves open.
  struct Reader {
    private var open: (sign: Unicode.Scalar, count: Int)?
    private var code: CodeReader<Unit>?

    mutating func line(_ units: [Unit]) -> Line {
      let fence = LightMarkdown.fence(units)
      if let start = open {
        guard let fence, fence.sign == start.sign, fence.count >= start.count, fence.isBare else {
          return Line(.code, runs: code?.runs(units) ?? [Run(units: units)])
        }
        open = nil
        return Line(.fence, runs: [Run(units: units)])
      }
      guard let fence else { return LightMarkdown.line(units[...]) }
      open = (fence.sign, fence.count)
      code = CodeLanguage(info: fence.info).map { CodeReader($0) }
      return Line(.fence, runs: [Run(units: units)])
    }
  }

  // MARK: Tables

  /// The maximum number of columns of a table; lines with more are text.
  private static var columnLimit: Int { 20 }

  /// The cells of a line, up to a number, the last one with all that is left; nil if it has none.
  private static func cells(_ units: [Unit], limit: Int) -> [ArraySlice<Unit>]? {
    var rest = trimmed(units[...])
    let isClosed = rest.last?.plain == "|" && rest.dropLast().last?.plain != "\\"
    let isOpen = rest.first?.plain == "|"
    if isOpen { rest = rest.dropFirst() }
    if isClosed { rest = rest.dropLast() }
    var cells: [ArraySlice<Unit>] = []
    var start = rest.startIndex
    var index = start
    while index < rest.endIndex, cells.count + 1 < limit {
      let sign = rest[index].plain
      if sign == "|" {
        cells.append(trimmed(rest[start..<index]))
        start = index + 1
      }
      index += sign == "\\" ? 2 : 1
    }
    guard isOpen || isClosed || !cells.isEmpty else { return nil }
    return cells + [trimmed(rest[start...])]
  }

  /// The alignments that the line below the heading of a table gives; nil if it is none.
  private static func alignments(_ units: [Unit]) -> [Table.Alignment]? {
    guard let cells = cells(units, limit: columnLimit + 1) else { return nil }
    var alignments: [Table.Alignment] = []
    for cell in cells {
      let (isStart, isEnd) = (cell.first?.plain == ":", cell.last?.plain == ":")
      let line = cell.dropFirst(isStart ? 1 : 0).dropLast(isEnd ? 1 : 0)
      guard !line.isEmpty, line.allSatisfy({ $0.plain == "-" }) else { return nil }
      alignments.append(isEnd ? (isStart ? .center : .trailing) : .leading)
    }
    return alignments
  }

  private static func row(_ cells: [ArraySlice<Unit>], count: Int) -> [[Run]] {
    cells.map { runs($0) } + Array(repeating: [], count: max(0, count - cells.count))
  }

  private static func trimmed(_ units: ArraySlice<Unit>) -> ArraySlice<Unit> {
    var rest = units.drop { $0.isBlank }
    while rest.last?.isBlank == true { rest.removeLast() }
    return rest
  }

  // MARK: Lines

  /// Parses a line as a fence: three or more backticks or tildes; it is bare if nothing follows
  /// them.
  static func fence(
    _ units: [Unit]
  ) -> (sign: Unicode.Scalar, count: Int, isBare: Bool, info: ArraySlice<Unit>)? {
    let rest = units.drop { $0.isBlank }
    guard let sign = rest.first?.plain, sign == "`" || sign == "~" else { return nil }
    let count = rest.prefix { $0.plain == sign }.count
    let after = rest.dropFirst(count)
    guard count >= 3, !after.contains(where: { $0.plain == "`" }) else { return nil }
    return (sign, count, after.allSatisfy(\.isBlank), after)
  }

  private static func line(_ units: ArraySlice<Unit>) -> Line {
    let indent = units.prefix { $0.isBlank }.count
    let rest = units.dropFirst(indent)
    if isRule(rest) { return Line(.rule) }
    if let level = headingLevel(rest) {
      return Line(.heading(level), indent: indent, runs: runs(rest.dropFirst(level + 1)))
    }
    if rest.first?.plain == ">" {
      var depth = 0
      var quoted = rest
      while quoted.first?.plain == ">" {
        depth += 1
        quoted = quoted.dropFirst()
        if quoted.first?.isBlank == true { quoted = quoted.dropFirst() }
      }
      return Line(.quote(depth), indent: indent, runs: runs(quoted))
    }
    if let (count, isNumbered) = listMarker(rest) {
      return Line(
        .item(isNumbered: isNumbered),
        indent: indent,
        marker: rest.prefix(count),
        runs: runs(rest.dropFirst(count))
      )
    }
    return Line(.text, indent: indent, runs: runs(units))
  }

  private static func isRule(_ line: ArraySlice<Unit>) -> Bool {
    guard let sign = line.first?.plain, sign == "-" || sign == "*" || sign == "_" else {
      return false
    }
    let signs = line.filter { !$0.isBlank }
    return signs.count >= 3 && signs.allSatisfy { $0.plain == sign }
  }

  private static func headingLevel(_ line: ArraySlice<Unit>) -> Int? {
    let level = line.prefix { $0.plain == "#" }.count
    guard (1...6).contains(level), line.dropFirst(level).first?.isBlank == true,
      line.dropFirst(level).contains(where: { !$0.isBlank })
    else { return nil }
    return level
  }

  /// The number of units of `- ` or `12. ` at the start of a line.
  private static func listMarker(_ line: ArraySlice<Unit>) -> (count: Int, isNumbered: Bool)? {
    guard let first = line.first?.plain else { return nil }
    if ["-", "*", "+", "•"].contains(first) {
      return line.dropFirst().first?.isBlank == true ? (2, false) : nil
    }
    let digits = line.prefix { $0.plain.map { ("0"..."9").contains($0) } == true }.count
    let end = line.dropFirst(digits)
    guard (1...4).contains(digits), end.first?.plain == "." || end.first?.plain == ")",
      end.dropFirst().first?.isBlank == true
    else { return nil }
    return (digits + 2, true)
  }

  private static func runs(_ line: ArraySlice<Unit>) -> [Run] {
    var reader = LineReader(Array(line))
    return reader.runs()
  }
}

/// Parses emphasis, code, links, tags and mentions within one line.
private struct LineReader<Unit: MarkupUnit> {
  typealias Run = LightMarkdown<Unit>.Run
  typealias Look = LightMarkdown<Unit>.Look

  /// An emphasis sign that may still be closed.
  private struct Opener {
    let sign: Unicode.Scalar
    /// 1 for emphasis, 2 for strong, 3 for both.
    let count: Int
    let run: Int
  }

  /// How many emphasis signs can be open at a time; any others are text.
  private static var depth: Int { 16 }
  /// The longest label of a link, in units.
  private static var longestLabel: Int { 300 }
  /// The longest address; a longer one is not a link, since cutting it off would change its target.
  private static var longestAddress: Int { 1_000 }
  private static var longestCode: Int { 2_000 }

  private let units: [Unit]
  private var lookahead: Lookahead<Unit>
  private var index = 0
  /// The runs so far; emphasis signs stay in a run of their own until they turn out to be text.
  private var result: [Run] = []
  private var openers: [Opener] = []
  /// The runs within each pair of emphasis signs, and the number of signs.
  private var emphases: [(runs: Range<Int>, count: Int)] = []

  init(_ units: [Unit]) {
    self.units = units
    lookahead = Lookahead(units)
  }

  mutating func runs() -> [Run] {
    // Tags and mentions consist of letters without combining marks, as the database compares them.
    let marks = Dictionary(
      TextMarks.marks(in: units.map { $0.plain ?? "\u{FFFD}" }).map {
        ($0.range.lowerBound, $0.range.upperBound)
      },
      uniquingKeysWith: { $1 }
    )
    while index < units.count {
      let sign = units[index].plain
      if let end = marks[index] {
        take(index..<end) { $0.looks = [.mark] }
      } else if sign == "\\", index + 1 < units.count, units[index + 1].isPunctuation {
        take(index + 1..<index + 2)
      } else if sign == "`" {
        takeCode()
      } else if sign == "h", let (end, link) = address(at: index) {
        take(index..<end) {
          $0.looks = [.link]
          $0.link = link
        }
      } else if sign == "[", let (label, end, link) = label(at: index) {
        take(label) {
          $0.looks = [.link]
          $0.link = link
          $0.isLabel = true
        }
        index = end
      } else if sign == "*" || sign == "_", let sign {
        emphasize(sign)
      } else if result.last?.looks == [], openers.last?.run != result.count - 1 {
        result[result.count - 1].units.append(units[index])
        index += 1
      } else {
        take(index..<index + 1)
      }
    }
    return joined
  }

  private mutating func take(_ range: Range<Int>, _ change: (inout Run) -> Void = { _ in }) {
    var run = Run(units: Array(units[range]))
    change(&run)
    result.append(run)
    index = range.upperBound
  }

  // MARK: Emphasis

  /// Closes or opens emphasis at a run of `*` or `_`.
  private mutating func emphasize(_ sign: Unicode.Scalar) {
    let start = index
    let count = units[start...].prefix { $0.plain == sign }.count
    let before = start > 0 ? units[start - 1] : nil
    let after = start + count < units.count ? units[start + count] : nil
    take(start..<start + count)
    guard count <= 3 else { return }
    let run = result.count - 1
    let isWithin = before?.isOfASCIIWord == true && after?.isOfASCIIWord == true
    let (isWordBefore, isWordAfter) = (before?.isOfWord == true, after?.isOfWord == true)
    let canOpen = after?.isBlank == false && (sign == "*" ? !isWithin : !isWordBefore)
    let canClose = before?.isBlank == false && (sign == "*" ? !isWithin : !isWordAfter)
    if canClose, let number = openers.lastIndex(where: { $0.sign == sign && $0.count == count }) {
      let opener = openers[number]
      if opener.run + 1 < run {
        openers.removeSubrange(number...)
        result[opener.run].units = []
        result[run].units = []
        emphases.append((opener.run + 1..<run, count))
        return
      }
    }
    if canOpen, openers.count < Self.depth {
      openers.append(Opener(sign: sign, count: count, run: run))
    }
  }

  /// The runs, with adjacent ones of the same style merged.
  private var joined: [Run] {
    // How many more pairs of signs are around a run than around the run before it.
    var changes = Array(repeating: (emphasis: 0, strong: 0), count: result.count + 1)
    for (runs, count) in emphases {
      let (emphasis, strong) = (count == 2 ? 0 : 1, count == 1 ? 0 : 1)
      changes[runs.lowerBound].emphasis += emphasis
      changes[runs.lowerBound].strong += strong
      changes[runs.upperBound].emphasis -= emphasis
      changes[runs.upperBound].strong -= strong
    }
    var (emphasis, strong) = (0, 0)
    var joined: [Run] = []
    for (index, var run) in result.enumerated() {
      emphasis += changes[index].emphasis
      strong += changes[index].strong
      guard !run.units.isEmpty else { continue }
      if emphasis > 0 { run.looks.insert(.emphasis) }
      if strong > 0 { run.looks.insert(.strong) }
      // Field by field: a copy of the last run would make each append copy its units.
      if let last = joined.indices.last, joined[last].looks == run.looks,
        joined[last].link == nil, run.link == nil, joined[last].signs == 0, run.signs == 0
      {
        joined[last].units += run.units
      } else {
        joined.append(run)
      }
    }
    return joined
  }

  // MARK: Code

  private mutating func takeCode() {
    let start = index
    let count = units[start...].prefix { $0.plain == "`" }.count
    let limit = start + count + Self.longestCode
    guard let end = lookahead.code(after: start + count, count: count), end < limit else {
      return take(start..<start + count)
    }
    take(start..<end + count) {
      $0.looks = [.code]
      $0.signs = count
    }
  }

  // MARK: Links

  /// An http or https address that begins at an index, without the punctuation after it.
  private mutating func address(at start: Int) -> (end: Int, link: Link)? {
    guard start == 0 || !units[start - 1].isOfWord, hasScheme(at: start) else { return nil }
    let end = lookahead.address(from: start)
    guard end - start <= Self.longestAddress, let link = Link(bytes(start..<end)) else {
      return nil
    }
    return (start + link.text.utf8.count, link)
  }

  /// A link with a label: `[label](https://example.org)`.
  private mutating func label(at start: Int) -> (label: Range<Int>, end: Int, link: Link)? {
    let close = lookahead.bracket(from: start)
    guard close < start + Self.longestLabel, close > start + 1, close + 2 < units.count,
      units[close + 1].plain == "(", hasScheme(at: close + 2)
    else { return nil }
    let end = lookahead.addressInParentheses(from: close + 2)
    guard end - close - 2 <= Self.longestAddress, end < units.count, units[end].plain == ")",
      let link = Link(delimited: bytes(close + 2..<end))
    else { return nil }
    return (start + 1..<close, end + 1, link)
  }

  private func hasScheme(at start: Int) -> Bool {
    Link.schemes.contains { scheme in
      var index = start
      for scalar in scheme.unicodeScalars {
        guard index < units.count, units[index].plain == scalar else { return false }
        index += 1
      }
      return true
    }
  }

  /// The bytes of units that an address may contain.
  private func bytes(_ range: Range<Int>) -> some BidirectionalCollection<UInt8> {
    units[range].lazy.map { $0.plain.map { UInt8(truncatingIfNeeded: $0.value) } ?? 0 }
  }
}

/// Finds where the markup of a line may end.
///
/// The searches of one kind begin at increasing indices, and each goes on where the last one ended.
/// So all searches together look at each unit a fixed number of times.
private struct Lookahead<Unit: MarkupUnit> {
  private let units: [Unit]
  private var bracket = 0
  private var address = 0
  private var addressInParentheses = 0
  /// The starts of the runs of backticks by length, latest first; nil before the first search.
  private var codes: [Int: [Int]]?

  init(_ units: [Unit]) { self.units = units }

  /// The first `]` at or after an index, or the end of the line.
  mutating func bracket(from start: Int) -> Int {
    bracket = max(bracket, start)
    while bracket < units.count, units[bracket].plain != "]" { bracket += 1 }
    return bracket
  }

  /// The first unit at or after an index that no address contains, or the end of the line.
  mutating func address(from start: Int) -> Int {
    address = max(address, start)
    while address < units.count, units[address].isOfAddress { address += 1 }
    return address
  }

  /// Like ``address(from:)``, for an address that ends before a parenthesis.
  mutating func addressInParentheses(from start: Int) -> Int {
    addressInParentheses = max(addressInParentheses, start)
    while addressInParentheses < units.count, units[addressInParentheses].isOfAddress,
      units[addressInParentheses].plain != ")"
    {
      addressInParentheses += 1
    }
    return addressInParentheses
  }

  /// The start of the first run of so many backticks at or after an index.
  mutating func code(after start: Int, count: Int) -> Int? {
    var codes = self.codes.take() ?? backticks
    while let first = codes[count]?.last, first < start { codes[count]?.removeLast() }
    self.codes = codes
    return codes[count]?.last
  }

  private var backticks: [Int: [Int]] {
    var codes: [Int: [Int]] = [:]
    var end = units.count
    while end > 0 {
      var start = end
      while start > 0, units[start - 1].plain == "`" { start -= 1 }
      if start < end { codes[end - start, default: []].append(start) }
      end = start - 1
    }
    return codes
  }
}

extension MarkupUnit {
  fileprivate var isOfASCIIWord: Bool { plain?.isASCII == true && isOfWord }

  fileprivate var isOfAddress: Bool { plain.map { Link.isAllowed($0) } == true }

  fileprivate var isPunctuation: Bool {
    guard let plain, plain.isASCII else { return false }
    return !isOfWord && !isBlank
  }
}
