import ArgumentParser
import BlogModel
import RealtimeDatabase
import RealtimeTree
import SQLiteStorage

/// Checks the files of the local database, and the blog in it.
struct Fsck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check that the files are whole, every count equals its stars and all copies agree.",
    discussion: """
      The files are read page by page, with every checksum, whether a server runs or not; nothing is \
      changed. With a file, such as a backup, only that file is checked.
      """
  )

  @Argument(
    help: "A database file, or a directory with one, to check instead.",
    transform: DashedWord.restore
  )
  var file: String?

  @OptionGroup var options: CommonOptions

  func run() async throws {
    if let file { return try report(StoreFile(at: file).check()) }
    if options.database == nil, !options.ephemeral {
      let directory = try options.places().data
      if StoreFile.exists(in: directory) {
        let check = try StoreFile(at: directory).check()
        guard check.faults.isEmpty else { return try report(check) }
      }
    }
    try await checkBlog()
  }

  /// Tells what a look at a file has found.
  private func report(_ check: StoreCheck) throws {
    if options.json {
      for fault in check.faults { Output.line(.object(("problem", .string(fault)))) }
      Output.line(
        .object(
          ("revision", .integer(check.revision)),
          ("rows", .integer(Int64(check.rowCount))),
          ("faults", .integer(Int64(check.faults.count)))
        )
      )
    } else {
      for fault in check.faults { Output.line(untrusted: fault) }
      Output.line(
        "commit \(check.revision), \(check.rowCount) rows: " + Self.summary(check.faults.count)
      )
    }
    if !check.faults.isEmpty { throw ExitStatus.failed.exitCode }
  }

  private func checkBlog() async throws {
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
          + Self.summary(check.faults.count)
      )
    }
    if !check.faults.isEmpty { throw ExitStatus.failed.exitCode }
  }

  private static func summary(_ count: Int) -> String {
    count == 0 ? "no fault" : "\(count) faults"
  }
}
