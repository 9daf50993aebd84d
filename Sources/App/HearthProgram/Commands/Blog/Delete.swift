import ArgumentParser
import BlogModel
import RealtimeDatabase

/// Deletes a post or a comment of mine.
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
