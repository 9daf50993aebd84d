/// A unit of text in which markup is found: what a reader perceives as one character.
///
/// Both a terminal cell and a `Character` are such units, so one markup reader serves both.
package protocol MarkupUnit: Hashable {
  /// The character; nil if it has more than one scalar and so is never a markup sign.
  var plain: Unicode.Scalar? { get }
  /// Whether it is a letter or a digit, with or without combining marks.
  var isOfWord: Bool { get }
  /// Whether it is a blank.
  var isBlank: Bool { get }
}

extension Character: MarkupUnit {
  package var plain: Unicode.Scalar? {
    unicodeScalars.count == 1 ? unicodeScalars.first : nil
  }
  package var isOfWord: Bool { isLetter || isNumber }
  package var isBlank: Bool { isWhitespace }
}

/// The light markup that people use naturally: headings, quotes, lists, code, emphasis and links.
///
/// Everything else is text. Only http and https addresses become links. Apart from code blocks, no
/// markup spans more than one line.
package struct LightMarkdown<Unit: MarkupUnit> {
  /// How a part of a line is styled.
  package enum Look: Hashable, Sendable {
    case emphasis
    case strong
    /// Code, with its backticks.
    case code
    /// A tag or a name.
    case mark
    /// A link, with its address.
    case link
  }

  /// A part of a line with one style.
  package struct Run {
    /// The units to show.
    package var units: [Unit]
    /// The styles, possibly several, such as strong and emphasis.
    package var looks: Set<Look> = []
    /// The target, if the run is a link.
    package var link: Link?
    /// Whether the run is a link whose text was chosen by its author and may say anything.
    package var isLabel = false
    /// How many units at each end are backticks.
    package var signs = 0
  }

  /// A line and its kind.
  package struct Line {
    /// The kind of a line.
    package enum Kind: Hashable, Sendable {
      /// The fence that starts or ends a code block.
      case fence
      /// A line in a code block.
      case code
      /// A horizontal rule.
      case rule
      /// A heading with its level, from 1 to 6.
      case heading(Int)
      /// A quote with its nesting depth, from 1.
      case quote(Int)
      /// A list item.
      case item(isNumbered: Bool)
      /// Anything else.
      case text
    }

    /// The kind of the line.
    package let kind: Kind
    /// The number of leading blanks; only the runs of text and code include them.
    package let indent: Int
    /// The marker of a list item as written, with the blank after it.
    package let marker: [Unit]
    /// The content of the line.
    package let runs: [Run]

    fileprivate init(
      _ kind: Kind,
      indent: Int = 0,
      marker: ArraySlice<Unit> = [],
      runs: [Run] = []
    ) {
      self.kind = kind
      self.indent = indent
      self.marker = Array(marker)
      self.runs = runs
    }
  }

  /// Parses lines.
  ///
  /// - Complexity: O(n) in the number of units, since the reach of each sign is bounded.
  package static func lines(of source: some Sequence<[Unit]>) -> [Line] {
    var reader = Reader()
    return source.map { reader.line($0) }
  }

  /// Parses lines one after the other; the only state carried between them is an open code block.
  struct Reader {
    private var open: (sign: Unicode.Scalar, count: Int)?

    mutating func line(_ units: [Unit]) -> Line {
      let fence = LightMarkdown.fence(units)
      if let start = open {
        guard let fence, fence.sign == start.sign, fence.count >= start.count, fence.isBare else {
          return Line(.code, runs: [Run(units: units)])
        }
        open = nil
        return Line(.fence)
      }
      guard let fence else { return LightMarkdown.line(units[...]) }
      open = (fence.sign, fence.count)
      return Line(.fence)
    }
  }

  // MARK: Lines

  /// Parses a line as a fence: three or more backticks or tildes; it is bare if nothing follows
  /// them.
  private static func fence(
    _ units: [Unit]
  ) -> (sign: Unicode.Scalar, count: Int, isBare: Bool)? {
    let rest = units.drop { $0.isBlank }
    guard let sign = rest.first?.plain, sign == "`" || sign == "~" else { return nil }
    let count = rest.prefix { $0.plain == sign }.count
    let after = rest.dropFirst(count)
    guard count >= 3, !after.contains(where: { $0.plain == "`" }) else { return nil }
    return (sign, count, after.allSatisfy(\.isBlank))
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

  /// The runs of a line.
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
    /// The index of its run.
    let run: Int
  }

  /// How many emphasis signs can be open at a time; any others are text.
  private static var depth: Int { 16 }
  /// The longest label of a link, in units.
  private static var longestLabel: Int { 300 }
  /// The longest address; a longer one is not a link, since cutting it off would change its target.
  private static var longestAddress: Int { 1_000 }
  /// The longest code in a line.
  private static var longestCode: Int { 2_000 }

  private let units: [Unit]
  private var index = 0
  /// The runs so far; emphasis signs stay in a run of their own until they turn out to be text.
  private var result: [Run] = []
  private var openers: [Opener] = []

  init(_ units: [Unit]) { self.units = units }

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
      } else if sign == "h", let (end, link) = address(at: index, isAlone: true) {
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
        let new: Set<Look> =
          count == 1 ? [.emphasis] : count == 2 ? [.strong] : [.emphasis, .strong]
        for inside in opener.run + 1..<run { result[inside].looks.formUnion(new) }
        return
      }
    }
    if canOpen, openers.count < Self.depth {
      openers.append(Opener(sign: sign, count: count, run: run))
    }
  }

  /// The runs, with adjacent ones of the same style merged.
  private var joined: [Run] {
    var joined: [Run] = []
    for run in result where !run.units.isEmpty {
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
    guard let end = endOfCode(from: start + count, count: count) else {
      return take(start..<start + count)
    }
    take(start..<end) {
      $0.looks = [.code]
      $0.signs = count
    }
  }

  private func endOfCode(from start: Int, count: Int) -> Int? {
    var index = start
    let limit = min(units.count, start + Self.longestCode)
    while index < limit {
      guard units[index].plain == "`" else {
        index += 1
        continue
      }
      let run = units[index...].prefix { $0.plain == "`" }.count
      if run == count { return index > start ? index + run : nil }
      index += run
    }
    return nil
  }

  // MARK: Links

  /// Finds an http or https address that begins at an index, either on its own or after a label.
  ///
  /// - Returns: The end of the address, and the link.
  private func address(at start: Int, isAlone: Bool) -> (end: Int, link: Link)? {
    if isAlone, start > 0, units[start - 1].isOfWord { return nil }
    let scheme = ["https://", "http://"].first { hasWord($0, at: start) }
    guard scheme != nil else { return nil }
    let rest = units[start...].prefix(Self.longestAddress + 1).prefix { unit in
      unit.plain.map { Link.isAllowed($0) && (isAlone || $0 != ")") } == true
    }
    guard rest.count <= Self.longestAddress else { return nil }
    let text = String(String.UnicodeScalarView(rest.compactMap(\.plain)))
    guard let link = Link(text[...]) else { return nil }
    return (start + link.text.utf8.count, link)
  }

  /// A link with a label: `[label](https://example.org)`.
  private func label(at start: Int) -> (label: Range<Int>, end: Int, link: Link)? {
    let limit = min(units.count, start + Self.longestLabel)
    guard let close = units[start..<limit].firstIndex(where: { $0.plain == "]" }),
      close > start + 1, close + 2 < units.count, units[close + 1].plain == "(",
      let (end, link) = address(at: close + 2, isAlone: false),
      end < units.count, units[end].plain == ")"
    else { return nil }
    return (start + 1..<close, end + 1, link)
  }

  /// Whether an ASCII string is found at an index.
  private func hasWord(_ word: String, at start: Int) -> Bool {
    var index = start
    for scalar in word.unicodeScalars {
      guard index < units.count, units[index].plain == scalar else { return false }
      index += 1
    }
    return true
  }
}

extension MarkupUnit {
  fileprivate var isOfASCIIWord: Bool { plain?.isASCII == true && isOfWord }

  fileprivate var isPunctuation: Bool {
    guard let plain, plain.isASCII else { return false }
    return !isOfWord && !isBlank
  }
}
