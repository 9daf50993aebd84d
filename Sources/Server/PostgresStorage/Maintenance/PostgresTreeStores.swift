import Foundation
import NIOConcurrencyHelpers
package import RealtimeServer

/// The databases in the schema `hearth` of one PostgreSQL, which several servers may share.
package final class PostgresTreeStores: ClusterStore {
  let address: PostgresAddress
  let options: PostgresStoreOptions
  /// The time in milliseconds since 1970, by which old ledger entries are dropped.
  private let now: @Sendable () -> Int64
  let port: PostgresPort
  /// The connections of the databases; leases do not depend on them.
  let pools: PostgresPools

  /// Describes the databases at an address; the first operation opens a connection.
  package init(
    at address: PostgresAddress,
    options: PostgresStoreOptions = PostgresStoreOptions(),
    now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
  ) {
    self.address = address
    self.options = options
    self.now = now
    port = PostgresPort(to: address, options: options)
    pools = PostgresPools(to: address, options: options)
  }

  package var activity: StorageActivity { options.activity.withLockedValue { $0 } }

  // MARK: Databases

  package func names() throws(StoreError) -> [String] {
    let rows = try query("SELECT name FROM hearth.databases ORDER BY name")
    return (0..<rows.count).map { rows.text($0, column: 0) }
  }

  package func create(_ name: String) throws(StoreError) -> Bool {
    let rows = try query("SELECT hearth.make_database($1)", with: [.text(name)])
    return !rows.isNull(0, column: 0)
  }

  package func database(_ name: String) -> any StoredDatabase {
    PostgresDatabase(name: name, stores: self)
  }

  /// The number of a database, or nil if it does not exist.
  func number(of name: String) throws(StoreError) -> Int64? {
    let rows = try query("SELECT id FROM hearth.databases WHERE name = $1", with: [.text(name)])
    return rows.count == 0 ? nil : rows.integer(0, column: 0)
  }

  private func existing(_ name: String) throws(StoreError) -> Int64 {
    guard let number = try number(of: name) else { throw missing(name) }
    return number
  }

  func missing(_ name: String) -> StoreError {
    StoreError(.missing, description: "\(address.description): there is no database \"\(name)\"")
  }

  /// Opens the store of a database, under a separate lease that is renewed until the store is
  /// closed.
  ///
  /// - Returns: The store, or nil when there is no such database.
  /// - Throws: `StoreError`: locked when another server leads the database.
  package func open(_ name: String) throws(StoreError) -> (any TreeStore)? {
    guard try number(of: name) != nil else { return nil }
    let keeper = try acquireOwn(name, patience: options.patience)
    do throws(StoreError) {
      return try open(keeper.lease, number: keeper.number, keeper: keeper)
    } catch {
      keeper.release()
      throw error
    }
  }

  /// Takes a lease of an existing database, which is renewed until its keeper releases it.
  ///
  /// Until the patience ends, it waits for another server to release it, and can ask it to do so.
  ///
  /// - Throws: `StoreError`: locked when another server leads the database.
  func acquireOwn(
    _ name: String,
    patience: Duration,
    asksLeader: Bool = false
  ) throws(StoreError) -> LeaseKeeper {
    let number = try existing(name)
    let server = ServerID.tool(UUID().uuidString)
    let deadline = ContinuousClock.now + patience
    /// What was last seen of another server's lease and of PostgreSQL, and since when.
    var lease: (mark: LeaseMark?, since: ContinuousClock.Instant) = (nil, ContinuousClock.now)
    var history: (mark: StorageHistory?, since: ContinuousClock.Instant) = (nil, .now)
    while true {
      let view = try view()
      let held = view.leases.first { $0.database == name }
      let mark = held.map { LeaseMark($0, in: view.history) }
      if mark != lease.mark { lease = (mark, .now) }
      if view.history != history.mark { history = (view.history, .now) }
      let isHandedOver = held?.holder == server
      let hasEnded = held.map { ContinuousClock.now - lease.since >= $0.duration } ?? true
      let isKnown = ContinuousClock.now - history.since >= options.settling
      if asksLeader, !isHandedOver, let held, held.wanted != server {
        try ask(forMoveOf: name, to: server)
      }
      if view.isSettled || isKnown, hasEnded || isHandedOver {
        let lease = try acquire(
          name,
          by: server,
          for: options.ownLease,
          insteadOf: mark,
          knowing: isKnown ? history.mark : nil
        )
        if lease.holder == server {
          return LeaseKeeper(lease, of: number, at: address, options: options)
        }
      }
      // A holder that is dead by PostgreSQL's clock is watched, since no lease ends by that clock.
      if let held, held.age >= .zero, held.age < held.duration, ContinuousClock.now >= deadline {
        if asksLeader { try ask(forMoveOf: name, to: nil) }
        throw StoreError(
          .locked,
          description:
            "\(address.description): another server (\(held.holder)) leads the database"
            + " \"\(name)\""
        )
      }
      usleep(50_000)
    }
  }

  private func open(
    _ lease: Lease,
    number: Int64,
    keeper: LeaseKeeper? = nil
  ) throws(StoreError) -> PostgresTreeStore {
    var options = options
    // A leader that can store nothing gives the lease up soon enough that another server takes over
    // as quickly as if this one had died.
    options.commitLimit = min(options.commitLimit, lease.duration * 5 / 8)
    let store = try PostgresTreeStore(
      through: pools,
      database: (number, lease.database),
      lease: lease,
      keeper: keeper,
      options: options
    )
    _ = try port.query(
      "DELETE FROM hearth.ledger WHERE database = $1 AND last_seen < $2",
      with: [.integer(number), .integer(now() - options.ledgerAge)]
    )
    return store
  }

  // MARK: Leases

  package func release(_ lease: Lease, to successor: ServerID?) throws(StoreError) {
    try port.release(lease, to: successor)
  }

  package func open(_ lease: Lease) throws(StoreError) -> any TreeStore {
    try open(lease, number: existing(lease.database))
  }

  // MARK: Removing and renaming

  package func remove(_ database: String, within patience: Duration) throws(StoreError) {
    try change(
      database,
      .clear(database: database),
      within: patience,
      by: "DELETE FROM hearth.databases WHERE id = $1"
    )
  }

  package func rename(
    _ database: String,
    to name: String,
    within patience: Duration
  ) throws(StoreError) {
    guard try number(of: name) == nil else {
      throw StoreError(
        .failed,
        description: "\(address.description): there is a database \"\(name)\" already"
      )
    }
    try change(
      database,
      .rename(database: database, to: name),
      within: patience,
      endingAs: name,
      by: "UPDATE hearth.databases SET name = $2 WHERE id = $1"
    )
  }

  /// Changes a whole database and its accounts in one transaction, while nobody else leads it.
  private func change(
    _ name: String,
    _ accounts: IdentityChange,
    within patience: Duration,
    endingAs newName: String? = nil,
    by statement: String
  ) throws(StoreError) {
    let keeper = try acquireOwn(name, patience: patience, asksLeader: true)
    defer {
      if let newName {
        var lease = keeper.lease
        lease.database = newName
        // Nothing happens if the name is still the old one.
        try? port.release(lease, to: nil)
      }
      keeper.release()
    }
    try port.transact { connection throws(PostgresFailure) in
      let rows = try connection.query(
        "SELECT 1 FROM hearth.leases WHERE database = $1 AND id = $2::uuid FOR UPDATE",
        with: [.integer(keeper.number), .text(keeper.lease.id)]
      )
      guard rows.count == 1 else {
        throw PostgresFailure(own: "another server leads it now")
      }
      // First, because it waits for accounts that are being created and keeps others from it.
      let values = newName.map { [PostgresValue.text($0)] } ?? []
      try connection.query(statement, with: [.integer(keeper.number)] + values)
      let identities = IdentityWriter(connection)
      // Tokens name the database, and others may have accounts in the next one of that name.
      try identities.apply(.revokeAll(database: name, validSince: now() / 1_000 + 1))
      try identities.apply(accounts)
    }
  }
}
