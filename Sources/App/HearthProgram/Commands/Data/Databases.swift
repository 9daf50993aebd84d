import ArgumentParser
import Foundation
import RealtimeCore
import RealtimeServer

/// Manages the databases of a data directory.
///
/// This requires write access to the directory, whether or not a server is running: a server finds
/// a new database when a client first requests it.
struct Databases: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the databases of the local server, or make another.",
    discussion: """
      Each database has its own data and rules. Clients name one with ns=NAME; "hearth" is the one \
      of the blog. A new one allows nothing to anyone but administrators until it has rules: \
      PUT /.settings/rules.json?ns=NAME at the socket.
      """,
    subcommands: [ListNames.self, Create.self, Move.self],
    defaultSubcommand: ListNames.self
  )

  /// The databases of the data directory or shared store that the options name.
  private static func stores(
    _ options: CommonOptions,
    in storage: StoreChoice,
    changesSchema: Bool = false
  ) throws -> any StoredDatabases {
    if options.ephemeral || options.database != nil {
      throw CommandFailure(
        .usage,
        description: "databases are made in a data directory (--data-dir)"
      )
    }
    return try storage.databases(options, changesSchema: changesSchema)
  }
}

extension Databases {
  /// Prints the names of the databases.
  struct ListNames: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print the names of the databases, one a line."
    )

    @OptionGroup var storage: StoreChoice
    @OptionGroup var options: CommonOptions

    func run() throws {
      for name in try Databases.stores(options, in: storage).names() {
        options.json ? Output.line(.string(name)) : Output.line(untrusted: name)
      }
    }
  }

  /// Creates an empty database.
  struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make an empty database; a running server has it at once."
    )

    @Argument(help: "Its name: \(DatabaseName.rule).", transform: DashedWord.restore)
    var name: String

    @OptionGroup var storage: StoreChoice
    @OptionGroup var options: CommonOptions

    func run() throws {
      guard DatabaseName.isValid(name) else {
        throw CommandFailure(
          .usage,
          description: "\"\(name)\" cannot name a database: only \(DatabaseName.rule) can"
        )
      }
      guard try Databases.stores(options, in: storage, changesSchema: true).create(name) else {
        throw CommandFailure(.conflict, description: "the database \"\(name)\" already exists")
      }
    }
  }
}

extension Databases {
  /// Makes another server the leader of a database.
  struct Move: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Ask the server that leads a database to hand it over to another.",
      discussion: """
        Its clients are sent to the other server once all writes in progress are stored; nothing is \
        lost.
        """
    )

    @Argument(help: "The name of the database.", transform: DashedWord.restore)
    var name: String

    @Argument(
      help: "The host of the server, as \"hearth cluster\" shows it.",
      transform: DashedWord.restore
    )
    var host: String

    @OptionGroup var storage: StoreChoice

    @OptionGroup var options: CommonOptions

    func run() throws {
      let store = try storage.cluster(options)
      let view = try store.view()
      guard let server = view.servers.first(where: { $0.host == host }) else {
        let hosts = view.servers.map(\.host).joined(separator: ", ")
        throw CommandFailure(
          .notFound,
          description: "no server is at \"\(host)\" now; there are servers at: \(hosts)"
        )
      }
      guard let lease = view.leases.first(where: { $0.database == name }) else {
        throw CommandFailure(.notFound, description: "no server leads a database \"\(name)\" now")
      }
      guard lease.holder != server.id else { return }
      try store.move(name, to: server.id)
      for _ in 0..<Int(options.timeout * 50) {
        let now = try store.view().leases.first { $0.database == name }
        if now?.holder == server.id { return }
        poll(nil, 0, 20)
      }
      throw CommandFailure(
        .offline,
        description: "the database \"\(name)\" was not handed over in time"
      )
    }
  }
}
