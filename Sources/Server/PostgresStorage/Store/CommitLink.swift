import Foundation
import NIOConcurrencyHelpers
import RealtimeServer

/// The commits of a leader, for which it takes connections from a pool.
///
/// A batch names its lease and the row of the log that it follows, each by a random identity;
/// `hearth.commit` stores all of it or nothing. When a connection is lost, the next one adds a
/// barrier to the log: a commit that the old one has in progress is waited for or refused, and the
/// barrier names the last batch. So the outcome is unknown only while PostgreSQL cannot be reached.
///
/// State: sound → doubtful (a connection was lost) → sound …, finished once an outcome has remained
/// unknown. Only one thread at a time may use it.
final class CommitLink {
  /// The row that the next batch follows.
  private struct Head {
    var batch: Int64
    var id: UUID
    /// The last row that is no barrier.
    var written: UUID
    var revision: Int64
  }

  private let pool: PostgresPool
  private let origin: String
  private let database: (id: Int64, name: String)
  private let lease: Lease
  private let options: PostgresStoreOptions
  /// Whether a connection was lost, so that the next one must add a barrier first.
  private(set) var isDoubtful = false
  private var head = Head(batch: 0, id: UUID(), written: UUID(), revision: 0)
  /// The error that finished the link; nil while it accepts batches.
  private var failure: StoreError?

  /// Becomes the writer that may commit under a lease.
  ///
  /// - Throws: `StoreError` when PostgreSQL cannot be reached, or a later lease has been granted.
  init(
    through pool: PostgresPool,
    origin: String,
    database: (id: Int64, name: String),
    lease: Lease,
    options: PostgresStoreOptions
  ) throws(StoreError) {
    self.pool = pool
    self.origin = origin
    self.database = database
    self.lease = lease
    self.options = options
    head = try StoreError.translating(at: origin) {
      let found = try withConnection(until: .now + options.commitLimit, isChecked: true) {
        (connection, deadline) throws(PostgresFailure) in
        try addBarrier(through: connection, until: deadline)
      }
      guard found.isMine else { throw superseded }
      return found.head
    }
  }

  /// The last commit.
  var revision: Int64 { head.revision }

  /// Whether nothing more can be stored.
  var isFinished: Bool { failure != nil }

  /// Ensures that the next batch can be tried.
  ///
  /// - Throws: The `StoreError` that finished the link.
  func requireReady() throws(StoreError) {
    if let failure { throw failure }
  }

  // MARK: Committing

  /// Stores a batch, and determines its outcome if the connection is lost.
  ///
  /// - Parameters:
  ///   - parameters: The batch.
  ///   - revision: Its last commit, or that of the batch before it if it has none.
  /// - Throws: `StoreError`. Unless its `hasStoredNothing` is true, it is unknown what has been
  ///   stored, and nothing more will be.
  func commit(_ parameters: BatchParameters, revision: Int64) throws(StoreError) {
    try requireReady()
    let deadline = ContinuousClock.now + options.commitLimit + Self.allowance(for: parameters)
    let id = UUID()
    var isSent = false
    while true {
      let outcome: Result<Void, StoreError>
      do throws(PostgresFailure) {
        outcome = try withConnection(until: deadline) {
          (connection, deadline) throws(PostgresFailure) in
          try attempt(
            parameters,
            as: id,
            revision: revision,
            through: connection,
            until: deadline,
            isSent: &isSent
          )
        }
      } catch {
        if isWorthRetrying(error), ContinuousClock.now < deadline {
          usleep(50_000)
          continue
        }
        let reason = diagnosed(error)
        throw isSent ? finish(unknown(reason)) : refusal(reason)
      }
      return try outcome.get()
    }
  }

  private func isWorthRetrying(_ failure: PostgresFailure) -> Bool {
    failure.isLost || failure.isTemporary || failure.isLockTimeout
  }

  /// Uses a connection of the pool, and closes it if another one may do better.
  private func withConnection<Result>(
    until deadline: ContinuousClock.Instant,
    isChecked: Bool = false,
    _ body: (PostgresConnection, ContinuousClock.Instant) throws(PostgresFailure) -> Result
  ) throws(PostgresFailure) -> Result {
    let connection = try pool.take(until: deadline, isChecked: isChecked)
    defer { pool.giveBack(connection) }
    do throws(PostgresFailure) {
      return try body(connection, deadline)
    } catch {
      if isWorthRetrying(error) {
        connection.close()
        isDoubtful = true
      }
      throw error
    }
  }

  /// Additional time for a large batch.
  private static func allowance(for parameters: BatchParameters) -> Duration {
    .milliseconds(parameters.payloadCount / 1_000)
  }

  /// Determines the outcome of a batch that was sent, and sends it unless it has been stored.
  private func attempt(
    _ parameters: BatchParameters,
    as id: UUID,
    revision: Int64,
    through connection: PostgresConnection,
    until deadline: ContinuousClock.Instant,
    isSent: inout Bool
  ) throws(PostgresFailure) -> Result<Void, StoreError> {
    if isDoubtful {
      let found = try addBarrier(through: connection, until: deadline)
      isDoubtful = false
      let wasSent = isSent
      let isStored = found.head.written == id
      if wasSent { options.report(.reconnected(database: database.name, wasStored: isStored)) }
      guard found.isMine else {
        // The next leader has committed, so it is impossible to tell whether this batch came before
        // that.
        let isKnown = !wasSent || found.head.written == head.written
        return .failure(finish(isKnown ? superseded : unknown(nil)))
      }
      if wasSent, isStored {
        head = found.head
        return .success(())
      }
      guard found.head.written == head.written, found.head.batch > head.batch else {
        return .failure(finish(moved(to: found.head)))
      }
      head = found.head
      isSent = false
    }
    let next = Head(batch: head.batch + 1, id: id, written: id, revision: revision)
    let isStored = try send(
      parameters,
      reaching: next,
      through: connection,
      until: deadline,
      isSent: &isSent
    )
    if isStored { return .success(()) }
    // The batch was refused: a barrier reveals why.
    let found = try addBarrier(through: connection, until: deadline)
    return .failure(finish(found.isMine ? moved(to: found.head) : superseded))
  }

  /// Sends a batch.
  ///
  /// - Returns: Whether the batch is stored; otherwise it did not follow the last one.
  private func send(
    _ parameters: BatchParameters,
    reaching next: Head,
    through connection: PostgresConnection,
    until deadline: ContinuousClock.Instant,
    isSent: inout Bool
  ) throws(PostgresFailure) -> Bool {
    // A silent connection must not hold up the database for as long as the loss of PostgreSQL may.
    let limit = options.attemptLimit + Self.allowance(for: parameters)
    isSent = true
    do throws(PostgresFailure) {
      let rows = try connection.query(
        Self.statement,
        with: [
          .integer(database.id), .text(lease.id), .integer(head.batch), .uuid(head.id),
          .uuid(next.id), .integer(next.revision),
        ] + parameters.values,
        within: max(min(deadline - .now, limit), .milliseconds(1))
      )
      isSent = false
      guard rows.bool(0, column: 0) else { return false }
      head = next
      return true
    } catch {
      // An error that leaves the connection open has undone all changes.
      if !error.isLost { isSent = false }
      throw error
    }
  }

  /// The call of `hearth.commit`.
  static let statement: String = {
    let numbers = (3...22).map { "$\($0)" }.joined(separator: ", ")
    return "SELECT hearth.commit($1::integer, $2::uuid, \(numbers))"
  }()

  // MARK: Barriers

  /// Adds a barrier, after which no other connection commits.
  ///
  /// - Returns: The last row of the log, which is the barrier unless another lease has begun.
  private func addBarrier(
    through connection: PostgresConnection,
    until deadline: ContinuousClock.Instant
  ) throws(PostgresFailure) -> (head: Head, isMine: Bool) {
    let rows = try connection.query(
      """
      SELECT is_mine, last_batch, last_id, last_written, last_revision
      FROM hearth.add_barrier($1::integer, $2::uuid)
      """,
      with: [.integer(database.id), .text(lease.id)],
      within: max(min(deadline - .now, options.leaseLimit), .milliseconds(200))
    )
    guard rows.count == 1, let id = rows.uuid(0, column: 2), let written = rows.uuid(0, column: 3)
    else { return (Head(batch: -1, id: UUID(), written: UUID(), revision: -1), false) }
    let found = Head(
      batch: rows.integer(0, column: 1),
      id: id,
      written: written,
      revision: rows.integer(0, column: 4)
    )
    return (found, rows.bool(0, column: 0))
  }

  // MARK: Failures

  private var superseded: StoreError {
    StoreError(
      .superseded,
      description:
        "\(origin): another server leads it now; the lease of epoch \(lease.epoch) is no longer the last"
    )
  }

  private func unknown(_ reason: PostgresFailure?) -> StoreError {
    StoreError(
      .failed,
      description: "\(origin): it is unknown whether the last writes were stored"
        + (reason.map { " (\($0))" } ?? "; another server leads it now")
        + "; no acknowledged write is lost"
    )
  }

  private func refusal(_ reason: PostgresFailure) -> StoreError {
    // Whatever was wrong, nothing had been stored yet.
    let kind: StoreError.Kind = reason.isLost || reason.isTemporary ? .busy : reason.kind
    return StoreError(kind, description: "\(origin): \(reason)")
  }

  /// Says so if PostgreSQL finishes no commit because a synchronous standby is missing.
  private func diagnosed(_ failure: PostgresFailure) -> PostgresFailure {
    let limit = options.attemptLimit / 2
    guard failure.isLate || failure.isLockTimeout,
      let connection = try? pool.take(until: .now + limit)
    else { return failure }
    defer { pool.giveBack(connection) }
    guard connection.isAwaitingStandby(within: limit) else { return failure }
    options.activity.withLockedValue { $0.isAwaitingStandby = true }
    return PostgresFailure(PostgresFailure.standby, isLost: true)
  }

  private func moved(to found: Head) -> StoreError {
    guard found.batch <= head.batch else {
      return StoreError(
        .locked,
        description:
          "\(origin): another process wrote under the lease of this one (epoch \(lease.epoch))"
      )
    }
    return StoreError(
      .damaged,
      description:
        "\(origin): PostgreSQL went back from commit \(head.revision) to commit"
        + " \(found.revision) and lost acknowledged commits: perhaps a standby without them was"
        + " promoted (see synchronous_standby_names)"
    )
  }

  /// Refuses all further batches.
  private func finish(_ error: StoreError) -> StoreError {
    failure = error
    return error
  }
}
