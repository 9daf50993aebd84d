/// Shows a text as its author meant it: paragraphs, quotes, lists, code, emphasis and links.
///
/// Whatever is not one of these is text. Only http and https become links, and the address of a link is
/// always the one that can be read or hovered over. The work is linear in the text: what closes an
/// emphasis is looked for within a short reach, and nothing nests deeply.
struct LightMarkdown {
  /// How far an emphasis, code or link may reach, in characters.
  private static let reach = 400
  /// How deeply emphasis nests.
  private static let depth = 3

  private var html = HTML()
  private var paragraph: [Substring] = []

  /// The text as HTML.
  static func html(_ text: String) -> HTML {
    var markdown = LightMarkdown()
    markdown.blocks(text)
    return markdown.html
  }

  // MARK: Blocks

  private mutating func blocks(_ text: String) {
    var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)[...]
    while let line = lines.first {
      if line.hasPrefix("```") {
        endParagraph()
        lines.removeFirst()
        code(&lines)
      } else if Self.quoted(line) != nil {
        endParagraph()
        quote(&lines)
      } else if let marker = Self.item(line) {
        endParagraph()
        list(&lines, isNumbered: marker.isNumbered)
      } else {
        if line.allSatisfy(\.isWhitespace) { endParagraph() } else { paragraph.append(line) }
        lines.removeFirst()
      }
    }
    endParagraph()
  }

  private mutating func endParagraph() {
    guard !paragraph.isEmpty else { return }
    html.tag("<p dir=\"auto\">")
    put(paragraph)
    html.tag("</p>\n")
    paragraph = []
  }

  /// Lines of one block; a line break of the author stays one.
  private mutating func put(_ lines: [Substring]) {
    for (index, line) in lines.enumerated() {
      if index > 0 { html.tag("<br/>\n") }
      inline(Array(line), depth: Self.depth)
    }
  }

  private mutating func code(_ lines: inout ArraySlice<Substring>) {
    html.tag("<pre><code>")
    while let line = lines.popFirst(), !line.hasPrefix("```") {
      html.put(String(line))
      html.tag("\n")
    }
    html.tag("</code></pre>\n")
  }

  private mutating func quote(_ lines: inout ArraySlice<Substring>) {
    var quoted: [Substring] = []
    while let line = lines.first.flatMap(Self.quoted) {
      quoted.append(line)
      lines.removeFirst()
    }
    html.tag("<blockquote><p dir=\"auto\">")
    put(quoted)
    html.tag("</p></blockquote>\n")
  }

  private mutating func list(_ lines: inout ArraySlice<Substring>, isNumbered: Bool) {
    html.tag(isNumbered ? "<ol>\n" : "<ul>\n")
    while let line = lines.first, let item = Self.item(line), item.isNumbered == isNumbered {
      html.tag("<li dir=\"auto\">")
      inline(Array(item.text), depth: Self.depth)
      html.tag("</li>\n")
      lines.removeFirst()
    }
    html.tag(isNumbered ? "</ol>\n" : "</ul>\n")
  }

  private static func quoted(_ line: Substring) -> Substring? {
    guard line.hasPrefix(">") else { return nil }
    let rest = line.dropFirst()
    return rest.hasPrefix(" ") ? rest.dropFirst() : rest
  }

  private static func item(_ line: Substring) -> (text: Substring, isNumbered: Bool)? {
    let line = line.drop { $0 == " " }
    for bullet in ["- ", "* ", "• "] where line.hasPrefix(bullet) {
      return (line.dropFirst(2), false)
    }
    let digits = line.prefix { $0.isASCII && $0.isNumber }
    guard (1...3).contains(digits.count), line.dropFirst(digits.count).hasPrefix(". ") else {
      return nil
    }
    return (line.dropFirst(digits.count + 2), true)
  }

  // MARK: Within a line

  private mutating func inline(_ characters: [Character], depth: Int) {
    var position = 0
    var plain = ""
    while position < characters.count {
      guard let span = Self.span(in: characters, at: position) else {
        plain.append(characters[position])
        position += 1
        continue
      }
      html.put(plain)
      plain = ""
      put(span, depth: depth)
      position = span.end
    }
    html.put(plain)
  }

  /// A part of a line that is shown differently.
  private struct Span {
    enum Kind {
      case code, strong, emphasis
      case link(String)
    }

    let kind: Kind
    let content: [Character]
    /// The position behind it.
    let end: Int
  }

  private mutating func put(_ span: Span, depth: Int) {
    switch span.kind {
    case .code:
      html.append(.element("code", String(span.content)))
    case .strong:
      html.tag("<strong>")
      nested(span.content, depth: depth)
      html.tag("</strong>")
    case .emphasis:
      html.tag("<em>")
      nested(span.content, depth: depth)
      html.tag("</em>")
    case .link(let address):
      html.append(
        .element(
          "a",
          ["href": address, "rel": "nofollow ugc noopener noreferrer"],
          String(span.content)
        )
      )
    }
  }

  private mutating func nested(_ content: [Character], depth: Int) {
    if depth > 1 { inline(content, depth: depth - 1) } else { html.put(String(content)) }
  }

  private static func span(in text: [Character], at start: Int) -> Span? {
    switch text[start] {
    case "`":
      guard let end = closing("`", in: text, from: start + 1), end > start + 1 else { return nil }
      return Span(kind: .code, content: Array(text[(start + 1)..<end]), end: end + 1)
    case "*", "_": return emphasis(in: text, at: start)
    case "h": return address(in: text, at: start)
    case "[": return namedLink(in: text, at: start)
    default: return nil
    }
  }

  private static func closing(_ mark: Character, in text: [Character], from start: Int) -> Int? {
    text[start..<min(text.count, start + reach)].firstIndex(of: mark)
  }

  private static func emphasis(in text: [Character], at start: Int) -> Span? {
    let mark = text[start]
    let isDouble = start + 1 < text.count && text[start + 1] == mark
    let length = isDouble ? 2 : 1
    let first = start + length
    // Within a word it is part of the word, as in a_name.
    guard start == 0 || !text[start - 1].isWord, first < text.count, !text[first].isWhitespace,
      text[first] != mark
    else { return nil }
    var position = first + 1
    while let end = closing(mark, in: text, from: position) {
      let isClosed = !isDouble || (end + 1 < text.count && text[end + 1] == mark)
      let next = end + length
      if isClosed, !text[end - 1].isWhitespace, next >= text.count || !text[next].isWord,
        end - first < reach
      {
        return Span(
          kind: isDouble ? .strong : .emphasis,
          content: Array(text[first..<end]),
          end: next
        )
      }
      position = end + 1
      guard position < text.count, position - first < reach else { return nil }
    }
    return nil
  }

  private static func address(in text: [Character], at start: Int) -> Span? {
    guard start == 0 || !text[start - 1].isWord else { return nil }
    let end = addressEnd(in: text, at: start, stop: { _ in false })
    guard let end else { return nil }
    let address = Array(text[start..<end])
    return Span(kind: .link(String(address)), content: address, end: end)
  }

  private static func namedLink(in text: [Character], at start: Int) -> Span? {
    guard let close = closing("]", in: text, from: start + 1), close > start + 1,
      close + 2 < text.count, text[close + 1] == "(",
      let end = addressEnd(in: text, at: close + 2, stop: { $0 == ")" }),
      end < text.count, text[end] == ")"
    else { return nil }
    return Span(
      kind: .link(String(text[(close + 2)..<end])),
      content: Array(text[(start + 1)..<close]),
      end: end + 1
    )
  }

  /// Where an address of http or https that starts at a position ends, or nil when there is none.
  private static func addressEnd(
    in text: [Character],
    at start: Int,
    stop: (Character) -> Bool
  ) -> Int? {
    let schemes = ["https://", "http://"]
    guard
      let scheme = schemes.first(where: { scheme in
        text[start...].starts(with: scheme)
      })
    else { return nil }
    var end = start
    while end < text.count, end - start < 2 * reach, !stop(text[end]), text[end].isInAddress {
      end += 1
    }
    // A sentence may end with an address.
    while end > start, ".,;:!?'".contains(text[end - 1]) { end -= 1 }
    if text[start..<end].last == ")", !text[start..<end].contains("(") { end -= 1 }
    return end > start + scheme.count ? end : nil
  }
}

extension Character {
  fileprivate var isWord: Bool { isLetter || isNumber }

  /// Whether it can be part of an address: visible ASCII, except what encloses addresses.
  fileprivate var isInAddress: Bool {
    guard let value = asciiValue, (0x21...0x7E).contains(value) else { return false }
    return !"<>\"`\\^{}|".contains(self)
  }
}
