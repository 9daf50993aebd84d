import ArgumentParser
import BlogModel
import Foundation
import RealtimeCore
import RealtimeDatabase

/// Writes a post.
struct WritePost: AsyncParsableCommand {
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
    let text = body == "-" ? try InputFile.text("-") : body
    let session = try BlogSession(options)
    let id = try await session.blog.post(title: title, body: text)
    options.json ? Output.line(.object(("id", .string(id)))) : Output.line(id)
  }
}

/// Writes a comment.
struct WriteComment: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "comment",
    abstract: "Write a comment on a post and print its id."
  )

  @Argument(help: "The id of the post.", transform: DashedWord.restore)
  var id: String

  @Argument(help: "What to say; - reads it from stdin.", transform: DashedWord.restore)
  var text: String

  @Option(help: ArgumentHelp("Answer that comment.", valueName: "comment"))
  var answer: String?

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let text = text == "-" ? try InputFile.text("-") : text
    let session = try BlogSession(options)
    let comment = try await session.blog.comment(on: id, text: text, answering: answer)
    options.json ? Output.line(.object(("id", .string(comment)))) : Output.line(comment)
  }
}

/// Stars a post.
struct Star: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Star a post; starring it twice is harmless."
  )

  @Argument(help: "The id of the post.", transform: DashedWord.restore)
  var id: String

  @Option(help: ArgumentHelp("Star and unstar it in turn, this many times in all.", valueName: "n"))
  var times = 1

  @OptionGroup var starring: StarOptions
  @OptionGroup var options: CommonOptions

  func run() async throws {
    guard times > 0 else { throw CommandFailure(.usage, description: "--times must be at least 1") }
    let session = try BlogSession(options, starring: starring)
    for turn in 0..<times { try await session.blog.setStar(turn % 2 == 0, on: id) }
  }
}

/// Removes a star.
struct Unstar: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Take your star off a post.")

  @Argument(help: "The id of the post.", transform: DashedWord.restore)
  var id: String

  @OptionGroup var starring: StarOptions
  @OptionGroup var options: CommonOptions

  func run() async throws {
    let session = try BlogSession(options, starring: starring)
    try await session.blog.setStar(false, on: id)
  }
}

/// Deletes one of the user's posts or comments.
struct Delete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Delete a post of yours with its comments, or one comment of yours."
  )

  @Argument(help: "The id of the post.", transform: DashedWord.restore)
  var id: String

  @Argument(
    help: "The id of a comment on it, to delete that alone.",
    transform: DashedWord.restore
  )
  var comment: String?

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let session = try BlogSession(options)
    if let comment {
      try await session.blog.delete(comment: comment, on: id)
    } else {
      try await session.blog.delete(post: id)
    }
  }
}
