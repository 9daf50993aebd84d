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
    commandName: "databases",
    abstract: "List the databases of the local server, or make another.",
    discussion: """
      Each database has its own data and rules. Clients name one with ns=NAME; "hearth" is the one \
      of the blog. A new one allows nothing to anyone but administrators until it has rules: \
      "hearth rules set FILE --ns NAME".
      """,
    subcommands: [
      ListNames.self, Create.self, Delete.self, Rename.self, Move.self, Rebalance.self, Drain.self,
    ],
    defaultSubcommand: ListNames.self
  )

  /// The databases of the data directory or shared store that the options name.
  private static func stores(
    _ options: CommonOptions,
    in storage: StoreChoice,
    changesSchema: Bool = false
  ) throws -> any StoredDatabases {
    if options.ephemeral || options.database != nil {
      throw CommandFailure(.usage, "databases are made in a data directory (--data-dir)")
    }
    return try storage.databases(options, changesSchema: changesSchema)
  }
}

extension Databases {
  struct ListNames: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print the names of the databases, one a line."
    )

    @OptionGroup var storage: StoreChoice
    @OptionGroup var options: CommonOptions

    func run() throws {
      for name in try Databases.stores(options, in: storage).names() {
        options.answer(name, json: .string(name))
      }
    }
  }

  struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create",
      abstract: "Make an empty database; a running server has it at once."
    )

    @Argument("Its name: \(DatabaseName.rule).")
    var name: String

    @OptionGroup var storage: StoreChoice
    @OptionGroup var options: CommonOptions

    func run() throws {
      try DatabaseName.check(name)
      let stores = try Databases.stores(options, in: storage, changesSchema: true)
      // A slow or broken connection makes a second attempt, which finds what the first has made.
      let mayRepeat = try storage.store != nil && !stores.names().contains(name)
      guard try stores.create(name) || mayRepeat && stores.names().contains(name) else {
        throw CommandFailure(.conflict, "the database \"\(name)\" already exists")
      }
    }
  }

  /// Whether to change a whole database without a question.
  struct Consent: ParsableArguments {
    @Flag(help: "Do it; otherwise, only say what would be done.")
    var yes = false

    /// Ensures that the user means it.
    ///
    /// - Throws: ``CommandFailure`` that says what would be done.
    fileprivate func require(_ consequence: String) throws(CommandFailure) {
      guard !yes else { return }
      throw CommandFailure(.usage, "\(consequence); confirm it with --yes")
    }
  }

  /// The storage of a database that can be deleted or renamed, and the same again if it is shared.
  private static func place(
    of name: String,
    _ options: CommonOptions,
    in storage: StoreChoice
  ) throws -> (stores: any StoredDatabases, shared: (any ClusterStore)?) {
    let shared = storage.store == nil ? nil : try storage.cluster(options)
    let stores = try shared ?? Databases.stores(options, in: storage)
    guard shared != nil || name != DatabaseName.standard else {
      throw CommandFailure(
        .usage,
        "\"\(name)\" is the database of the directory itself, which always exists"
      )
    }
    guard try stores.names().contains(name) else {
      throw CommandFailure(.notFound, "there is no database \"\(name)\"")
    }
    return (stores, shared)
  }

  struct Delete: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete",
      abstract: "Delete a database, with its rules and accounts.",
      discussion: """
        No server may use the data directory: stop it first ("hearth stop"). In a shared PostgreSQL \
        (--store), the server that leads the database hands it over first, once all writes in \
        progress are stored, and disconnects its clients; if it does not within --timeout, nothing \
        is deleted. The tokens of its users are refused from then on. Take a backup before: "hearth \
        backup".
        """
    )

    @Argument("The name of the database.")
    var name: String

    @OptionGroup var consent: Consent
    @OptionGroup var storage: StoreChoice
    @OptionGroup var options: CommonOptions

    func run() throws {
      let shared = try Databases.place(of: name, options, in: storage).shared
      try consent.require(
        "this deletes the database \"\(name)\" with its rules and accounts for good"
      )
      guard let shared else { return try Storage.remove(name, in: options.paths()) }
      try shared.remove(name, within: .seconds(options.timeout))
    }
  }

  struct Rename: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rename",
      abstract: "Give a database another name.",
      discussion: """
        Data, rules, accounts and what clients have written without an answer move along. Clients \
        have to use the new name (ns=NAME); a user stays signed in, with tokens for the new name. No \
        server may use the data directory: stop it first ("hearth stop"). In a shared PostgreSQL \
        (--store), the server that leads the database hands it over first and disconnects its \
        clients.
        """
    )

    @Argument("The name of the database.")
    var name: String

    @Argument("Its new name: \(DatabaseName.rule).")
    var newName: String

    @OptionGroup var consent: Consent
    @OptionGroup var storage: StoreChoice
    @OptionGroup var options: CommonOptions

    func run() throws {
      try DatabaseName.check(newName)
      let (stores, shared) = try Databases.place(of: name, options, in: storage)
      // That of the directory itself exists even if nobody has used it yet.
      let isOwn = shared == nil && newName == DatabaseName.standard
      guard try !isOwn && !stores.names().contains(newName) else {
        throw CommandFailure(.conflict, "the database \"\(newName)\" already exists")
      }
      try consent.require("clients that use the name \"\(name)\" will not find the database")
      guard let shared else { return try Storage.rename(name, to: newName, in: options.paths()) }
      try shared.rename(name, to: newName, within: .seconds(options.timeout))
    }
  }

  struct Move: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "move",
      abstract: "Ask the server that leads a database to hand it over to another.",
      discussion: """
        Its clients are sent to the other server once all writes in progress are stored; nothing is \
        lost.
        """
    )

    @Argument("The name of the database.")
    var name: String

    @Argument("The host of the server, as \"hearth cluster\" shows it.")
    var host: String

    @OptionGroup var storage: StoreChoice

    @OptionGroup var options: CommonOptions

    func run() throws {
      let cluster = try SeenCluster(storage, options)
      let server = try cluster.server(at: host)
      guard let lease = cluster.view.leases.first(where: { $0.database == name }) else {
        throw CommandFailure(.notFound, "no server leads a database \"\(name)\" now")
      }
      guard try !cluster.present([server]).isEmpty else {
        throw CommandFailure(.conflict, "the server at \"\(host)\" is silent, or was killed")
      }
      try cluster.move(lease, to: server)
    }
  }

  struct Rebalance: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rebalance",
      abstract: "Spread the databases over the servers, after one has been started.",
      discussion: "Prints each database that has moved, and its new leader."
    )

    @OptionGroup var storage: StoreChoice

    @OptionGroup var options: CommonOptions

    func run() throws {
      let cluster = try SeenCluster(storage, options)
      try cluster.spread(cluster.view.leases, over: cluster.takers(among: cluster.view.servers))
    }
  }

  struct Drain: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "drain",
      abstract: "Hand all databases of a server over to the others.",
      discussion: """
        The server keeps running. It leads a database again when somebody asks for one that no \
        server leads and that falls to it, so stop it soon.
        """
    )

    @Argument("The host of the server, as \"hearth cluster\" shows it.")
    var host: String

    @OptionGroup var storage: StoreChoice

    @OptionGroup var options: CommonOptions

    func run() throws {
      let cluster = try SeenCluster(storage, options)
      let server = try cluster.server(at: host)
      let others = try cluster.takers(among: cluster.view.servers.filter { $0.id != server.id })
      guard !others.isEmpty else {
        throw CommandFailure(.conflict, "there is no other server to hand over to")
      }
      try cluster.spread(cluster.view.leases.filter { $0.holder == server.id }, over: others)
    }
  }
}

/// The servers of a shared storage, as a command has found them.
private struct SeenCluster {
  private let store: any ClusterStore
  private let options: CommonOptions
  let view: ClusterView

  init(_ storage: StoreChoice, _ options: CommonOptions) throws {
    self.options = options
    store = try storage.cluster(options)
    view = try store.view()
  }

  /// The server at a host.
  ///
  /// - Throws: ``CommandFailure`` that names the hosts of the servers there are.
  func server(at host: String) throws(CommandFailure) -> ClusterServer {
    if let server = view.servers.first(where: { $0.host == host }) { return server }
    let hosts = view.servers.map(\.host).joined(separator: ", ")
    throw CommandFailure(
      .notFound,
      "no server is at \"\(host)\" now; there are servers at: \(hosts)"
    )
  }

  /// Those of some servers that announce themselves again, as each does every second.
  ///
  /// The others may have been killed: nobody would lead what is handed over to them.
  func present(_ servers: [ClusterServer]) throws -> [ClusterServer] {
    var silent = servers
    for _ in 0..<25 where !silent.isEmpty {
      poll(nil, 0, 100)
      let now = try store.view()
      silent.removeAll { now.hasAnnounced($0, since: view) }
    }
    return servers.filter { !silent.contains($0) }
  }

  /// Those of some servers that databases can be handed over to; names the others.
  func takers(among servers: [ClusterServer]) throws -> [ClusterServer] {
    let takers = try present(servers)
    for server in servers where !takers.contains(server) {
      Output.message("the server at \"\(server.host)\" is silent, or was killed, and gets nothing")
    }
    return takers
  }

  /// Asks the leader of a database to hand it over, and waits until it has.
  func move(_ lease: Lease, to server: ClusterServer) throws {
    guard lease.holder != server.id else { return }
    try store.move(lease.database, to: server.id)
    for _ in 0..<Int(options.timeout * 50) {
      let now = try store.view().leases.first { $0.database == lease.database }
      if now?.holder == server.id { return }
      poll(nil, 0, 20)
    }
    throw CommandFailure(.offline, "the database \"\(lease.database)\" was not handed over in time")
  }

  /// Moves databases to the servers that would get them if nobody led them.
  func spread(_ leases: [Lease], over servers: [ClusterServer]) throws {
    for lease in leases {
      guard let server = Leadership.choice(for: lease.database, among: servers),
        server.id != lease.holder
      else { continue }
      try move(lease, to: server)
      options.confirm(
        "\(lease.database)  \(server.host)",
        json: .object(("database", .string(lease.database)), ("host", .string(server.host)))
      )
    }
  }
}

extension ClusterView {
  /// Whether a server has announced itself again since an earlier view, and has not withdrawn.
  func hasAnnounced(_ server: ClusterServer, since earlier: ClusterView) -> Bool {
    (announcements[server.id] ?? 0) > (earlier.announcements[server.id] ?? 0)
  }
}
