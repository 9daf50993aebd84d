import ArgumentParser
import RealtimeCore
import RealtimeServer

/// Replaces a local database with a backup.
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

  @Argument(
    help: "The backup: a file, or a directory with one.",
    completion: .file(),
    transform: DashedWord.restore
  )
  var file: String

  @Flag(help: "Replace even a database without damage.")
  var replace = false

  @OptionGroup var choice: DatabaseChoice
  @OptionGroup var options: CommonOptions

  func run() throws {
    guard options.database == nil, !options.ephemeral, choice.storage.store == nil else {
      throw CommandFailure(
        .usage,
        description: "only a database of the data directory can be restored; see \"hearth import\""
      )
    }
    try DatabaseName.check(choice.name)
    let progress = ProgressLine("checking the backup", counting: .things("rows"))
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
    options.answer(
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
