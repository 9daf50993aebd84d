import BlogModel

/// Renders a text as its author meant it: paragraphs, headings, quotes, lists, tables, code, emphasis
/// and links.
///
/// ``LightMarkdown`` parses the markup, as on a terminal; this type only turns it into elements. A
/// link always leads to the address that the reader sees in the text or when hovering over it.
struct MarkedText {
  private typealias Markdown = LightMarkdown<Character>

  /// A group of lines that form one element.
  private enum Group: Hashable {
    case paragraph
    case code
    case quote
    case list(isNumbered: Bool)
  }

  private var html = HTML()
  private var group: Group?
  /// Whether a line has been written in the group.
  private var hasLine = false

  static func html(_ text: String) -> HTML {
    var marked = MarkedText()
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for line in Markdown.lines(of: lines.lazy.map { Array($0) }) { marked.put(line) }
    marked.end()
    return marked.html
  }

  /// The beginning of a text on one line, as its author meant it.
  static func line(_ text: String, limit: Int) -> String {
    // One extra character shows that something is left out.
    let line = MarkupExcerpt.line(of: text, limit: limit + 1, blank: " ", bullet: ["•"]) {
      Array(String(String.UnicodeScalarView($0)))
    }
    return PlainText.line(String(line), limit: limit)
  }

  // MARK: Lines

  private mutating func put(_ line: Markdown.Line) {
    switch line.kind {
    case .fence:
      let isOpen = group == .code
      end()
      if !isOpen { begin(.code) }
    case .code:
      for run in line.runs { putCode(run) }
      html.tag("\n")
    case .rule:
      end()
      html.tag("<hr/>\n")
    case .heading(let level):
      end()
      // The title of the post ranks above these headings.
      html.tag(level <= 2 ? "<h3 dir=\"auto\">" : "<h4 dir=\"auto\">")
      put(line.runs)
      html.tag(level <= 2 ? "</h3>\n" : "</h4>\n")
    case .quote:
      begin(.quote)
      breakLine()
      put(line.runs)
    case .item(let isNumbered):
      begin(.list(isNumbered: isNumbered))
      html.tag("<li dir=\"auto\">")
      put(line.runs)
      html.tag("</li>\n")
    case .table:
      end()
      if let table = line.table { put(table) }
    case .text:
      guard line.runs.contains(where: { !$0.units.allSatisfy(\.isWhitespace) }) else {
        return end()
      }
      begin(.paragraph)
      breakLine()
      put(line.runs)
    }
  }

  private mutating func put(_ table: Markdown.Table) {
    html.tag("<table>\n")
    for (number, row) in table.rows.enumerated() {
      html.tag("<tr>")
      for (cell, alignment) in zip(row, table.alignments) {
        switch alignment {
        case .leading: html.tag(number == 0 ? "<th dir=\"auto\">" : "<td dir=\"auto\">")
        case .center: html.tag(number == 0 ? "<th class=\"center\">" : "<td class=\"center\">")
        case .trailing: html.tag(number == 0 ? "<th class=\"end\">" : "<td class=\"end\">")
        }
        put(cell)
        html.tag(number == 0 ? "</th>" : "</td>")
      }
      html.tag("</tr>\n")
    }
    html.tag("</table>\n")
  }

  /// Keeps a line break that the author wrote.
  private mutating func breakLine() {
    if hasLine { html.tag("<br/>\n") }
    hasLine = true
  }

  private mutating func begin(_ new: Group) {
    guard new != group else { return }
    end()
    group = new
    switch new {
    case .paragraph: html.tag("<p dir=\"auto\">")
    case .code: html.tag("<pre><code>")
    case .quote: html.tag("<blockquote><p dir=\"auto\">")
    case .list(let isNumbered): html.tag(isNumbered ? "<ol>\n" : "<ul>\n")
    }
  }

  private mutating func end() {
    switch group {
    case .paragraph: html.tag("</p>\n")
    case .code: html.tag("</code></pre>\n")
    case .quote: html.tag("</p></blockquote>\n")
    case .list(let isNumbered): html.tag(isNumbered ? "</ol>\n" : "</ul>\n")
    case nil: break
    }
    group = nil
    hasLine = false
  }

  // MARK: Within a line

  /// Writes a part of a code block, with what it is in its language.
  private mutating func putCode(_ run: Markdown.Run) {
    let kinds: [(Markdown.Look, String)] = [
      (.keyword, "keyword"), (.string, "string"), (.number, "number"), (.comment, "comment"),
    ]
    let text = String(run.units)
    guard let kind = kinds.first(where: { run.looks.contains($0.0) })?.1 else {
      return html.put(text)
    }
    html.element("span", attributes: ["class": kind], content: text)
  }

  /// Writes the parts of a line; emphasis that continues from one part to the next is one element.
  private mutating func put(_ runs: [Markdown.Run]) {
    var open: [Markdown.Look] = []
    for run in runs {
      while let last = open.last, !open.allSatisfy(run.looks.contains) {
        end(last)
        open.removeLast()
      }
      for look in [Markdown.Look.strong, .emphasis]
      where run.looks.contains(look) && !open.contains(look) {
        html.tag(look == .strong ? "<strong>" : "<em>")
        open.append(look)
      }
      put(run)
    }
    while let last = open.popLast() { end(last) }
  }

  private mutating func end(_ look: Markdown.Look) {
    html.tag(look == .strong ? "</strong>" : "</em>")
  }

  private mutating func put(_ run: Markdown.Run) {
    let text = String(run.units)
    if let link = run.link {
      html.element(
        "a",
        attributes: ["href": link.text, "rel": "nofollow ugc noopener noreferrer"],
        content: text
      )
    } else if run.looks.contains(.code) {
      let code = run.units.dropFirst(run.signs).dropLast(run.signs)
      html.element("code", content: String(code))
    } else {
      html.put(text)
    }
  }
}
