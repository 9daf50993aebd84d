import ArgumentParser
import BlogModel
import Foundation
import RealtimeCore
import RealtimeDatabase
import RealtimeHub

/// Adds the data of a file to a database.
struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Add the data of a JSON file, all at once; existing data stays.",
    discussion: """
      The file is an object like that of "hearth export". Each entry, such as a post, a comment or a \
      person, replaces the entry at the same path.

      Either everything is imported or nothing, even if the command is killed. A local database takes \
      a file of any length, a little of it in memory at a time: more than 4 MB are written to the \
      database itself, for which the terminals' server stops and restarts; it holds all data in \
      memory and needs a few times the size of the file. A server elsewhere takes as much at once as \
      it takes in one write (here 16 MB).
      """
  )

  /// The longest text that is sent to the terminals' server.
  private static let sharedBytes = 4 * 1_024 * 1_024
  /// The longest text that is sent to any server, so that it fits into the largest message.
  private static let sentBytes = 15 * 1_024 * 1_024

  @Argument(help: "The file; - reads stdin.", completion: .file(), transform: DashedWord.restore)
  var file: String

  @Flag(help: "Replace everything in the database instead.")
  var replace = false

  @OptionGroup var choice: DatabaseChoice
  @OptionGroup var options: CommonOptions

  func run() async throws {
    try choice.refuse(with: options)
    let source = try ByteSource(file)
    guard options.database == nil, !options.ephemeral else {
      return try await send(try source.wholeText(upTo: .max) ?? [], from: source.name)
    }
    let paths = try options.paths()
    let database = try choice.database(options, changesSchema: true)
    if choice.storage.store != nil {
      return try importInto(database, from: source, patience: .seconds(options.timeout))
    }
    guard case .process(let server) = UnixSocketProbe.look(at: paths.socket), server > 0 else {
      return try importInto(database, from: source, patience: .zero)
    }
    let isShared = Self.belongsToTerminals(server)
    let limit = isShared ? Self.sharedBytes : Self.sentBytes
    if let text = try source.wholeText(upTo: limit) {
      return try await send(text, from: source.name)
    }
    guard isShared else {
      throw CommandFailure(
        .conflict,
        description:
          "\(source.name) is too long for the server that has the database (process \(server));"
          + " stop it, import, and start it again"
      )
    }
    kill(server, SIGTERM)
    try importInto(database, from: source, patience: .seconds(options.timeout))
  }

  /// Whether a server was started by a terminal, which will start it again when needed.
  private static func belongsToTerminals(_ server: pid_t) -> Bool {
    let line = FileManager.default.contents(atPath: "/proc/\(server)/cmdline") ?? Data()
    return line.split(separator: 0).contains { $0.elementsEqual("--background".utf8) }
  }

  // MARK: To the store

  private func importInto(
    _ database: any StoredDatabase,
    from source: ByteSource,
    patience: Duration
  ) throws {
    let progress = ProgressLine("importing", counting: .bytes, of: source.size)
    var bytes: Int64 = 0
    var json = JSONTokenizer {
      let piece = try source.next()
      bytes += Int64(piece.count)
      if piece.isEmpty { progress.turn(to: "storing") } else { progress.set(bytes) }
      return piece
    }
    let mode: ImportMode = replace ? .replacing : .merging(below: Self.hasEntries)
    do {
      let result = try database.importTree(&json, mode: mode, patience: patience)
      progress.finish(
        "imported \(ProgressLine.bytes(bytes)), commit \(result.revision): "
          + (replace
            ? "everything" : ProgressLine.count(result.replacedCount, "entry", plural: "entries"))
      )
    } catch let error as JSONError {
      throw CommandFailure(.usage, description: "\(source.name), line \(json.line): \(error)")
    } catch let error as ImportError {
      throw CommandFailure(.usage, description: "\(source.name), line \(json.line): \(error)")
    }
  }

  private static let deepPlaces: Set<String> = [
    "user-posts", "post-comments", "replies", "mentions", "tags", "following",
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

  private func send(_ text: [UInt8], from name: String) async throws {
    let json = try DatabasePath.json(text, from: name)
    guard let members = json.members else {
      throw CommandFailure(
        .usage,
        description: "\(name): the data to add must be a JSON object"
      )
    }
    let session = try BlogSession(options, namespace: choice.name)
    let root = session.database.reference()
    let progress = ProgressLine(
      "sending \(ProgressLine.bytes(Int64(text.count)))",
      counting: .bytes
    )
    var summary = "imported \(ProgressLine.bytes(Int64(text.count))): everything"
    if replace {
      try await root.setValue(json: json)
    } else {
      let entries = members.filter(Self.isData).flatMap {
        Self.entries($0, at: Path([ChildKey($0.name)]))
      }
      if !entries.isEmpty { try await root.updateChildValues(json: .object(entries)) }
      summary =
        "imported \(ProgressLine.bytes(Int64(text.count))): "
        + ProgressLine.count(entries.count, "entry", plural: "entries")
    }
    progress.finish(summary)
  }

  /// Whether a member is a child or the priority, and not a comment to be skipped.
  private static func isData(_ member: JSONMember) -> Bool {
    !member.name.hasPrefix(".") || member.name == ".priority"
  }

  /// The entries in a member with their paths, or the member itself if it has none.
  private static func entries(_ member: JSONMember, at path: Path) -> [JSONMember] {
    guard hasEntries(path), let members = member.value.members,
      !members.contains(where: { $0.name == ".value" })
    else { return [JSONMember(path.wireText, member.value)] }
    return members.filter(isData).flatMap { entries($0, at: path.appending(ChildKey($0.name))) }
  }
}
