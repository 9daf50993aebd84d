import Foundation
import NIOConcurrencyHelpers
import RealtimeServer

/// Sends short queries to PostgreSQL, through a connection that is reopened when it is lost.
///
/// Any thread may call it; only one query runs at a time.
final class PostgresPort: @unchecked Sendable {
  // Safety: the connection is used only while the lock is held.

  private let address: PostgresAddress
  /// The name that errors use for the server.
  let origin: String
  private let options: PostgresStoreOptions
  private let lock = NIOLock()
  private var connection: PostgresConnection?
  private var isPrepared = false

  init(to address: PostgresAddress, options: PostgresStoreOptions) {
    self.address = address
    origin = address.description
    self.options = options
  }

  /// Closes the connection; the next query opens another.
  func close() {
    lock.withLock {
      connection?.close()
      connection = nil
    }
  }

  /// Runs a query.
  ///
  /// If the connection turns out to have ended while it was idle, it is reopened once and the query
  /// is sent again. So this is only for queries that may run twice.
  func query(
    _ sql: String,
    with parameters: [PostgresValue] = []
  ) throws(StoreError) -> PostgresRows {
    lock.lock()
    defer { lock.unlock() }
    do throws(PostgresFailure) {
      let isNew = connection?.isOpen != true
      do throws(PostgresFailure) {
        // A silent connection must not cost the leases that are renewed through it.
        let limit = isNew ? options.leaseLimit : min(options.attemptLimit, options.leaseLimit)
        return try opened().query(sql, with: parameters, within: limit)
      } catch {
        guard error.isLost || error.isTemporary else { throw error }
        connection?.close()
        guard !isNew else { throw error }
        if error.isLate { _ = isAwaitingStandby() }
      }
      return try opened().query(sql, with: parameters, within: options.leaseLimit)
    } catch {
      throw StoreError(diagnosed(error), at: origin)
    }
  }

  /// Says so if PostgreSQL finishes no transaction because a synchronous standby is missing.
  private func diagnosed(_ failure: PostgresFailure) -> PostgresFailure {
    guard failure.isLate || failure.isLockTimeout, isAwaitingStandby() else { return failure }
    return PostgresFailure(PostgresFailure.standby, isLost: true)
  }

  private func isAwaitingStandby() -> Bool {
    guard let connection = try? opened(),
      connection.isAwaitingStandby(within: options.attemptLimit)
    else { return false }
    options.activity.withLockedValue { $0.isAwaitingStandby = true }
    return true
  }

  /// Makes several changes, all or none, and determines their outcome if the connection is lost.
  ///
  /// - Throws: `StoreError`. Unless its `hasStoredNothing` is true, it is unknown what has been
  ///   stored.
  func transact(_ body: (PostgresConnection) throws(PostgresFailure) -> Void) throws(StoreError) {
    lock.lock()
    defer { lock.unlock() }
    let deadline = ContinuousClock.now + options.commitLimit
    /// The transaction whose outcome is unknown.
    var doubtful: TransactionMark?
    while true {
      do throws(PostgresFailure) {
        let connection = try opened()
        if let mark = doubtful {
          switch try Self.status(of: mark, through: connection, within: options.leaseLimit) {
          case "committed": return
          case "aborted": doubtful = nil
          case "in progress":
            throw PostgresFailure("the transaction is still in progress", isLost: true)
          default:
            throw PostgresFailure(own: "the transaction is unknown")
          }
        }
        try connection.run("BEGIN", within: options.leaseLimit)
        try body(connection)
        let rows = try connection.query(
          "SELECT pg_current_xact_id()::text, \(Self.life)",
          within: options.leaseLimit
        )
        doubtful = TransactionMark(number: rows.text(0, column: 0), life: rows.text(0, column: 1))
        do throws(PostgresFailure) {
          try connection.run("COMMIT", within: max(deadline - .now, .seconds(1)))
        } catch {
          // PostgreSQL has undone what it refuses to commit.
          if !error.isLost { doubtful = nil }
          throw error
        }
        return
      } catch {
        connection?.close()
        if error.isLost || error.isTemporary, ContinuousClock.now < deadline {
          usleep(50_000)
          continue
        }
        guard doubtful == nil else {
          throw StoreError(
            .failed,
            description: "\(origin): it is unknown whether the changes are stored: \(error)"
          )
        }
        throw StoreError(
          error.isLost ? .busy : error.kind,
          description: "\(origin): \(error.description)"
        )
      }
    }
  }

  struct TransactionMark {
    let number: String
    /// The value of ``PostgresPort/life`` within the transaction.
    let life: String
  }

  /// What a crash or a failover changes: recovery ends with a checkpoint, or with a new timeline.
  static let life = """
    (SELECT concat_ws(' ', h.timeline, h.start, c.checkpoint_lsn)
      FROM hearth.history() h, pg_control_checkpoint() c)
    """

  /// What has become of a transaction: "committed", "aborted" or "in progress"; nil if it is unknown.
  ///
  /// After a crash or a failover that has lost it, another transaction may have its number.
  static func status(
    of mark: TransactionMark,
    through connection: PostgresConnection,
    within limit: Duration
  ) throws(PostgresFailure) -> String? {
    do throws(PostgresFailure) {
      let rows = try connection.query(
        "SELECT pg_xact_status($1::text::xid8), \(life)",
        with: [.text(mark.number)],
        within: limit
      )
      guard !rows.isNull(0, column: 0) else { return nil }
      let status = rows.text(0, column: 0)
      return status == "committed" && rows.text(0, column: 1) != mark.life ? nil : status
    } catch {
      // The number is yet to be given, since PostgreSQL has crashed before any of it was on the disk.
      guard error.state == "22023" else { throw error }
      return "aborted"
    }
  }

  private func opened() throws(PostgresFailure) -> PostgresConnection {
    if let connection, connection.isOpen { return connection }
    let connection = try PostgresConnection(to: address)
    if self.connection != nil { options.activity.withLockedValue { $0.reconnections += 1 } }
    self.connection = connection
    return connection
  }

  /// Creates or updates the schema on the first call; throws if the options do not allow that.
  func prepare() throws(StoreError) {
    lock.lock()
    defer { lock.unlock() }
    guard !isPrepared else { return }
    try StoreError.translating(at: origin) {
      try Schema.prepare(try opened(), at: origin, mayChange: options.changesSchema)
      isPrepared = true
    }
  }

  // MARK: Leases

  func renew(_ server: ServerID, for duration: Duration) throws(StoreError) {
    _ = try query(
      "SELECT hearth.renew($1, $2)",
      with: [.text(server.description), .integer(duration.milliseconds)]
    )
  }

  func release(_ lease: Lease, to successor: ServerID?) throws(StoreError) {
    try prepare()
    _ = try query(
      "SELECT hearth.release($1, $2, $3::uuid, $4)",
      with: [
        .text(lease.database), .text(lease.holder.description), .text(lease.id),
        successor.map { .text($0.description) } ?? .null,
      ]
    )
  }
}
