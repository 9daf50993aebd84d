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

  @Option(help: "The title, one line.", transform: DashedWord.restore)
  var title: String

  @Option(help: "The body; - reads it from stdin.", transform: DashedWord.restore)
  var body: String

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let text = body == "-" ? try InputFile.text("-") : body
    let session = try BlogSession(options)
    let id = try await session.blog.post(title: title, body: text)
    options.json ? Output.line(.object(("id", .string(id)))) : Output.line(id)
  }
}
