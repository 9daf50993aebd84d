import ArgumentParser
import Foundation
import RealtimeCore
import RealtimeServer

struct Backup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy a local database into a file, while it is in use.",
    discussion: """
      The copy has everything that was committed at one moment, and is checked before it is put in \
      place; the server continues meanwhile. It replaces an earlier copy of the same name entirely \
      or not at all.

      In a directory it is named database.sqlite, so that "hearth --data-dir DIR" opens it. \
      "hearth restore" goes back to a copy.
      """
  )

  @Argument("The file to write, or a directory without a database.", completion: .file())
  var target: String

  @OptionGroup var choice: DatabaseChoice
  @OptionGroup var options: CommonOptions

  func run() throws {
    guard options.database == nil, !options.ephemeral else {
      throw CommandFailure(.usage, "only a local database can be copied; see \"hearth export\"")
    }
    guard target != "-" else {
      throw CommandFailure(.usage, "a copy needs a file; for one named -, say ./-")
    }
    let source = try choice.database(options)
    let file = try destination()
    let stops = file.watchForStop()
    defer { for stop in stops { stop.cancel() } }
    let progress = ProgressLine("copying", counting: .bytes, of: try sourceSize())
    let check = try progress.following(file.partialPath) {
      try StorageProgress.reporting(to: { done, total in
        progress.turn(to: "checking the copy, \(ProgressLine.grouped(Int64(done))) rows")
      }) {
        try source.backUp(to: file.partialPath)
      }
    }
    try file.finish()
    progress.finish()
    options.confirm(
      "\(file.path): everything up to commit \(check.revision), checked",
      json: .object(
        ("file", .string(file.path)),
        ("revision", .integer(check.revision)),
        ("rows", .integer(Int64(check.rowCount)))
      )
    )
  }

  /// The size of the database in bytes, which is about that of the copy; nil if unknown.
  private func sourceSize() throws -> Int64? {
    guard choice.storage.store == nil else { return nil }
    let directory = try SQLiteTreeStores(directory: options.paths().data).directory(of: choice.name)
    var status = stat()
    guard stat("\(directory)/\(Storage.fileName)", &status) == 0 else { return nil }
    return Int64(status.st_size)
  }

  /// The file of the copy, which must not replace a database or a file of another program.
  private func destination() throws(CommandFailure) -> OutputFile {
    var status = stat()
    let exists = stat(target, &status) == 0
    let isDirectory = exists && status.st_mode & S_IFMT == S_IFDIR
    let path = isDirectory ? "\(target)/\(Storage.fileName)" : target
    if isDirectory, access(path, F_OK) == 0 {
      throw CommandFailure(.conflict, "\(path) is a database in use; choose another path")
    }
    try Storage.requireFile(path)
    let file = try OutputFile(path)
    if exists, !isDirectory, status.st_size > 0, (try? Storage.copy(at: path).check()) == nil {
      throw CommandFailure(.conflict, "\(path) exists and is not a copy of a database")
    }
    return file
  }
}

struct Restore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Put a backup in the place of a local database.",
    discussion: """
      The backup is read and checked before anything changes, and stays as it is. The previous files \
      of the database, even damaged ones, are kept in a directory replaced-N beside it, which you may \
      remove once all is well. A database without damage is replaced only with --replace. Accounts are not part of a backup and do not change.

      No server may use the database meanwhile: stop it first ("hearth stop"). If the command is \
      interrupted, no server starts on what is left; run it again.
      """
  )

  @Argument("The backup: a file, or a directory with one.", completion: .file())
  var file: String

  @Flag(help: "Replace even a database without damage.")
  var replace = false

  @OptionGroup var choice: DatabaseChoice
  @OptionGroup var options: CommonOptions

  func run() throws {
    guard options.database == nil, !options.ephemeral, choice.storage.store == nil else {
      throw CommandFailure(
        .usage,
        "only a database of the data directory can be restored; see \"hearth import\""
      )
    }
    try DatabaseName.check(choice.name)
    let progress = ProgressLine("checking the backup", counting: .things("rows"))
    try Storage.requireFile(file)
    let restored = try StorageProgress.reporting(to: { done, total in
      progress.set(Int64(done), of: total.map(Int64.init))
    }) {
      try Storage.restore(
        choice.name,
        in: try options.paths().data,
        from: file,
        replacesIntact: replace
      )
    }
    progress.finish()
    let replaced = restored.replaced.map { [JSONMember("replaced", .string($0))] } ?? []
    let kept = restored.replaced.map { "; the previous files are in \($0)" } ?? ""
    options.confirm(
      "\(choice.name): everything up to commit \(restored.check.revision)\(kept)",
      json: .object(
        [
          JSONMember("database", .string(choice.name)),
          JSONMember("revision", .integer(restored.check.revision)),
          JSONMember("rows", .integer(Int64(restored.check.rowCount))),
        ] + replaced
      )
    )
  }
}
