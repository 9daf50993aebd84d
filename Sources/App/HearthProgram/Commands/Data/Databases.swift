import ArgumentParser
import RealtimeCore
import RealtimeServer

/// Looks after the databases of a data directory.
///
/// Only who may write to the directory can do it, whether a server runs or not: a server finds a
/// new database when someone first asks for it.
struct Databases: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the databases of the local server, or make another.",
    discussion: """
      Each database has its own data and rules. Clients name one with ns=NAME; "hearth" is the one \
      of the blog. A new one allows nothing to anyone but administrators until it has rules: \
      PUT /.settings/rules.json?ns=NAME at the socket.
      """,
    subcommands: [ListNames.self, Create.self],
    defaultSubcommand: ListNames.self
  )

  /// The databases of the data directory that the options name.
  private static func stores(
    _ options: CommonOptions,
    _ place: StoreChoice
  ) throws -> any StoredDatabases {
    if options.ephemeral || options.database != nil {
      throw CommandFailure(.usage, "databases are made in a data directory (--data-dir)")
    }
    return try place.databases(options)
  }
}

extension Databases {
  /// Prints the names.
  struct ListNames: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print the names of the databases, one a line."
    )

    @OptionGroup var place: StoreChoice
    @OptionGroup var options: CommonOptions

    func run() throws {
      for name in try Databases.stores(options, place).names() {
        options.json ? Output.line(.string(name)) : Output.line(untrusted: name)
      }
    }
  }

  /// Makes an empty one.
  struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make an empty database; a server that runs has it at once."
    )

    @Argument(help: "Its name: \(DatabaseName.rule).", transform: DashedWord.restore)
    var name: String

    @OptionGroup var place: StoreChoice
    @OptionGroup var options: CommonOptions

    func run() throws {
      guard DatabaseName.isValid(name) else {
        throw CommandFailure(
          .usage,
          "\"\(name)\" cannot name a database: only \(DatabaseName.rule) can"
        )
      }
      guard try Databases.stores(options, place).create(name) else {
        throw CommandFailure(.conflict, "there is a database \"\(name)\" already")
      }
    }
  }
}
