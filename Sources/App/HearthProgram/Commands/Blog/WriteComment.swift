import ArgumentParser
import BlogModel
import RealtimeCore
import RealtimeDatabase

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

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let text = text == "-" ? try InputFile.text("-") : text
    let session = try BlogSession(options)
    let comment = try await session.blog.comment(on: id, text: text)
    options.json ? Output.line(.object(("id", .string(comment)))) : Output.line(comment)
  }
}
