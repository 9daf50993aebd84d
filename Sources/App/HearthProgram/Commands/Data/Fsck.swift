import ArgumentParser
import BlogModel
import RealtimeCore
import RealtimeDatabase
import RealtimeServer

struct Fsck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fsck",
    abstract: "Check that the files are whole, every count equals its stars and all copies agree.",
    discussion: """
      The files of all databases, or of the one that --ns names, are read page by page, with every \
      checksum, whether a server runs or not; nothing is changed. With a file, such as a backup, \
      only that file is checked.

      For the blog, each fault is printed with its path and its remedy. --repair applies the \
      remedies, even while others use the blog: stars decide counts, posts decide copies, and what \
      belongs to a deleted post is removed, and printed. What has more than one right answer is left \
      for a person. The status is 0 when no fault is left, and 1 otherwise.

      A database that lacks acknowledged writes, because a file is damaged or missing, is not \
      opened. "hearth restore" puts a backup in its place; without one, --accept-loss copies the files into a directory damaged-N beside them, and lets \
      the next server continue with what is left.
      """
  )

  @Argument("A database file, or a directory with one, to check instead.", completion: .file())
  var file: String?

  @Flag(help: "Repair the blog, where there is one right answer.")
  var repair = false

  @Flag(help: "Back up the damaged files and continue with what is readable.")
  var acceptLoss = false

  @OptionGroup var choice: DatabaseChoice
  @OptionGroup var options: CommonOptions

  func run() async throws {
    try choice.refuse(with: options)
    if file != nil,
      options.dataDir != nil || options.database != nil || options.ephemeral
        || options.socket != nil || choice.storage.store != nil || acceptLoss
    {
      throw CommandFailure(.usage, "only the file is checked; give no other place")
    }
    if acceptLoss { return try acceptMissing() }
    if repair, file != nil || choice.name != DatabaseName.standard {
      throw CommandFailure(.usage, "only the blog can be repaired, not a file or another database")
    }
    if repair, choice.storage.store != nil {
      throw CommandFailure(
        .usage,
        "a shared storage is read-only here: repair through one of its servers (--database URL)"
      )
    }
    if let file {
      guard choice.ns == nil else {
        throw CommandFailure(.usage, "--ns names a database of the data directory, not of a file")
      }
      try Storage.requireFile(file)
      let check = try Self.check(Storage.copy(at: file), called: file)
      report(check)
      if !check.faults.isEmpty { throw ExitStatus.failed.exitCode }
      return
    }
    if options.database == nil, !options.ephemeral { try checkFiles() }
    if choice.name == DatabaseName.standard { try await checkBlog() }
  }

  /// Accepts the loss of missing commits in the blog's database, or in the one that is named.
  private func acceptMissing() throws {
    guard file == nil, !repair, options.database == nil, !options.ephemeral else {
      throw CommandFailure(.usage, "--accept-loss is for a database of the data directory")
    }
    let database = try choice.database(options)
    guard try database.exists else {
      throw CommandFailure(.notFound, "there is no database \"\(choice.name)\"")
    }
    let loss = try database.acceptLoss()
    options.confirm(
      "\(choice.name): \(loss?.fault ?? "nothing is missing, so nothing was changed")",
      json: .object(
        ("database", .string(choice.name)),
        ("problem", loss.map { .string($0.fault) } ?? .null),
        ("copies", loss.map { .string($0.copies) } ?? .null)
      )
    )
    guard let loss, !options.json else { return }
    Output.done("It goes on without that; the files as they were are in \(loss.copies)", json: nil)
  }

  /// Checks the files of all databases, or of the one that is named.
  ///
  /// If one cannot be read, the others are still checked.
  private func checkFiles() throws {
    // Fails with the existing names if there is no database with this name.
    if choice.ns != nil { _ = try choice.database(options) }
    var worst = ExitStatus.ok
    let databases = try choice.storage.databases(options)
    let names = try choice.ns.map { [$0] } ?? databases.names()
    // A server would be started, which makes a database, if a directory is named by mistake.
    if names.isEmpty, options.dataDir != nil {
      throw CommandFailure(.notFound, "there is no database at \(try options.paths().data)")
    }
    for name in names {
      do {
        let check = try Self.check(databases.database(name), called: name)
        // If the blog's database is intact, the check of the blog reports on it below.
        let isToldBelow = name == DatabaseName.standard
        if !isToldBelow || !check.faults.isEmpty { report(check, of: name) }
        if !check.faults.isEmpty { worst = .failed }
      } catch {
        let failure = CommandFailure(error)
        Output.message(failure.description)
        if worst == .ok { worst = failure.status }
      }
    }
    if worst != .ok { throw worst.exitCode }
  }

  /// Checks a database, and shows the progress.
  private static func check(
    _ database: any StoredDatabase,
    called name: String
  ) throws -> StoreCheck {
    let progress = ProgressLine("checking the pages of \(name)", counting: .things("rows"))
    defer { progress.finish() }
    let rows = Once()
    return try StorageProgress.reporting(to: { done, total in
      if rows.isFirst() { progress.turn(to: "checking the rows of \(name)") }
      progress.set(Int64(done), of: total.map(Int64.init))
    }) {
      try database.check()
    }
  }

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
        (name.map { "\($0): " } ?? "")
          + "commit \(check.revision), \(ProgressLine.count(check.rowCount, "row")): "
          + FsckReport.summary(check.faults.count)
      )
    }
  }

  /// Checks the blog through a server, and repairs it; in a shared storage it is only read.
  private func checkBlog() async throws {
    let isShared = choice.storage.store != nil
    let root = isShared ? nil : try BlogSession(options).database.reference()
    var report = FsckReport(isJSON: options.json, isOfChanges: repair)
    let progress = ProgressLine("reading the blog", counting: .things("rows"))
    var check =
      if let root {
        try await BlogCheck(reading: root)
      } else {
        BlogCheck(try choice.storage.databases(options).database(choice.name).load().root)
      }
    progress.finish()
    if repair, let root {
      check = try await report.repair(check, with: BlogRepair(root)) {
        try await BlogCheck(reading: root)
      }
    } else {
      for fault in check.faults + check.leftovers { report.tell(fault) }
    }
    report.finish(check)
    if !check.faults.isEmpty { throw ExitStatus.failed.exitCode }
  }
}

/// Reports what is wrong in a blog, and what was done about it.
struct FsckReport {
  /// How often the blog is checked again, since one repair may reveal another fault.
  private static let rounds = 4

  let isJSON: Bool
  /// Whether a failure to print must not look as if nothing had been done.
  let isOfChanges: Bool
  private var repaired = 0
  /// The faults that were left, so that each is reported once.
  private var left: Set<BlogFault> = []

  init(isJSON: Bool, isOfChanges: Bool) {
    self.isJSON = isJSON
    self.isOfChanges = isOfChanges
  }

  /// Returns "no fault", or the number of faults.
  static func summary(_ count: Int) -> String {
    count == 0 ? "no fault" : ProgressLine.count(count, "fault")
  }

  // MARK: Repairing

  /// Repairs the faults that a check has found, and checks again until nothing more can be done.
  ///
  /// Returns the last check.
  mutating func repair(
    _ first: BlogCheck,
    with blog: BlogRepair,
    checkingAgain check: () async throws -> BlogCheck
  ) async throws -> BlogCheck {
    var found = first
    for _ in 0..<Self.rounds {
      let faults = (found.faults + found.leftovers).filter { !left.contains($0) }
      if faults.isEmpty { break }
      for fault in faults {
        switch try await blog.repair(fault) {
        case .repaired(let what):
          repaired += 1
          tell(fault, outcome: "repaired", remedy: what)
        case .gone: break
        case .left(let why):
          left.insert(fault)
          tell(fault, outcome: "left", remedy: why)
        }
      }
      found = try await check()
    }
    return found
  }

  // MARK: Telling

  /// Reports a fault that was not repaired.
  func tell(_ fault: BlogFault) {
    tell(fault, outcome: "found", remedy: fault.remedy.description)
  }

  private func tell(_ fault: BlogFault, outcome: String, remedy what: String) {
    let verb = outcome == "found" ? "to do" : outcome
    print(
      "\(fault) (\(verb): \(what))",
      json: .object(
        ("path", .string(fault.path)),
        ("problem", .string(fault.problem)),
        ("outcome", .string(outcome)),
        ("remedy", .string(what))
      )
    )
  }

  private func print(_ text: String, json: JSONValue) {
    switch (isOfChanges, isJSON) {
    case (true, _): Output.done(text, json: isJSON ? json : nil)
    case (false, true): Output.line(json)
    case (false, false): Output.line(untrusted: text)
    }
  }

  /// Reports how much was checked, and the result.
  func finish(_ check: BlogCheck) {
    let json = JSONValue.object(
      ("posts", .integer(Int64(check.postCount))),
      ("comments", .integer(Int64(check.commentCount))),
      ("stars", .integer(Int64(check.starCount))),
      ("faults", .integer(Int64(check.faults.count))),
      ("leftovers", .integer(Int64(check.leftovers.count))),
      ("repaired", .integer(Int64(repaired)))
    )
    let looked = [
      ProgressLine.count(check.postCount, "post"),
      ProgressLine.count(check.commentCount, "comment"),
      ProgressLine.count(check.starCount, "star"),
    ]
    var line = "\(looked.joined(separator: ", ")): \(Self.summary(check.faults.count))"
    if repaired > 0 { line += ", \(repaired) repaired" }
    if !check.leftovers.isEmpty {
      line += ", \(ProgressLine.count(check.leftovers.count, "trace")) of what is gone"
    }
    print(line, json: json)
  }
}
