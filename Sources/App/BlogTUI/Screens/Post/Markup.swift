import BlogModel

/// A line of safe text whose parts may look different.
package struct MarkedLine: Hashable, Sendable {
  package enum Look: Hashable, Sendable {
    case emphasis
    case strong
    case code
    case keyword
    case string
    case number
    case comment
    case heading
    case quote
    /// A link, a tag or a user name.
    case link
    /// Something that the program has added, such as the host of a link.
    case added
  }

  /// A range of clusters that looks different; parts do not overlap and are in order.
  package struct Part: Hashable, Sendable {
    package let range: Range<Int>
    /// How it looks; looks can be combined, such as strong and emphasis.
    package let looks: Set<Look>
    /// The target, if the part is a link.
    package let address: String?
  }

  package let text: SafeText
  package let parts: [Part]

  package init(_ text: SafeText) {
    self.text = text
    parts = []
  }

  fileprivate init(_ items: ArraySlice<Markup.Item>) {
    text = SafeText(clusters: items.map(\.cluster), lineBreaks: [])
    var parts: [Part] = []
    for (index, item) in items.enumerated() where !item.looks.isEmpty {
      var range = index..<index + 1
      if let last = parts.last, last.range.upperBound == index, last.looks == item.looks,
        last.address == item.address
      {
        range = last.range.lowerBound..<index + 1
        parts.removeLast()
      }
      parts.append(Part(range: range, looks: item.looks, address: item.address))
    }
    self.parts = parts
  }
}

/// Draws light markup, such as people write in plain text, as ``LightMarkdown`` parses it.
///
/// It works on text that is already safe, removes markup characters and adds a few of the program's
/// own, so nothing unsafe can get through.
package enum Markup {
  /// A cluster and how it looks.
  fileprivate struct Item {
    let cluster: Cluster
    var looks: Set<MarkedLine.Look> = []
    var address: String?
  }

  /// The symbols that the program draws instead of the typed ones.
  package struct Signs: Sendable {
    let glyphs: GlyphSet
    /// Whether the marks of code are shown, as nothing else sets it off.
    let keepsMarks: Bool
    var bar: SafeText { glyphs.vertical }
    var rule: SafeText { glyphs.horizontal }
    var crossing: SafeText { glyphs.repertoire == .unicode ? "┼" : "+" }

    /// Makes the symbols that a terminal can show.
    package init(_ glyphs: GlyphSet, keepsMarks: Bool = false) {
      self.glyphs = glyphs
      self.keepsMarks = keepsMarks
    }
  }

  /// The lines of a text, wrapped to a width; none if that is not positive.
  ///
  /// - Complexity: O(n) in the number of clusters.
  package static func lines(of text: SafeText, width: Int, signs: Signs) -> [MarkedLine] {
    guard width > 0 else { return [] }
    return LightMarkdown.lines(of: text.lines.lazy.map(\.clusters)).flatMap { line in
      lines(of: line, width: width, signs: signs)
    }
  }

  /// The beginning of any text on one line, with its markup interpreted: at most `limit`
  /// characters.
  package static func excerpt(of text: String, limit: Int, bullet: SafeText) -> SafeText {
    let line = MarkupExcerpt.line(of: text, limit: limit, blank: .space, bullet: bullet.clusters) {
      SafeText(untrusted: $0, limit: .max).clusters
    }
    return SafeText(clusters: line, lineBreaks: [])
  }

  private static func lines(
    of line: LightMarkdown<Cluster>.Line,
    width: Int,
    signs: Signs
  ) -> [MarkedLine] {
    let blanks = self.blanks(min(line.indent, width / 3))
    func items(_ runs: [LightMarkdown<Cluster>.Run], within looks: Set<MarkedLine.Look>) -> [Item] {
      self.items(runs, within: looks, keepsMarks: signs.keepsMarks)
    }
    switch line.kind {
    case .fence:
      guard signs.keepsMarks else { return [] }
      return wrap(items(line.runs, within: [.added]), first: [], others: [], width: width)
    case .code:
      let code = items(line.runs, within: [.code])
      // What is left of a long line stands further in than its beginning.
      let isLong = code.cells + 2 > width
      let indent = isLong ? min(code.prefix { $0.cluster.isSpace }.count + 2, width / 4) : 0
      return wrap(code, first: self.blanks(2), others: self.blanks(2 + indent), width: width)
    case .rule:
      return [MarkedLine(self.items(signs.rule.repeated(min(width, 24)), look: .added)[...])]
    case .heading:
      return wrap(items(line.runs, within: [.heading]), first: blanks, others: blanks, width: width)
    case .quote(let depth):
      let prefix = self.items((signs.bar + " ").repeated(min(depth, 4)), look: .added)
      return wrap(items(line.runs, within: [.quote]), first: prefix, others: prefix, width: width)
    case .item(let isNumbered):
      let sign =
        isNumbered
        ? line.marker.map { Item(cluster: $0) }
        : self.items(signs.glyphs.bullet + " ", look: .added)
      let hanging = self.blanks(sign.cells)
      return wrap(
        items(line.runs, within: []),
        first: blanks + sign,
        others: blanks + hanging,
        width: width
      )
    case .table: return line.table.map { lines(of: $0, width: width, signs: signs) } ?? []
    case .text:
      let text = items(line.runs, within: [])
      guard line.indent <= width / 3 else {
        return wrap(text, first: [], others: [], width: width)
      }
      let rest = Array(text.dropFirst(line.indent))
      return wrap(rest, first: blanks, others: blanks, width: width)
    }
  }

  // MARK: Parts

  private static func blanks(_ count: Int) -> [Item] {
    Array(repeating: Item(cluster: .space), count: max(0, count))
  }

  private static func items(_ text: SafeText, look: MarkedLine.Look?) -> [Item] {
    text.clusters.map { Item(cluster: $0, looks: look.map { [$0] } ?? []) }
  }

  private static func items(
    _ runs: [LightMarkdown<Cluster>.Run],
    within looks: Set<MarkedLine.Look>,
    keepsMarks: Bool
  ) -> [Item] {
    runs.flatMap { run in
      let all = looks.union(run.looks.map(look))
      let marks = keepsMarks ? 0 : run.signs
      var items = run.units.dropFirst(marks).dropLast(marks).map {
        Item(cluster: $0, looks: all, address: run.link?.text)
      }
      // The target of a link is always shown, since a label may say anything.
      if let link = run.link, run.isLabel {
        let host = SafeText(untrusted: link.host, limit: 100)
        if run.units != host.clusters {
          items += (" (" + host + ")").clusters.map {
            Item(cluster: $0, looks: looks.union([.added]))
          }
        }
      }
      return items
    }
  }

  private static func look(_ look: LightMarkdown<Cluster>.Look) -> MarkedLine.Look {
    switch look {
    case .emphasis: .emphasis
    case .strong: .strong
    case .code: .code
    case .keyword: .keyword
    case .string: .string
    case .number: .number
    case .comment: .comment
    case .mark, .link: .link
    }
  }

  // MARK: Tables

  /// The narrowest column into which longer cells are wrapped.
  private static let narrowestColumn = 8

  /// The lines of a table: columns if they fit, or else the cells below each other with their
  /// headings.
  private static func lines(
    of table: LightMarkdown<Cluster>.Table,
    width: Int,
    signs: Signs
  ) -> [MarkedLine] {
    let rows = table.rows.enumerated().map { number, row in
      row.map { cell in
        items(cell, within: number == 0 ? [.strong] : [], keepsMarks: signs.keepsMarks)
      }
    }
    let bar = items(" " + signs.bar + " ", look: .added)
    let columns = table.alignments.indices
    let needed = columns.map { column in rows.reduce(1) { max($0, $1[column].cells) } }
    let room = width - bar.count * (columns.count - 1)
    // The widest columns give way first.
    func total(_ limit: Int) -> Int { needed.reduce(0) { $0 + min($1, limit) } }
    let limits = (narrowestColumn...max(narrowestColumn, room)).reversed()
    guard let limit = limits.first(where: { total($0) <= room }) else {
      return list(rows, width: width, signs: signs)
    }
    let widths = needed.map { min($0, limit) }
    let rule = widths.map { signs.rule.repeated($0) }
      .joined(separator: signs.rule + signs.crossing + signs.rule)
    var lines: [MarkedLine] = []
    for (number, row) in rows.enumerated() {
      if number == 1 { lines.append(MarkedLine(items(rule, look: .added)[...])) }
      let cells = columns.map { pieces(row[$0], width: widths[$0]) }
      for piece in 0..<(cells.map(\.count).max() ?? 0) {
        var line: [Item] = []
        for column in columns {
          if column > 0 { line += bar }
          let part = cells[column].count > piece ? Array(cells[column][piece]) : []
          let space = widths[column] - part.cells
          let before =
            switch table.alignments[column] {
            case .leading: 0
            case .center: space / 2
            case .trailing: space
            }
          line += blanks(before) + part
          if column + 1 < columns.count { line += blanks(space - before) }
        }
        lines.append(MarkedLine(line[...]))
      }
    }
    return lines
  }

  /// The cells of a table below each other, each after its heading.
  private static func list(_ rows: [[[Item]]], width: Int, signs: Signs) -> [MarkedLine] {
    // Short, as it is repeated in every row.
    let headings = rows[0].map { heading in
      let end = heading.count > 24 ? items(signs.glyphs.ellipsis, look: .added) : []
      return heading.prefix(24) + end + items(": ", look: .added)
    }
    guard rows.count > 1 else {
      return rows[0].flatMap { wrap($0, first: [], others: [], width: width) }
    }
    var lines: [MarkedLine] = []
    for row in rows.dropFirst() {
      if !lines.isEmpty { lines.append(MarkedLine([])) }
      for (heading, cell) in zip(headings, row) where !cell.isEmpty {
        lines += wrap(heading + cell, first: [], others: blanks(2), width: width)
      }
    }
    return lines
  }

  // MARK: Lines

  /// Wraps a line, with one prefix for its first piece and another for the following pieces.
  private static func wrap(
    _ line: [Item],
    first: [Item],
    others: [Item],
    width: Int
  ) -> [MarkedLine] {
    let room = width - max(first.cells, others.cells)
    // Where there is no room for the prefix, the words matter more.
    guard room >= 4 || first.isEmpty && others.isEmpty else {
      return wrap(line, first: [], others: [], width: width)
    }
    return pieces(line, width: room).enumerated().map { index, piece in
      MarkedLine(((index == 0 ? first : others) + piece)[...])
    }
  }

  private static func pieces(_ line: [Item], width: Int) -> [ArraySlice<Item>] {
    guard line.cells > width else { return [line[...]] }
    let box = Item(cluster: .box)
    let line = width == 1 ? line.map { $0.cluster.width == 1 ? $0 : box } : line
    return LineBreaker.lines(of: line, width: width, cluster: \.cluster)
  }
}

extension Array where Element == Markup.Item {
  fileprivate var cells: Int { reduce(0) { $0 + $1.cluster.width } }
}

extension SafeText {
  fileprivate func repeated(_ count: Int) -> SafeText {
    (0..<Swift.max(0, count)).map { _ in self }.joined()
  }
}

extension Cluster: MarkupUnit {
  /// The character, if it has no combining marks.
  package var plain: Unicode.Scalar? { hasMarks ? nil : base }

  package var isOfWord: Bool {
    guard let base else { return false }
    return base.properties.isAlphabetic || base.properties.numericType != nil
  }

  package var isBlank: Bool { isSpace }
}
