import BlogModel

@testable import BlogTUI

/// Why a line of a scene cannot be done.
struct SceneMistake: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// The words of a line: a text in quotes is one word, and `;` is one of its own.
struct SceneWords {
  struct Word {
    var text = ""
    var isQuoted = false
  }

  private(set) var all: [Word] = []

  init(_ line: some StringProtocol) {
    var word: Word?
    var isInQuotes = false
    var rest = Substring(line)
    func end() {
      if let word { all.append(word) }
      word = nil
    }
    while let character = rest.popFirst() {
      switch character {
      case "\"":
        isInQuotes.toggle()
        if word == nil { word = Word(isQuoted: true) }
      case "\\" where isInQuotes: word?.text += Self.unescaped(&rest)
      case " " where !isInQuotes: end()
      case ";" where !isInQuotes:
        end()
        all.append(Word(text: ";"))
      default:
        word = Word(text: (word?.text ?? "") + String(character), isQuoted: word?.isQuoted ?? false)
      }
    }
    end()
  }

  /// What a backslash and the text behind it stand for.
  private static func unescaped(_ rest: inout Substring) -> String {
    switch rest.popFirst() {
    case "n": return "\n"
    case "e": return "\u{1B}"
    case "u":
      let digits = rest.prefix { $0 != "}" }.dropFirst()
      rest = rest.dropFirst(digits.count + 2)
      return UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init).map { String($0) } ?? ""
    case let character?: return String(character)
    case nil: return ""
    }
  }

  /// A text as it stands, or what is in its quotes.
  static func value(_ text: String) -> String {
    guard text.count > 1, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
    return SceneWords(text).all.first?.text ?? ""
  }
}

extension ArraySlice<String> {
  /// Removes the first word.
  mutating func take(_ what: String) throws -> String {
    guard let word = popFirst() else { throw SceneMistake("\(what) is missing") }
    return word
  }

  mutating func takeNumber() throws -> Int {
    let word = try take("a number")
    guard let number = Int(word) else { throw SceneMistake("\(word) is not a number") }
    return number
  }

  /// Removes the word on or off.
  mutating func takeFlag() throws -> Bool {
    let word = try take("on or off")
    guard ["on", "off"].contains(word) else { throw SceneMistake("\(word) is neither on nor off") }
    return word == "on"
  }

  mutating func takeFeed() throws -> FeedKind {
    let word = try take("a list")
    let all: [String: FeedKind] = [
      "recent": .recent, "top": .top, "mine": .mine, "my-top": .myTop, "following": .following,
      "bookmarks": .bookmarks,
    ]
    if let kind = all[word] { return kind }
    if word.hasPrefix("author:") { return .author(uid: String(word.dropFirst(7))) }
    if word.hasPrefix("tag:") { return .tag(String(word.dropFirst(4))) }
    throw SceneMistake("\(word) is not a list")
  }

  /// Removes all words; they are posts.
  mutating func takePosts() throws -> [Post] {
    defer { removeAll() }
    return try flatMap { word -> [Post] in
      if word == "posts" { return Fixture.posts }
      if let range = word.wholeMatch(of: /n(-?\d+)\.\.\.(\d+)/),
        let first = Int(range.1), let last = Int(range.2)
      {
        return Fixture.numbered(first...last)
      }
      return [try Self.post(word)]
    }
  }

  private static func post(_ word: String) throws -> Post {
    let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
    guard let head = parts.first?.wholeMatch(of: /([^@*]+)(?:@([^*]*))?(?:\*(\d+))?/) else {
      throw SceneMistake("\(word) is not a post")
    }
    let id = String(head.1)
    let numbered = id.first == "n" ? Int(id.dropFirst()).map { Fixture.numbered([$0]) } : nil
    var post =
      (numbered ?? Fixture.posts).first { $0.id == id }
      ?? Post(id: id, uid: "bob", author: "bob", title: "T", body: "B")
    if let author = head.2.map(String.init) { (post.uid, post.author) = (author, author) }
    if let stars = head.3.flatMap({ Int($0) }) { post.starCount = stars }
    if parts.count > 1 {
      let texts = parts[1].split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
      if texts[0] != "" { post.title = String(texts[0]) }
      if texts.count > 1 { post.body = String(texts[1]) }
    }
    return post
  }

  /// Removes all words; they are comments.
  mutating func takeComments() throws -> [BlogComment] {
    defer { removeAll() }
    return try flatMap { word -> [BlogComment] in
      if word == "fixture" { return Fixture.comments }
      if let range = word.wholeMatch(of: /([a-z])(\d+)\.\.\.(\d+)/),
        let first = Int(range.2), let last = Int(range.3)
      {
        return (first...last).map { BlogComment("\(range.1)\($0)") }
      }
      return [try Self.comment(word)]
    }
  }

  static func comment(_ word: String) throws -> BlogComment {
    if let fixture = word.wholeMatch(of: /f([123])/), let number = Int(fixture.1) {
      return Fixture.comments[number - 1]
    }
    let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
    guard let head = parts.first?.wholeMatch(of: /([^<@]+)(?:<([^@]+))?(?:@(.*))?/) else {
      throw SceneMistake("\(word) is not a comment")
    }
    return BlogComment(
      String(head.1),
      to: head.2.map(String.init),
      by: head.3.map(String.init) ?? "bob",
      parts.count > 1 ? parts[1] : nil
    )
  }

  /// Removes an action, up to the word `because` or the end.
  mutating func takeAction(answering find: (String) -> BlogComment?) throws -> BlogAction {
    let verb = try take("an action")
    switch verb {
    case "post":
      let id = count > 2 && self[startIndex + 2] != "because" ? try take("a key") : nil
      return .post(id, title: try take("a title"), body: try take("a text"))
    case "comment":
      let post = try take("a post")
      let others = prefix { $0 != "to" && $0 != "because" }
      let id = others.count > 1 ? try take("a key") : nil
      let text = try take("a text")
      guard first == "to" else { return .comment(post, commentID: id, text: text) }
      removeFirst()
      let comment = try take("a comment")
      guard let answered = find(comment) else { throw SceneMistake("there is no \(comment)") }
      return .comment(post, commentID: id, text: text, answering: answered)
    case "edit":
      let (post, title, body) = (try take("a post"), try take("a title"), try take("a text"))
      return .edit(post, title: title == "-" ? nil : title, body: body == "-" ? nil : body)
    case "edit-comment":
      let (post, comment) = (try take("a post"), try take("a comment"))
      return .editComment(post, commentID: comment, text: try take("a text"))
    case "delete-comment":
      return .deleteComment(try take("a post"), commentID: try take("a comment"))
    case "delete": return .deletePost(try take("a post"))
    case "star", "unstar": return .star(try take("a post"), verb == "star")
    case "bookmark", "unbookmark": return .bookmark(try take("a post"), verb == "bookmark")
    case "follow", "unfollow": return .follow(uid: try take("a person"), verb == "follow")
    case "mute", "unmute": return .mute(uid: try take("a person"), verb == "mute")
    case "block", "unblock": return .block(uid: try take("a person"), verb == "block")
    case "rename": return .rename(try take("a name"))
    case "save-search", "remove-search":
      let (slot, name) = (try take("a place"), try take("a name"))
      return .saveSearch(
        slot: slot,
        name: name,
        text: verb == "save-search" ? try take("a search") : nil
      )
    default: throw SceneMistake("\(verb) is not an action")
    }
  }
}
