import ArgumentParser
import BlogModel
import Foundation

struct WritePost: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "post",
    abstract: "Write a post and print its id."
  )

  @Option(help: "The title, one line.")
  var title: String

  @Option(help: "The body; - reads it from stdin.")
  var body: String

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let text = try InputFile.text(orStandardInput: body)
    let session = try await BlogSession(options).named()
    let written = try await session.blog.perform(.post(title: title, body: text))
    Output.stored("post", written.key ?? "", asJSON: options.json)
  }
}

struct WriteComment: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "comment",
    abstract: "Write a comment on a post and print its id."
  )

  @OptionGroup var post: PostArgument

  @Argument("What to say; - reads it from stdin.")
  var text: String

  @Option(help: "Answer that comment.".taking("comment"))
  var answer: String?

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let text = try InputFile.text(orStandardInput: text)
    let session = try await BlogSession(options, asUser: true).named()
    var answered: Comment?
    if let answer {
      answered = try await session.blog.comment(answer, on: session.blog.post(post.id).id)
    }
    let action = BlogAction.comment(post.id, text: text, answering: answered)
    let written = try await session.blog.perform(action)
    Output.stored("comment", written.key ?? "", asJSON: options.json)
  }
}

struct Star: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "star",
    abstract: "Star a post; starring it twice is harmless."
  )

  @OptionGroup var post: PostArgument

  @Option(help: "Star and unstar it in turn, this many times in all.".taking("n"))
  var times = 1

  @OptionGroup var starring: StarOptions
  @OptionGroup var options: CommonOptions

  func run() async throws {
    guard times > 0 else { throw CommandFailure(.usage, "--times must be at least 1") }
    let session = try BlogSession(options, starring: starring)
    for turn in 0..<times { try await session.blog.perform(.star(post.id, turn % 2 == 0)) }
  }
}

struct Unstar: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "unstar",
    abstract: "Take your star off a post."
  )

  @OptionGroup var post: PostArgument

  @OptionGroup var starring: StarOptions
  @OptionGroup var options: CommonOptions

  func run() async throws {
    let session = try BlogSession(options, starring: starring)
    try await session.blog.perform(.star(post.id, false))
  }
}

struct Delete: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete a post of yours with its comments, or one comment of yours."
  )

  @OptionGroup var post: PostArgument

  @Argument("The id of a comment on it, to delete that alone.")
  var comment: String?

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let session = try BlogSession(options)
    try await session.blog.perform(
      comment.map { .deleteComment(post.id, commentID: $0) } ?? .deletePost(post.id)
    )
  }
}

struct Edit: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Change a post of yours, or the text of one comment of yours."
  )

  @OptionGroup var post: PostArgument

  @Argument("The id of a comment on it, to change that alone; --body is its text.")
  var comment: String?

  @Option(help: "The new title, one line; by default, it stays.")
  var title: String?

  @Option(help: "The new body; by default, it stays; - reads it from stdin.")
  var body: String?

  @OptionGroup var options: CommonOptions

  func validate() throws {
    if comment != nil, title != nil || body == nil {
      throw ValidationError("A comment has no title: give its new text with --body.")
    }
    if title == nil, body == nil {
      throw ValidationError("Say what to change, with --title or --body.")
    }
  }

  func run() async throws {
    let text = try body.map { try InputFile.text(orStandardInput: $0) }
    let session = try BlogSession(options)
    if let comment {
      try await session.blog.perform(.editComment(post.id, commentID: comment, text: text ?? ""))
    } else {
      try await session.blog.perform(.edit(post.id, title: title, body: text))
    }
  }
}

struct Read: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "read",
    abstract: "Mark a post as read, with its comments, on all your terminals; or all posts."
  )

  @Argument(help: "The ids of the posts.", completion: .posts, transform: DashedWord.restore)
  var ids: [String] = []

  @Flag(help: "Mark everything as read.")
  var all = false

  @OptionGroup var options: CommonOptions

  func validate() throws {
    guard ids.isEmpty == all else { throw ValidationError("Name posts, or say --all.") }
  }

  func run() async throws {
    let session = try BlogSession(options)
    if all { return try await session.blog.markAllRead() }
    for id in ids { try await session.blog.mark(id) }
  }
}

struct Unread: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "unread",
    abstract: "Mark a post as unread, on all your terminals."
  )

  @OptionGroup var post: PostArgument

  @OptionGroup var options: CommonOptions

  func run() async throws {
    try await BlogSession(options).blog.mark(post.id, asRead: false)
  }
}

/// What a command does to a person or a post; it prints nothing.
protocol Deed {
  associatedtype Object: ParsableArguments, Identifiable<String> = PersonArgument
  static var name: String { get }
  static var abstract: String { get }
  static func action(on id: String) -> BlogAction
}

struct DeedCommand<Chosen: Deed>: BlogCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: Chosen.name, abstract: Chosen.abstract)
  }

  @OptionGroup var object: Chosen.Object

  @OptionGroup var options: CommonOptions

  func run() async throws {
    try await BlogSession(options).blog.perform(Chosen.action(on: object.id))
  }
}

struct PersonArgument: ParsableArguments, Identifiable {
  @Argument("Their uid, as --json prints it.")
  var uid: String

  var id: String { uid }
}

enum Follow: Deed {
  static let name = "follow"
  static let abstract = "Follow a person: their posts are in the list following."
  static func action(on id: String) -> BlogAction { .follow(uid: id, true) }
}

enum Unfollow: Deed {
  static let name = "unfollow"
  static let abstract = "Stop following a person."
  static func action(on id: String) -> BlogAction { .follow(uid: id, false) }
}

enum Mute: Deed {
  static let name = "mute"
  static let abstract = "Mute a person: nothing that they write is listed or announced."
  static func action(on id: String) -> BlogAction { .mute(uid: id, true) }
}

enum Unmute: Deed {
  static let name = "unmute"
  static let abstract = "Stop muting a person."
  static func action(on id: String) -> BlogAction { .mute(uid: id, false) }
}

enum Block: Deed {
  static let name = "block"
  static let abstract = "Block a person: they can no longer comment on your posts."
  static func action(on id: String) -> BlogAction { .block(uid: id, true) }
}

enum Unblock: Deed {
  static let name = "unblock"
  static let abstract = "Stop blocking a person."
  static func action(on id: String) -> BlogAction { .block(uid: id, false) }
}

enum Bookmark: Deed {
  typealias Object = PostArgument
  static let name = "bookmark"
  static let abstract = "Put a post into the list bookmarks."
  static func action(on id: String) -> BlogAction { .bookmark(id, true) }
}

enum Unbookmark: Deed {
  typealias Object = PostArgument
  static let name = "unbookmark"
  static let abstract = "Take a post out of the list bookmarks."
  static func action(on id: String) -> BlogAction { .bookmark(id, false) }
}
