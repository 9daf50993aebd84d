import ArgumentParser
import BlogModel
import BlogTUI
import RealtimeCore
import RealtimeDatabase

extension FeedKind: ExpressibleByArgument {
  /// The list with this name; nil if there is none.
  public init?(argument: String) { self.init(name: argument) }

  /// The lists that have a name of their own.
  static var defaultCompletionKind: CompletionKind {
    .list((tabs + [.following, .bookmarks]).map(\.name))
  }
}

struct List: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Print a list of posts: recent, top, mine, mytop, following, bookmarks or #TAG."
  )

  @Argument(help: "Which list: recent, top, mine, mytop, following, bookmarks or #TAG.")
  var feed: FeedKind = .recent

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let session = try BlogSession(options)
    session.print(try await session.blog.posts(feed))
  }
}

extension BlogSession {
  fileprivate func print(_ posts: [Post]) {
    let now = database.serverTime
    let names = NameBook(posts.map(\.writer))
    for post in posts {
      let star = post.stars.contains(blog.me.uid) ? "★" : "☆"
      let age = post.createdAt.map { AgeText.of(now - $0) } ?? "-"
      let name = names.shown(post.writer)
      options.answer(
        "\(post.id)  \(star) \(post.starCount)  \(age)  \(name): \(post.title)",
        json: post.json
      )
    }
  }
}

struct SearchPosts: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "search",
    abstract: "Print the posts that match a search, in their text or in a comment.",
    discussion: """
      Words next to each other match as a phrase in title, author, text and comments. author:NAME, \
      title:TEXT, #TAG, stars>5, mine, starred and unread test one property; ! negates a part. All \
      parts must match.
      """
  )

  @Argument(help: "The parts of the search, as after / on the screen.")
  var pattern: [String]

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let text = pattern.map(DashedWord.restore).joined(separator: " ")
    if let problem = SearchPattern.problem(in: text) {
      throw CommandFailure(.usage, problem)
    }
    guard let pattern = SearchPattern(text) else {
      throw CommandFailure(.usage, "a search needs a word")
    }
    let session = try BlogSession(options)
    let me = session.blog.me.uid
    let readState = pattern.looksAtReadState ? try await session.blog.readState() : nil
    let found = try await session.blog.search(.recent) { post, comments in
      pattern.matches(post, comments: comments, me: me, readState: readState)
    }
    let muted = await session.blog.muted()
    session.print(found.filter { !muted.contains($0.uid) })
  }
}

struct Notices: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "notices",
    abstract: "Print comments and stars on your posts, answers to you, and where you are named.",
    discussion: "What is new has a * in front; \"hearth read\" takes it away, as on the screen."
  )

  @Flag(help: "Print only what is new.")
  var unread = false

  @Flag(help: "Clear the list for good, on all your terminals, when it is printed.")
  var clear = false

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let session = try await BlogSession(options).named()
    let (all, state) = try await session.blog.notices()
    let muted = await session.blog.muted()
    let entries = all.filter { !($0.author.map { muted.contains($0.uid) } ?? false) }
    let now = session.database.serverTime
    let names = NameBook(entries.compactMap(\.author))
    for entry in entries where !unread || state.isUnread(entry) {
      let isUnread = state.isUnread(entry)
      let age = entry.at.map { AgeText.of(now - $0) } ?? "-"
      let sentence = entry.sentence(by: entry.author.map { names.shown($0) } ?? "")
      options.answer(
        "\(isUnread ? "*" : " ") \(entry.post)  \(age)  \(sentence)",
        json: entry.json(isUnread: isUnread)
      )
    }
    if clear { try await session.blog.clear(entries) }
  }
}

struct People: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "people",
    abstract: "Print who is online, one person a line, with what they read."
  )

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let session = try BlogSession(options)
    let blog = session.blog
    let terminals = try await blog.people()
    let muted = await blog.muted()
    let places = Dictionary(await blog.reading(of: terminals).map { ($0.id, $0) }) { $1 }
    let people = Person.all(in: terminals).filter { !muted.contains($0.author.uid) }
    let names = NameBook(people.map(\.author))
    for person in people {
      let terminals = person.terminals.map(\.terminal).joined(separator: ", ")
      let what = ReadingPlace.sentence(of: person.terminals.compactMap { places[$0.id] })
      let parts = [names.shown(person.author), terminals, what].compactMap(\.self)
      options.answer(parts.joined(separator: "  "), json: person.json(places))
    }
  }
}

extension Person {
  fileprivate func json(_ places: [String: ReadingPlace]) -> JSONValue {
    let terminals = terminals.map { terminal in
      JSONValue.object(
        ("terminal", .string(terminal.terminal)),
        ("since", terminal.since.map { .integer($0) } ?? .null),
        ("reading", places[terminal.id]?.json ?? .null)
      )
    }
    return .object(
      ("uid", .string(author.uid)),
      ("name", .string(author.name)),
      ("terminals", .array(terminals))
    )
  }
}

extension ReadingPlace {
  /// The place as commands print it; for the lists, there is no post.
  fileprivate var json: JSONValue {
    .object(
      ("post", post.map { .string($0) } ?? .null),
      ("title", title.map { .string($0) } ?? .null)
    )
  }
}

struct PostArgument: ParsableArguments, Identifiable {
  @Argument("The id of the post.", completion: .posts)
  var id: String
}

struct Show: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print a post and its comments."
  )

  @OptionGroup var chosen: PostArgument

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let session = try BlogSession(options)
    let post = try await session.blog.post(chosen.id)
    let all = try await session.blog.comments(on: chosen.id)
    let muted = await session.blog.muted()
    let comments = all.filter { !muted.contains($0.uid) }
    if options.json {
      guard case .object(var members) = post.json else { return }
      members.append(JSONMember("comments", .array(comments.map(\.json))))
      Output.line(.object(members))
      return
    }
    let names = NameBook([post.writer] + comments.map(\.writer))
    let now = session.database.serverTime
    let age = post.createdAt.map { AgeText.of(now - $0) } ?? "-"
    Output.line(untrusted: post.title)
    let owner = names.shown(post.writer)
    Output.line(
      untrusted: "\(owner), \(age), \(post.starCount) \(post.starCount == 1 ? "star" : "stars")"
    )
    Output.line("")
    Output.lines(untrusted: post.shownBody, indent: "  ")
    let known = Dictionary(comments.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    for comment in comments {
      let age = comment.createdAt.map { AgeText.of(now - $0) } ?? "-"
      Output.line("")
      var heading = "\(comment.id)  \(names.shown(comment.writer)), \(age)"
      if let parent = comment.parent {
        // The parent comment may have been deleted, or may never have existed.
        heading += ", answering "
        heading +=
          known[parent].map { "\(names.shown($0.writer)) (\($0.id))" } ?? "a comment that is gone"
      }
      Output.line(untrusted: heading)
      Output.lines(untrusted: comment.shownText, indent: "  ")
    }
  }
}
