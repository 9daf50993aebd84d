import ArgumentParser
import RealtimeCore
import RealtimeServer

struct Migrate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Move all databases, accounts and keys between a data directory and PostgreSQL.",
    discussion: """
      SOURCE and TARGET are each a data directory, or a PostgreSQL as postgres://HOST/NAME. \
      Everything is moved: the data, the outcomes of each client's writes, the writes scheduled for \
      disconnects, the rules, the accounts with their sessions, and the keys. Clients continue where \
      they were once they reach a server of the target.

      No server may use the source meanwhile, and the target must be empty. What was written is read \
      back and compared. The source does not change.
      """
  )

  @Argument("The data directory or URL to move from.")
  var source: String

  @Argument("The data directory or URL to move to.")
  var target: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    let (source, target) = (try MigrationStorage(source), try MigrationStorage(target))
    let databases = source.databases
    let names = try databases.names()
    guard try !names.isEmpty || source.hasAccounts else {
      throw CommandFailure(.notFound, "\(source.name) has no databases or accounts")
    }
    let others = try target.databases.names()
    guard others.isEmpty else {
      throw CommandFailure(
        .conflict,
        "\(target.name) already has databases: \(others.joined(separator: ", ")); if a migration that"
          + " was interrupted has left them, delete them and begin again"
      )
    }
    guard try !target.holdsAccounts || !source.holdsAccounts else {
      throw CommandFailure(.conflict, "\(target.name) already has accounts or keys")
    }
    var held: [any TreeStore] = []
    // Held until all are moved, so that no server can open them.
    defer { for store in held { try? store.close() } }
    for name in names {
      guard let store = try databases.open(name) else { continue }
      held.append(store)
      try move(try store.load(), named: name, to: target.databases.database(name))
    }
    if try source.hasAccounts { try moveAccounts(from: source, to: target) }
  }

  /// Moves a database, and verifies the copy.
  private func move(
    _ tree: StoredTree,
    named name: String,
    to database: any StoredDatabase
  ) throws {
    try database.restore(tree)
    let check = try database.check()
    if let fault = check.faults.first { throw StoreError(.damaged, description: fault) }
    guard try database.load() == tree else {
      throw CommandFailure(.failed, "the copy of the database \"\(name)\" differs")
    }
    options.confirm(
      "\(name): everything up to commit \(tree.revision), compared",
      json: .object(
        ("database", .string(name)),
        ("revision", .integer(tree.revision)),
        ("rows", .integer(Int64(check.rowCount)))
      )
    )
  }

  private func moveAccounts(from source: MigrationStorage, to target: MigrationStorage) throws {
    let old = try source.accounts()
    defer { try? old.close() }
    let contents = try old.contents()
    guard contents != IdentityContents() else { return }
    let new = try target.accounts()
    defer { try? new.close() }
    try new.restore(contents)
    guard try new.contents() == contents else {
      throw CommandFailure(.failed, "the copy of the accounts differs")
    }
    options.confirm(
      ProgressLine.count(contents.accounts.count, "account") + " with "
        + ProgressLine.count(contents.sessions.count, "session") + " and the keys, compared",
      json: .object(
        ("accounts", .integer(Int64(contents.accounts.count))),
        ("sessions", .integer(Int64(contents.sessions.count)))
      )
    )
  }
}

/// A storage that data is moved from or to.
private enum MigrationStorage {
  case directory(ProgramPaths)
  case shared(String)

  init(_ text: String) throws(CommandFailure) {
    // libpq also takes host=HOST dbname=NAME, as --store does.
    if text.prefixMatch(of: #/postgres(ql)?:\/\/|\w+\s*=/#) != nil {
      self = .shared(text)
    } else {
      self = .directory(
        try ProgramPaths(dataDirectory: text, socket: nil, isEphemeral: false)
      )
    }
  }

  var name: String {
    switch self {
    case .directory(let paths): paths.data
    case .shared(let address): Storage.name(of: address)
    }
  }

  var databases: any StoredDatabases {
    switch self {
    case .directory(let paths): paths.databases()
    case .shared(let address): Storage.shared(at: address)
    }
  }

  /// Whether the storage may contain accounts.
  var hasAccounts: Bool {
    get throws {
      switch self {
      case .directory(let paths): try Storage.hasAccounts(in: paths.identities)
      case .shared: true
      }
    }
  }

  /// Whether the storage does contain accounts or keys.
  var holdsAccounts: Bool {
    get throws {
      guard try hasAccounts else { return false }
      let store = try accounts()
      defer { try? store.close() }
      return try store.contents() != IdentityContents()
    }
  }

  func accounts() throws -> any MovableIdentityStore {
    switch self {
    case .directory(let paths): try Storage.accounts(in: paths.identities)
    case .shared(let address): try Storage.sharedAccounts(at: address)
    }
  }
}
