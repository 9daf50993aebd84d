import ArgumentParser
import RealtimeCore
import RealtimeDatabase
import RealtimeServer

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a whole database as JSON, with priorities.",
    discussion: """
      A local database is read from its file as of one moment, whether a server runs or not, with \
      little of it in memory at a time. A file appears as a whole, or not at all. A database \
      elsewhere, or one that keeps nothing, is fetched from its server as a whole.
      """
  )

  @Argument("The file to write; without it, stdout.", completion: .file())
  var file: String?

  @OptionGroup var choice: DatabaseChoice
  @OptionGroup var options: CommonOptions

  func run() async throws {
    try choice.refuse(with: options)
    let isLocal = options.database == nil && !options.ephemeral
    let database = isLocal ? try choice.database(options) : nil
    let output = try file.flatMap { $0 == "-" ? nil : $0 }.map { try OutputFile($0) }
    let stops = output?.watchForStop() ?? []
    defer { for stop in stops { stop.cancel() } }
    let progress = ProgressLine("exporting", counting: .things("rows"))
    var bytes: Int64 = 0
    let sink = { (text: String) throws in
      let safe = Output.escaped(text)
      bytes += Int64(safe.utf8.count)
      if let output { try output.write(safe) } else { Output.text(safe) }
    }
    if let database {
      try StorageProgress.reporting(to: { progress.set(Int64($0), of: $1.map(Int64.init)) }) {
        try export(database, to: sink)
      }
    } else {
      let session = try BlogSession(options)
      let json = try await session.database.reference().getData().exportedJSON
      let text = options.json ? json.text : String(decoding: PrettyJSON.text(json), as: UTF8.self)
      try sink(text + "\n")
    }
    try output?.finish()
    progress.finish("exported \(ProgressLine.bytes(bytes))" + (file.map { " to \($0)" } ?? ""))
  }

  private func export(
    _ database: any StoredDatabase,
    to sink: @escaping (String) throws -> Void
  ) throws {
    // A directory that was named by mistake has no database; the standard one need not have it yet,
    // but may be another than before, and then nothing would replace what a file has.
    if options.dataDir == nil, file ?? "-" == "-", try !database.exists {
      return try sink("null\n")
    }
    try database.export(options.json ? .oneLine : .lines, to: sink)
  }
}
