internal import RealtimeCore

/// The texts that a blog takes, as its rules do: lengths in UTF-16 code units, visible text, and no
/// control characters.
///
/// ``Blog`` asks here before it writes; whoever edits a text asks first, to tell its writer.
package enum BlogBounds {
  /// A text that the blog does not take.
  package struct Problem: Hashable, Sendable {
    /// The text that the problem is about.
    package enum Field: Hashable, Sendable {
      case title
      case body
      case comment
    }

    package let field: Field
    /// What is wrong, as a sentence.
    package let description: String
  }

  package static let title = 300
  /// The longest text of a post.
  package static let body = 65_536
  package static let comment = 10_000
  /// The longest name of an author.
  static let author = 200

  private static let limits: [ChildKey: Int] = [
    .author: author, .title: title, .body: body, .commentText: comment,
  ]
  /// The maximum length of any other text.
  private static let longest = 768

  // MARK: Before a text is written

  /// What is wrong with a post, or with the parts of one that change; nil if it can be written.
  package static func problem(title: String?, body: String?) -> Problem? {
    if title?.isBlank == true || body?.isBlank == true {
      return Problem(
        field: title?.isBlank == true ? .title : .body,
        description: "Neither title nor body can be empty."
      )
    }
    return problem(titleCount: title?.utf16.count ?? 0, bodyCount: body?.utf16.count ?? 0)
      ?? title.flatMap { control(in: $0, .title) } ?? body.flatMap { control(in: $0, .body) }
  }

  /// What is wrong with a post of these lengths; nil if they are allowed.
  package static func problem(titleCount: Int, bodyCount: Int) -> Problem? {
    excess(of: titleCount, over: title, "The title", .title)
      ?? excess(of: bodyCount, over: body, "The text", .body)
  }

  /// What is wrong with a comment; nil if it can be written.
  package static func problem(comment text: String) -> Problem? {
    if text.isBlank { return Problem(field: .comment, description: "A comment cannot be empty.") }
    return excess(of: text.utf16.count, over: comment, "The comment", .comment)
      ?? control(in: text, .comment)
  }

  private static func excess(
    of count: Int,
    over limit: Int,
    _ name: String,
    _ field: Problem.Field
  ) -> Problem? {
    let excess = count - limit
    guard excess > 0 else { return nil }
    let characters = excess == 1 ? "character" : "characters"
    return Problem(field: field, description: "\(name) is \(excess) \(characters) too long.")
  }

  /// Finds a control character; a title is one line, and other texts may contain tabs and lines.
  private static func control(in text: String, _ field: Problem.Field) -> Problem? {
    let found = text.unicodeScalars.first { scalar in
      scalar.properties.generalCategory == .control
        && (field == .title || scalar != "\n" && scalar != "\t")
    }
    guard let found else { return nil }
    if field == .title, found == "\n" || found == "\r" {
      return Problem(field: field, description: "The title has more than one line.")
    }
    let digits = String(found.value, radix: 16, uppercase: true)
    let code = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    let name =
      switch field {
      case .title: "The title"
      case .body: "The text"
      case .comment: "The comment"
      }
    return Problem(field: field, description: "\(name) has a control character, U+\(code).")
  }

  // MARK: Where a text is read

  /// A text as far as it may be written, and a sentence where that is not all of it.
  package static func shown(_ text: String, upTo limit: Int) -> String {
    guard text.utf8.count > limit,
      let end = text.utf16.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex),
      end < text.endIndex
    else { return text }
    return text[..<end] + "\n\nThe rest is not shown: \(limit) characters are allowed."
  }

  // MARK: What is stored already

  /// The text in a post or comment that is too long, described in words; nil if there is none.
  static func problem(with entry: Node) -> String? {
    for (key, value) in entry.entries {
      let limit = limits[key] ?? longest
      if let length = longestText(in: value), length > limit {
        return "\(key) has a text of \(length) characters; \(limit) are allowed"
      }
    }
    return nil
  }

  private static func longestText(in node: Node) -> Int? {
    if case .string(let text)? = node.leafValue { return text.utf16.count }
    return node.entries.compactMap { longestText(in: $0.value) }.max()
  }
}

extension Post {
  /// The text as readers see it: all that may be written.
  package var shownBody: String { BlogBounds.shown(body, upTo: BlogBounds.body) }
}

extension Comment {
  package var shownText: String { BlogBounds.shown(text, upTo: BlogBounds.comment) }
}

extension String {
  /// Whether a reader would see nothing.
  package var isBlank: Bool {
    unicodeScalars.allSatisfy { scalar in
      let properties = scalar.properties
      if properties.isWhitespace || properties.isDefaultIgnorableCodePoint { return true }
      switch properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .nonspacingMark, .enclosingMark,
        .spacingMark:
        return true
      default:
        // Braille's blank is a symbol.
        return scalar == "\u{2800}"
      }
    }
  }
}
