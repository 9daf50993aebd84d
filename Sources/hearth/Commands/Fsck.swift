import ArgumentParser
import BlogModel
import RealtimeDatabase
import RealtimeTree
import SQLiteStorage

/// Checks the files of the local databases, and the blog in one of them.
struct Fsck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check that the files are whole, every count equals its stars and all copies agree.",
    discussion: """
      The files of all databases, or of the one that --ns names, are read page by page, with every \
      checksum, whether a server runs or not; nothing is changed. With a file, such as a backup, \
      only that file is checked.
      """
  )

  @Argument(
    help: "A database file, or a directory with one, to check instead.",
    transform: DashedWord.restore
  )
  var file: String?

  @OptionGroup var choice: DatabaseChoice
  @OptionGroup var options: CommonOptions

  func run() async throws {
    try choice.refuse(with: options)
    if let file {
      guard choice.ns == nil else {
        throw CommandFailure(.usage, "--ns names a database of the data directory, not of a file")
      }
      let check = try StoreFile(at: file).check()
      report(check)
      if !check.faults.isEmpty { throw ExitStatus.failed.exitCode }
      return
    }
    if options.database == nil, !options.ephemeral { try checkFiles() }
    if choice.name == SQLiteTreeStores.mainName { try await checkBlog() }
  }

  /// Looks at the files of all databases, or of the one that is named.
  ///
  /// One that cannot be read hides nothing of the others.
  private func checkFiles() throws {
    let places = try options.places()
    // Names the others when there is none of this name.
    if choice.ns != nil { _ = try choice.directory(in: places) }
    var worst = ExitStatus.ok
    for name in try choice.ns.map({ [$0] }) ?? places.stores().names() {
      do {
        let check = try StoreFile(at: places.stores().directory(of: name)).check()
        // Of the blog's, when it is whole, the blog itself is told below.
        if name != SQLiteTreeStores.mainName || !check.faults.isEmpty { report(check, of: name) }
        if !check.faults.isEmpty { worst = .failed }
      } catch {
        let failure = CommandFailure(error)
        Output.message(failure.description)
        if worst == .ok { worst = failure.status }
      }
    }
    if worst != .ok { throw worst.exitCode }
  }

  /// Tells what a look at a file has found.
  private func report(_ check: StoreCheck, of name: String? = nil) {
    if options.json {
      let database = name.map { [JSONMember("database", .string($0))] } ?? []
      for fault in check.faults {
        Output.line(.object(database + [JSONMember("problem", .string(fault))]))
      }
      Output.line(
        .object(
          database + [
            JSONMember("revision", .integer(check.revision)),
            JSONMember("rows", .integer(Int64(check.rowCount))),
            JSONMember("faults", .integer(Int64(check.faults.count))),
          ]
        )
      )
    } else {
      for fault in check.faults { Output.line(untrusted: fault) }
      Output.line(
        (name.map { "\($0): " } ?? "") + "commit \(check.revision), \(check.rowCount) rows: "
          + Self.summary(check.faults.count)
      )
    }
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
