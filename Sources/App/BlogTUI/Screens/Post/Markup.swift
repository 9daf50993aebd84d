import BlogModel

/// A line of text of which parts look different, and which a terminal can only display.
package struct MarkedLine: Hashable, Sendable {
  /// How a part looks.
  package enum Look: Hashable, Sendable {
    case emphasis
    case strong
    case code
    case heading
    case quote
    /// A link, a tag or a name.
    case link
    /// What the program has added, such as the host of a link.
    case added
  }

  /// A part of the clusters that looks different; parts do not overlap, and are in order.
  package struct Part: Hashable, Sendable {
    /// The numbers of its clusters.
    package let range: Range<Int>
    /// How it looks; more than one at a time, such as strong emphasis.
    package let looks: Set<Look>
  }

  /// What is shown.
  package let text: SafeText
  /// The parts that look different.
  package let parts: [Part]

  /// Makes a line that looks like text everywhere.
  package init(_ text: SafeText) {
    self.text = text
    parts = []
  }

  fileprivate init(_ items: ArraySlice<Markup.Item>) {
    text = SafeText(clusters: items.map(\.cluster), lineBreaks: [])
    var parts: [Part] = []
    for (index, item) in items.enumerated() where !item.looks.isEmpty {
      if let last = parts.last, last.range.upperBound == index, last.looks == item.looks {
        parts[parts.count - 1] = Part(range: last.range.lowerBound..<index + 1, looks: last.looks)
      } else {
        parts.append(Part(range: index..<index + 1, looks: item.looks))
      }
    }
    self.parts = parts
  }
}

/// The light markup that people write by themselves: emphasis, code, lists, quotes and links.
///
/// It works on text that is safe already, takes signs away and adds a few of the program's own, and so
/// nothing can get through that was not safe before. A line of the source never takes part in the markup
/// of another, but for blocks of code.
package enum Markup {
  /// A cluster and how it looks.
  fileprivate struct Item {
    let cluster: Cluster
    var looks: Set<MarkedLine.Look> = []
  }

  /// The signs that the program draws instead of those that were typed.
  package struct Signs: Sendable {
    let bullet: SafeText
    let bar: SafeText
    let rule: SafeText

    /// Makes the signs that a terminal can show.
    package init(_ glyphs: GlyphSet) {
      bullet = glyphs.bullet
      bar = glyphs.vertical
      rule = glyphs.horizontal
    }
  }

  /// How many signs of emphasis can be open at a time; those beyond are text.
  private static let depth = 16
  /// The longest label of a link, in clusters.
  private static let longestLabel = 300

  /// The lines of a text, cut to a width.
  ///
  /// - Parameters:
  ///   - text: A text of several lines.
  ///   - width: The number of columns.
  ///   - signs: What the program draws.
  /// - Returns: The lines; none if the width is not positive.
  /// - Complexity: O(n) in the number of clusters.
  package static func lines(of text: SafeText, width: Int, signs: Signs) -> [MarkedLine] {
    guard width > 0 else { return [] }
    var lines: [MarkedLine] = []
    var fence: (sign: Unicode.Scalar, count: Int)?
    for line in text.lines {
      let clusters = line.clusters
      if let open = fence {
        if let end = self.fence(clusters), end.sign == open.sign, end.count >= open.count,
          end.isBare
        {
          fence = nil
        } else {
          let prefix = items(signs.bar + " ", .added)
          lines += wrap(clusters.map { Item(cluster: $0, looks: [.code]) }, prefix, prefix, width)
        }
        continue
      }
      if let start = self.fence(clusters) {
        fence = (start.sign, start.count)
        continue
      }
      lines += block(clusters[...], width: width, signs: signs)
    }
    return lines
  }

  // MARK: Blocks

  /// The fence that a line is: three or more backticks or tildes, and whether nothing follows.
  private static func fence(
    _ clusters: [Cluster]
  ) -> (sign: Unicode.Scalar, count: Int, isBare: Bool)? {
    let rest = clusters.drop { $0.isSpace }
    guard let sign = rest.first?.plain, sign == "`" || sign == "~" else { return nil }
    let count = rest.prefix { $0.plain == sign }.count
    let after = rest.dropFirst(count)
    guard count >= 3, !after.contains(where: { $0.plain == "`" }) else { return nil }
    return (sign, count, after.allSatisfy(\.isSpace))
  }

  private static func block(
    _ line: ArraySlice<Cluster>,
    width: Int,
    signs: Signs
  ) -> [MarkedLine] {
    let indent = line.prefix { $0.isSpace }.count
    let rest = line.dropFirst(indent)
    let blanks = items(SafeText(repeating: .space, count: min(indent, width / 3)), nil)
    if isRule(rest) {
      return [MarkedLine(items(signs.rule.repeated(min(width, 24)), .added)[...])]
    }
    if let level = headingLevel(rest) {
      let text = inline(rest.dropFirst(level + 1), within: [.heading])
      return wrap(text, blanks, blanks, width)
    }
    if rest.first?.plain == ">" {
      let bar = items(signs.bar + " ", .added)
      var depth = 0
      var quoted = rest
      while quoted.first?.plain == ">" {
        depth += 1
        quoted = quoted.dropFirst()
        if quoted.first?.isSpace == true { quoted = quoted.dropFirst() }
      }
      let prefix = Array((0..<min(depth, 4)).map { _ in bar }.joined())
      return wrap(inline(quoted, within: [.quote]), prefix, prefix, width)
    }
    if let marker = listMarker(rest) {
      let text = inline(rest.dropFirst(marker), within: [])
      let isBullet = marker == 2
      let sign =
        isBullet
        ? items(signs.bullet + " ", .added) : rest.prefix(marker).map { Item(cluster: $0) }
      let hanging = items(SafeText(repeating: .space, count: sign.cells), nil)
      return wrap(text, blanks + sign, blanks + hanging, width)
    }
    return wrap(inline(line, within: []), [], [], width)
  }

  private static func isRule(_ line: ArraySlice<Cluster>) -> Bool {
    guard let sign = line.first?.plain, sign == "-" || sign == "*" || sign == "_" else {
      return false
    }
    let signs = line.filter { !$0.isSpace }
    return signs.count >= 3 && signs.allSatisfy { $0.plain == sign }
  }

  private static func headingLevel(_ line: ArraySlice<Cluster>) -> Int? {
    let level = line.prefix { $0.plain == "#" }.count
    guard (1...6).contains(level), line.dropFirst(level).first?.isSpace == true,
      line.dropFirst(level).contains(where: { !$0.isSpace })
    else { return nil }
    return level
  }

  /// The number of clusters of `- ` or `12. ` at the start of a line.
  private static func listMarker(_ line: ArraySlice<Cluster>) -> Int? {
    guard let first = line.first?.plain else { return nil }
    if first == "-" || first == "*" || first == "+" {
      return line.dropFirst().first?.isSpace == true ? 2 : nil
    }
    let digits = line.prefix { $0.plain.map { ("0"..."9").contains($0) } == true }.count
    let end = line.dropFirst(digits)
    guard (1...4).contains(digits), end.first?.plain == "." || end.first?.plain == ")",
      end.dropFirst().first?.isSpace == true
    else { return nil }
    return digits + 2
  }

  // MARK: Lines

  private static func items(_ text: SafeText, _ look: MarkedLine.Look?) -> [Item] {
    text.clusters.map { Item(cluster: $0, looks: look.map { [$0] } ?? []) }
  }

  /// Cuts a line, with one thing before its first piece and another before those that follow.
  private static func wrap(
    _ line: [Item],
    _ first: [Item],
    _ others: [Item],
    _ width: Int
  ) -> [MarkedLine] {
    let room = width - max(first.cells, others.cells)
    // Where there is no room for signs, the words matter more.
    guard room >= 4 || first.isEmpty else { return wrap(line, [], [], width) }
    guard line.cells > room else { return [MarkedLine((first + line)[...])] }
    let box = Item(cluster: Cluster("□", width: 1))
    let line = room == 1 ? line.map { $0.cluster.width == 1 ? $0 : box } : line
    let starts = LineBreaker.lineStarts(count: line.count, width: room) { index in
      let cluster = line[index].cluster
      return LineBreaker.Item(
        width: cluster.width,
        isSpace: cluster.isSpace,
        isBreakable: cluster.width == 2
      )
    }
    return starts.indices.map { index in
      let end = index + 1 < starts.count ? starts[index + 1] : line.count
      var piece = line[starts[index]..<end]
      while let last = piece.last, last.cluster.isSpace, piece.count > 1 { piece.removeLast() }
      return MarkedLine(((index == 0 ? first : others) + piece)[...])
    }
  }

  // MARK: Emphasis, code and links

  /// A sign of emphasis that may still be closed.
  private struct Opener {
    let sign: Unicode.Scalar
    /// One for emphasis, two for strong.
    let count: Int
    /// Where its signs are in the result.
    let start: Int
  }

  private static func inline(
    _ line: ArraySlice<Cluster>,
    within looks: Set<MarkedLine.Look>
  ) -> [Item] {
    let clusters = Array(line)
    var result: [Item] = []
    var removed: Set<Int> = []
    var openers: [Opener] = []
    let marks = Dictionary(
      marks(in: clusters).map { ($0.lowerBound, $0.upperBound) },
      uniquingKeysWith: { $1 }
    )
    var index = 0
    func take(_ range: Range<Int>, _ more: Set<MarkedLine.Look> = []) {
      result += clusters[range].map { Item(cluster: $0, looks: looks.union(more)) }
      index = range.upperBound
    }
    while index < clusters.count {
      let sign = clusters[index].plain
      if let end = marks[index] {
        take(index..<end, [.link])
      } else if sign == "\\", index + 1 < clusters.count, clusters[index + 1].isPunctuation {
        take(index + 1..<index + 2)
      } else if sign == "`" {
        let count = clusters[index...].prefix { $0.plain == "`" }.count
        if let end = endOfCode(in: clusters, from: index + count, count: count) {
          take(index..<end, [.code])
        } else {
          take(index..<index + count)
        }
      } else if let end = endOfAddress(in: clusters, from: index) {
        take(index..<end, [.link])
      } else if sign == "[", let link = Labelled(in: clusters, from: index, longest: longestLabel) {
        take(link.label, [.link])
        // Where a link leads is always shown: a label may say anything.
        if !link.saysHost(in: clusters) {
          result += items(" (" + link.host + ")", .added).map {
            Item(cluster: $0.cluster, looks: $0.looks.union(looks))
          }
        }
        index = link.end
      } else if sign == "*" || sign == "_", let sign {
        let count = clusters[index...].prefix { $0.plain == sign }.count
        let before = index > 0 ? clusters[index - 1] : nil
        let after = index + count < clusters.count ? clusters[index + count] : nil
        emphasize(sign, count, before, after, &result, &openers, &removed, looks)
        index += count
      } else {
        take(index..<index + 1)
      }
    }
    return result.enumerated().filter { !removed.contains($0.offset) }.map(\.element)
  }

  /// Closes what is open, or opens something, by a run of `*` or `_`.
  private static func emphasize(
    _ sign: Unicode.Scalar,
    _ count: Int,
    _ before: Cluster?,
    _ after: Cluster?,
    _ result: inout [Item],
    _ openers: inout [Opener],
    _ removed: inout Set<Int>,
    _ looks: Set<MarkedLine.Look>
  ) {
    let start = result.count
    let item = Item(cluster: Cluster(sign, width: 1), looks: looks)
    result += Array(repeating: item, count: count)
    guard count <= 3 else { return }
    let isWordBefore = before?.isWord == true
    let isWordAfter = after?.isWord == true
    let canOpen = after.map { !$0.isSpace } == true && (sign == "*" || !isWordBefore)
    let canClose = before.map { !$0.isSpace } == true && (sign == "*" || !isWordAfter)
    if canClose, let number = openers.lastIndex(where: { $0.sign == sign && $0.count == count }) {
      let opener = openers[number]
      let inside = (opener.start + count)..<start
      if !inside.isEmpty {
        openers.removeSubrange(number...)
        removed.formUnion(opener.start..<opener.start + count)
        removed.formUnion(start..<start + count)
        let new: Set<MarkedLine.Look> =
          count == 1 ? [.emphasis] : count == 2 ? [.strong] : [.emphasis, .strong]
        for place in inside { result[place].looks.formUnion(new) }
        return
      }
    }
    if canOpen, openers.count < depth {
      openers.append(Opener(sign: sign, count: count, start: start))
    }
  }

  private static func endOfCode(in clusters: [Cluster], from start: Int, count: Int) -> Int? {
    var index = start
    while index < clusters.count {
      guard clusters[index].plain == "`" else {
        index += 1
        continue
      }
      let run = clusters[index...].prefix { $0.plain == "`" }.count
      if run == count { return index > start ? index + run : nil }
      index += run
    }
    return nil
  }

  /// The end of an address that begins there.
  private static func endOfAddress(in clusters: [Cluster], from start: Int) -> Int? {
    for scheme in ["https://", "http://"] {
      guard clusters.hasWord(scheme, at: start) else { continue }
      let end = clusters[start...].firstIndex { !$0.isOfAddress } ?? clusters.count
      let text = String(String.UnicodeScalarView(clusters[start..<end].compactMap(\.plain)))
      guard let link = Link.all(in: text).first else { return nil }
      return start + link.text.utf8.count
    }
    return nil
  }

  /// The tags and names of a line.
  private static func marks(in clusters: [Cluster]) -> [Range<Int>] {
    // Marks are about letters without further marks upon them, as the database compares them.
    TextMarks.marks(in: clusters.map { $0.plain ?? "\u{FFFD}" }).map(\.range)
  }

  /// A link with a label: `[label](https://example.org)`.
  private struct Labelled {
    let label: Range<Int>
    let host: SafeText
    let end: Int

    init?(in clusters: [Cluster], from start: Int, longest: Int) {
      let limit = min(clusters.count, start + longest)
      guard let close = clusters[start..<limit].firstIndex(where: { $0.plain == "]" }),
        close > start + 1, close + 1 < clusters.count, clusters[close + 1].plain == "(",
        let end = clusters[(close + 2)...].prefix(2_000).firstIndex(where: { $0.plain == ")" })
      else { return nil }
      let scalars = clusters[(close + 2)..<end].map(\.plain)
      guard scalars.allSatisfy({ $0 != nil }) else { return nil }
      let address = String(String.UnicodeScalarView(scalars.compactMap(\.self)))
      guard let link = Link.all(in: address).first, link.text == address else { return nil }
      label = start + 1..<close
      host = SafeText(untrusted: link.host, limit: 100)
      self.end = end + 1
    }

    /// Whether the label is the host, so that it need not be added.
    func saysHost(in clusters: [Cluster]) -> Bool {
      Array(clusters[label]) == host.clusters
    }
  }
}

extension Array where Element == Markup.Item {
  fileprivate var cells: Int { reduce(0) { $0 + $1.cluster.width } }
}

extension Array where Element == Cluster {
  /// Whether a word of ASCII stands there.
  fileprivate func hasWord(_ word: String, at start: Int) -> Bool {
    var index = start
    for scalar in word.unicodeScalars {
      guard index < count, self[index].plain == scalar else { return false }
      index += 1
    }
    return true
  }
}

extension SafeText {
  fileprivate func repeated(_ count: Int) -> SafeText {
    (0..<Swift.max(0, count)).map { _ in self }.joined()
  }
}

extension Cluster {
  /// The character, if there are no marks upon it.
  fileprivate var plain: Unicode.Scalar? { hasMarks ? nil : base }

  fileprivate var isWord: Bool {
    guard let base else { return false }
    return base.properties.isAlphabetic || base.properties.numericType != nil
  }

  fileprivate var isPunctuation: Bool {
    guard let plain, plain.isASCII else { return false }
    return !isWord && !isSpace
  }

  /// Whether it can be a part of an address.
  fileprivate var isOfAddress: Bool {
    guard let plain else { return false }
    return plain.value > 0x20 && plain.value < 0x7F
  }
}
