import ArgumentParser
import BlogModel
import RealtimeDatabase

/// Stars a post.
struct Star: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Star a post; starring it twice is harmless."
  )

  @Argument(help: "The id of the post.", transform: DashedWord.restore)
  var id: String

  @Option(help: ArgumentHelp("Star and unstar it in turn, so many times in all.", valueName: "n"))
  var times = 1

  @OptionGroup var starring: StarOptions
  @OptionGroup var options: CommonOptions

  func run() async throws {
    guard times > 0 else { throw CommandFailure(.usage, "--times must be at least 1") }
    let session = try BlogSession(options, starring: starring)
    for turn in 0..<times { try await session.blog.setStar(turn % 2 == 0, on: id) }
  }
}

/// Takes a star back.
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
