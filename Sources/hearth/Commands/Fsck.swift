import ArgumentParser
import BlogModel
import RealtimeDatabase
import RealtimeTree

/// Checks the blog.
struct Fsck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check that every count equals its stars and both copies of each post agree."
  )

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let session = try BlogSession(options)
    defer { session.close() }
    let check = BlogCheck(try await session.database.reference().getData())
    if options.json {
      for fault in check.faults {
        Output.line(.object(("path", .string(fault.path)), ("problem", .string(fault.problem))))
      }
      Output.line(
        .object(
          ("posts", .integer(Int64(check.postCount))),
          ("comments", .integer(Int64(check.commentCount))),
          ("stars", .integer(Int64(check.starCount))),
          ("faults", .integer(Int64(check.faults.count)))
        )
      )
    } else {
      for fault in check.faults { Output.line(untrusted: fault.description) }
      Output.line(
        "\(check.postCount) posts, \(check.commentCount) comments, \(check.starCount) stars: "
          + (check.faults.isEmpty ? "no fault" : "\(check.faults.count) faults")
      )
    }
    if !check.faults.isEmpty { throw ExitStatus.failed.exitCode }
  }
}
