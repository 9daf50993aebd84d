package import BlogModel

/// A search that filters the lists while posts come and go.
package struct Search: Equatable, Sendable {
  package internal(set) var field = TextField(limit: 200)
  package internal(set) var isEditing = true
  /// The post that was selected before the search.
  package let origin: PostID?

  /// The pattern to search for; nil while nothing is typed.
  package var pattern: SearchPattern? { SearchPattern(field.text) }
}

/// A search pattern for posts; it ignores case.
///
/// Adjacent words match as a phrase in title, author and text. `author:NAME`, `#TAG`, `title:TEXT`,
/// `stars>5` (also `<`, `>=`, `<=`, `=`), `mine`, `starred` and `unread` test one property; `!`
/// negates a part; a part in quotes is text. All parts must match.
package struct SearchPattern: Hashable, Sendable {
  private struct Term: Hashable, Sendable {
    let test: Test
    let isNegated: Bool
  }

  private enum Test: Hashable, Sendable {
    case text(Needle)
    case author(Needle)
    case title(Needle)
    /// A tag that begins with this text.
    case tag(String)
    case stars(Comparison, Int)
    case mine
    case starred
    case unread
  }

  private enum Comparison: String, Hashable, Sendable, CaseIterable {
    // Two-character operators come first, so that none is mistaken for its first character.
    case atLeast = ">="
    case atMost = "<="
    case more = ">"
    case less = "<"
    case equal = "="

    func holds(_ left: Int, _ right: Int) -> Bool {
      switch self {
      case .atLeast: left >= right
      case .atMost: left <= right
      case .more: left > right
      case .less: left < right
      case .equal: left == right
      }
    }
  }

  private let terms: [Term]

  /// Makes a pattern; nil if the text matches everything.
  package init?(_ text: String) {
    var terms: [Term] = []
    var words: [Substring] = []
    func endPhrase() {
      guard !words.isEmpty else { return }
      terms.append(Term(test: .text(Needle(words.joined(separator: " "))), isNegated: false))
      words = []
    }
    for part in Self.parts(text) {
      let isNegated = part.first == "!" && part.count > 1
      let rest = isNegated ? part.dropFirst() : part[...]
      let test = Self.test(rest)
      if !isNegated, test == nil {
        words.append(part)
      } else {
        endPhrase()
        terms.append(Term(test: test ?? .text(Needle(rest)), isNegated: isNegated))
      }
    }
    endPhrase()
    guard !terms.isEmpty else { return nil }
    self.terms = terms
  }

  /// The parts of a search, separated by spaces outside quotes.
  private static func parts(_ text: String) -> [Substring] {
    var isQuoted = false
    return text.split { character in
      if character == "\"" { isQuoted.toggle() }
      return character == " " && !isQuoted
    }
  }

  /// The test that a part denotes; nil if it is plain text.
  private static func test(_ part: Substring) -> Test? {
    if part.count > 1, part.first == "\"", part.last == "\"" {
      return .text(Needle(part.dropFirst().dropLast()))
    }
    switch part.lowercased() {
    case "mine": return .mine
    case "starred": return .starred
    case "unread": return .unread
    default: break
    }
    if part.first == "#", let tag = TextMarks.key(ofTag: String(part)) { return .tag(tag) }
    if let name = value(of: "author:", in: part) { return .author(Needle(name)) }
    if let title = value(of: "title:", in: part) { return .title(Needle(title)) }
    for comparison in Comparison.allCases {
      guard let number = value(of: "stars" + comparison.rawValue, in: part) else { continue }
      return Int(number).map { .stars(comparison, $0) }
    }
    return nil
  }

  /// What a search asks for that does not exist, as a sentence; nil if there is no such part.
  package static func problem(in text: String) -> String? {
    for part in parts(text) where part.first != "\"" {
      let part = part.first == "!" ? part.dropFirst() : part
      guard test(part) == nil else { continue }
      for (name, needed) in valuedTests
      where [name, name + "\"\""].contains(part.lowercased()) || value(of: name, in: part) != nil {
        return "\(name) needs \(needed)."
      }
      // Addresses and names such as std::string have colons as well.
      guard let colon = part.firstIndex(of: ":"), colon > part.startIndex,
        part[..<colon].allSatisfy({ $0.isASCII && $0.isLetter }),
        let next = part[colon...].dropFirst().first, next != "/", next != ":"
      else { continue }
      return "There is no \"\(part[...colon])\": there are author:NAME, title:TEXT, #TAG, stars>N, "
        + "mine, starred and unread. Quotes search for a text."
    }
    return nil
  }

  /// The beginnings of parts that need something behind them, and what they need.
  private static let valuedTests =
    Comparison.allCases.map { ("stars" + $0.rawValue, "a number") }
    + [("author:", "a name"), ("title:", "a text")]

  private static func value(of name: String, in part: Substring) -> Substring? {
    guard part.lowercased().hasPrefix(name), part.count > name.count else { return nil }
    let value = part.dropFirst(name.count)
    guard value.count > 1, value.first == "\"", value.last == "\"" else { return value }
    return value.count > 2 ? value.dropFirst().dropLast() : nil
  }

  /// Whether a part of it may be in a comment.
  var looksAtTexts: Bool {
    terms.contains { term in
      if case .text = term.test { true } else { false }
    }
  }

  /// Whether a part of it asks for what is unread.
  package var looksAtReadState: Bool { terms.contains { $0.test == .unread } }

  /// Whether a post with these comments matches.
  ///
  /// - Complexity: O(n) in the length of the texts, for the patterns that people type
  package func matches(
    _ post: Post,
    comments: [Comment] = [],
    me: String = "",
    readState: ReadState? = nil
  ) -> Bool {
    terms.allSatisfy { term in
      let isMatch =
        switch term.test {
        case .text(let needle):
          needle.isIn(post.title) || needle.isIn(post.author) || needle.isIn(post.body)
            || comments.contains { needle.isIn($0.text) || needle.isIn($0.author) }
        case .tag(let tag):
          TextMarks(of: post.title, post.body).tags.contains { $0.hasPrefix(tag) }
        case .author(let needle): needle.isIn(post.author) || needle.isIn(post.uid)
        case .title(let needle): needle.isIn(post.title)
        case .stars(let comparison, let number): comparison.holds(post.starCount, number)
        case .mine: post.uid == me
        case .starred: post.stars.contains(me)
        case .unread: post.uid != me && readState?.isUnread(post) == true
        }
      return isMatch != term.isNegated
    }
  }
}

/// The text to search for, in lower case.
struct Needle: Hashable, Sendable {
  private let bytes: [UInt8]

  init(_ text: some StringProtocol) { bytes = Array(text.lowercased().utf8) }

  func isIn(_ text: String) -> Bool {
    // An ASCII text need not be copied.
    let isInASCII = text.utf8.withContiguousStorageIfAvailable { hay in
      hay.allSatisfy { $0 < 0x80 } ? occurs(in: hay) : nil
    }
    return (isInASCII ?? nil) ?? occurs(in: Array(text.lowercased().utf8))
  }
}

extension Needle {
  /// Whether a text begins with it.
  func begins(_ text: String) -> Bool {
    let start = text.utf8.prefix(bytes.count)
    if start.count == bytes.count, zip(start, bytes).allSatisfy({ Self.lowercased($0) == $1 }) {
      return true
    }
    return !start.allSatisfy { $0 < 0x80 } && text.lowercased().utf8.starts(with: bytes)
  }

  private func occurs(in hay: some RandomAccessCollection<UInt8>) -> Bool {
    guard let first = bytes.first else { return true }
    guard hay.count >= bytes.count else { return false }
    return hay.indices.dropLast(bytes.count - 1).contains { start in
      Self.lowercased(hay[start]) == first
        && zip(hay[start...], bytes).allSatisfy { Self.lowercased($0) == $1 }
    }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    0x41 <= byte && byte <= 0x5A ? byte | 0x20 : byte
  }
}

/// Selects the posts that a list shows: those that match the search, are not about to be
/// deleted and not of people who are muted.
package struct PostFilter: Sendable {
  /// The pattern to search for; nil for everything.
  package let pattern: SearchPattern?
  /// The posts that match because of their comments.
  package let found: Set<PostID>
  package let me: String
  package let readState: ReadState?
  /// The keys of the items with a pending deletion.
  package let hidden: Set<String>
  /// The identifiers of the people whose posts are not shown.
  package let muted: Set<String>
  package let dividesDays: Bool
  /// The space for the text of a post, where rows are only as high as needed; nil otherwise.
  package let textRoom: Size?

  var passesAll: Bool { pattern == nil && hidden.isEmpty && muted.isEmpty }

  package func passes(_ post: Post) -> Bool {
    guard !hidden.contains(post.id), !muted.contains(post.uid) else { return false }
    return found.contains(post.id) || pattern?.matches(post, me: me, readState: readState) ?? true
  }
}
