import ArgumentParser
import Foundation
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeDatabase
import RealtimeServer

struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Add the data of a JSON file, checked first; existing data stays.",
    discussion: """
      The file is an object like that of "hearth export". Each entry, such as a post, a comment or a \
      person, replaces the entry at the same path.

      The whole file is checked first, and nothing is imported if the database would refuse any of \
      it: a name that data cannot have or that occurs twice in one object, for example. While no \
      server runs, either everything is imported or nothing, even if the command is killed. A running \
      server stays available to everybody; it takes up to 256 KB at once and more in several steps, \
      whole entries in each. If the command is stopped between two steps, import the file again.
      """
  )

  /// The size from which changes are sent to a server once an entry is complete, in bytes.
  private static let batchBytes = 256 * 1_024
  /// The size from which an entry is sent in parts, so that each fits into a message.
  private static let entryBytes = 4 * 1_024 * 1_024

  @Argument("The file; - reads stdin.", completion: .file())
  var file: String?

  @Flag(help: "Add the sample that comes with the program, a blog worth looking at, and no file.")
  var sample = false

  @Flag(help: "Replace everything in the database instead.")
  var replace = false

  @OptionGroup var choice: DatabaseChoice
  @OptionGroup var options: CommonOptions

  func run() async throws {
    try choice.refuse(with: options)
    let source = try ByteSource(path())
    guard options.database == nil, !options.ephemeral else { return try await send(source) }
    let database = try choice.database(options, changesSchema: true)
    if choice.storage.store == nil, try options.hasServer() { return try await send(source) }
    try await importInto(database, from: source, patience: .seconds(options.timeout))
  }

  /// The path of the file that was named, or of the sample.
  private func path() throws(CommandFailure) -> String {
    guard sample else {
      if let file { return file }
      throw CommandFailure(.usage, "name a file, or --sample for a blog to look at")
    }
    guard file == nil else {
      throw CommandFailure(.usage, "--sample takes no file")
    }
    if let path = SharedFiles.path(of: "sample/blog.json") { return path }
    throw CommandFailure(.usage, "the sample is not where it should be; name its file")
  }

  private var mode: ImportMode { replace ? .replacing : .merging(below: Self.hasEntries) }

  /// Runs work on the text and adds the place to errors about it.
  private func read<Result>(
    _ source: ByteSource,
    showing progress: ProgressLine,
    _ body: (inout JSONTokenizer) async throws -> Result
  ) async throws -> Result {
    var bytes: Int64 = 0
    var json = JSONTokenizer {
      let piece = try source.next()
      bytes += Int64(piece.count)
      progress.set(bytes)
      return piece
    }
    do {
      return try await body(&json)
    } catch let error as JSONError {
      throw CommandFailure(.usage, "\(source.name), \(json.place): invalid JSON: \(error.reason)")
    } catch let error as ImportError {
      throw CommandFailure(.usage, "\(source.name), \(json.place): \(error)")
    }
  }

  // MARK: To the store

  private func importInto(
    _ database: any StoredDatabase,
    from source: ByteSource,
    patience: Duration
  ) async throws {
    let progress = ProgressLine("importing", counting: .bytes, of: source.size)
    let result = try await read(source, showing: progress) { json in
      try database.importTree(&json, mode: mode, patience: patience)
    }
    progress.finish(summary(of: source, entries: result.replacedCount, commit: result.revision))
  }

  private func summary(of source: ByteSource, entries: Int, commit: Int64? = nil) -> String {
    "imported \(ProgressLine.bytes(source.bytesRead))" + (commit.map { ", commit \($0)" } ?? "")
      + ": " + (replace ? "everything" : ProgressLine.count(entries, "entry", plural: "entries"))
  }

  private static let deepPlaces: Set<String> = [
    "user-posts", "post-comments", "replies", "mentions", "tags", "following", "muted",
    "blocked", "bookmarks", "searches",
  ]

  /// Whether the children of a location are entries, or contain entries.
  private static func hasEntries(_ path: Path) -> Bool {
    switch path.count {
    case 0, 1: true
    // These have their entries one level deeper: by person, by post, by name and by tag.
    case 2: deepPlaces.contains(path.first?.text ?? "")
    default: false
    }
  }

  // MARK: To a server

  private func send(_ source: ByteSource) async throws {
    source.keep()
    let progress = ProgressLine("checking", counting: .bytes, of: source.size)
    try await read(source, showing: progress) { json in
      var importer = TreeImporter(nil, mode: mode)
      try importer.addAll(&json)
    }
    let size = source.bytesRead
    try source.restart()
    progress.turn(to: "importing", of: size)
    let session = try BlogSession(options, namespace: choice.name, isEndless: true)
    let hasSent = NIOLockedValueBox(false)
    let stops = SignalWatch.ends.map { number in
      SignalWatch(number) {
        if hasSent.withLockedValue(\.self) {
          Output.message("a part of the file may have been imported; import it again")
        }
        SignalWatch.end(by: number)
      }
    }
    defer { for stop in stops { stop.cancel() } }
    let count = try await read(source, showing: progress) { json in
      let batch = ImportBatch()
      var importer = TreeImporter(batch, mode: mode)
      // The next batch is read while the server takes the one before; but nothing follows the first
      // one until it has been accepted, so that nothing has been imported if it is refused.
      var sent: Task<Void, any Error>?
      while try importer.addNext(&json) {
        guard batch.bytes > Self.batchBytes else { continue }
        guard batch.bytes > Self.entryBytes || Self.hasEntries(Path(importer.path)) else {
          continue
        }
        hasSent.withLockedValue { $0 = true }
        try await sent?.value
        let isFirst = sent == nil
        let task = send(batch.takeAll(), with: session, isFirst: isFirst)
        sent = task
        if isFirst { try await task.value }
      }
      try await sent?.value
      try await send(batch.takeAll(), with: session, isFirst: sent == nil).value
      return importer.replacedCount
    }
    progress.finish(summary(of: source, entries: count))
  }

  private func send(
    _ changes: [Change],
    with session: BlogSession,
    isFirst: Bool
  ) -> Task<Void, any Error> {
    let (database, deadline) = (session.database, session.startDeadline(options.timeout))
    return Task {
      defer { deadline.cancel() }
      guard !changes.isEmpty else { return }
      do {
        try await database.reference().apply(changes)
      } catch {
        if !isFirst { Output.message("only a part of the file has been imported") }
        throw error
      }
    }
  }
}

/// The changes of an import that are sent to a server as one write.
final class ImportBatch: ImportTarget {
  /// The changes, at locations none of which contains another.
  private(set) var changes: [Change] = []
  /// The approximate size.
  private(set) var bytes = 0

  func takeAll() -> [Change] {
    defer { (changes, bytes) = ([], 0) }
    return changes
  }

  func apply(_ change: Change) {
    bytes += NodeMeasure(of: change.node).bytes
    bytes += change.path.keys.reduce(0) { $0 + $1.byteCount + 1 }
    // A text is read in order, so a change within an earlier one is within the last one.
    if let last = changes.indices.last, let inner = change.path.relative(to: changes[last].path) {
      changes[last].node.update(at: inner, to: change.node)
    } else {
      changes.append(change)
    }
  }

  func clear(_ keys: [ChildKey]) { apply(Change(Path(keys), to: .empty)) }

  func insert(_ node: Node, at keys: [ChildKey]) { apply(Change(Path(keys), to: node)) }

  /// Does nothing: the server does so itself.
  func prune(_ keys: [ChildKey]) {}
}
