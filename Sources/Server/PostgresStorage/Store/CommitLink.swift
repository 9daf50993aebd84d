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
    /// The last row that is not a barrier.
    var written: UUID
    var revision: Int64
  }

  /// A batch that is under way or is to be sent.
  private struct Flight {
    let parameters: BatchParameters
    let revision: Int64
    let id = UUID()
    let time = ContinuousClock.now
  }

  private let pool: PostgresPool
  private let origin: String
  private let database: (id: Int64, name: String)
  private let lease: Lease
  private let options: PostgresStoreOptions
  /// Rung when another batch can be taken.
  private let bell: Bell
  /// Whether a connection was lost, so that the next one must add a barrier first.
  private(set) var isDoubtful = false
  private var head = Head(batch: 0, id: UUID(), written: UUID(), revision: 0)
  /// The batches that are not known to be stored, the oldest first.
  private var flights: [Flight] = []
  /// How many of them may have reached PostgreSQL.
  private var sent = 0
  private var pace = Pace()
  /// When the last batch was stored, or the oldest one was given to the link.
  private var lastProgress = ContinuousClock.now
  /// When a connection was last found to work on the oldest batch.
  private var attemptBegin = ContinuousClock.now
  /// The error that finished the link; nil while it accepts batches.
  private var failure: StoreError?

  /// Becomes the writer that may commit under a lease, unless a later one has been granted.
  init(
    through pool: PostgresPool,
    origin: String,
    database: (id: Int64, name: String),
    lease: Lease,
    options: PostgresStoreOptions,
    bell: Bell
  ) throws(StoreError) {
    self.pool = pool
    self.origin = origin
    self.database = database
    self.lease = lease
    self.options = options
    self.bell = bell
    head = try StoreError.translating(at: origin) {
      let found = try withConnection(until: .now + options.commitLimit, isChecked: true) {
        (connection, deadline) throws(PostgresFailure) in
        try addBarrier(through: connection, until: deadline)
      }
      guard found.isMine else { throw superseded }
      return found.head
    }
  }

  var revision: Int64 { head.revision }

  var isFinished: Bool { failure != nil }

  /// Ensures that the next batch can be tried, or throws the error that finished the link.
  func requireReady() throws(StoreError) {
    if let failure { throw failure }
  }

  // MARK: Committing

  /// Stores batches in order until there is none left, or one fails.
  ///
  /// While PostgreSQL is further away than it takes to store a batch, the next ones are sent behind
  /// it. Each names the one before, so PostgreSQL refuses all that follow one that is not stored.
  ///
  /// - Parameters:
  ///   - next: Returns the next batch; nil if there is none at the moment.
  ///   - settled: Receives the outcome of each batch, the oldest first, once all before it are
  ///     durable. A failure is the last: nothing of the batches behind it is stored unless it is
  ///     unknown what is, and then nothing more will be.
  func commitAll(
    _ next: () -> (parameters: BatchParameters, revision: Int64)?,
    _ settled: (Result<Void, StoreError>) -> Void
  ) {
    func take() -> Bool {
      guard let (parameters, revision) = next() else { return false }
      flights.append(Flight(parameters: parameters, revision: revision))
      return true
    }
    do throws(StoreError) {
      while !flights.isEmpty || take() {
        try requireReady()
        try store(take) { settled(.success(())) }
      }
    } catch {
      flights = []
      sent = 0
      settled(.failure(error))
    }
  }

  /// Stores the batches that wait, and as many others as it can send meanwhile.
  private func store(_ take: () -> Bool, _ stored: () -> Void) throws(StoreError) {
    lastProgress = .now
    while !flights.isEmpty {
      let end = lastProgress + options.commitLimit + allowance
      let outcome: Result<Void, StoreError>
      do throws(PostgresFailure) {
        outcome = try withConnection(until: end) { (connection, deadline) throws(PostgresFailure) in
          if isDoubtful {
            let outcome = try settle(through: connection, until: deadline, stored)
            guard case .success = outcome else { return outcome }
          }
          return try pump(through: connection, take, stored)
        }
      } catch {
        if isWorthRetrying(error), ContinuousClock.now < end {
          usleep(50_000)
          continue
        }
        let reason = diagnosed(error)
        throw sent > 0 ? finish(unknown(reason)) : refusal(reason)
      }
      try outcome.get()
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

  /// Additional time for large batches.
  private var allowance: Duration {
    .milliseconds(flights.reduce(0) { $0 + $1.parameters.payloadCount } / 1_000)
  }

  /// Determines which batches a lost connection has stored; the others are to be sent again.
  private func settle(
    through connection: PostgresConnection,
    until deadline: ContinuousClock.Instant,
    _ stored: () -> Void
  ) throws(PostgresFailure) -> Result<Void, StoreError> {
    let found = try addBarrier(through: connection, until: deadline)
    isDoubtful = false
    let last = flights.prefix(sent).lastIndex { $0.id == found.head.written }
    if sent > 0 { options.report(.reconnected(database: database.name, wasStored: last != nil)) }
    guard found.isMine else {
      // The next leader has committed, so it is impossible to tell which batches came before that.
      let isKnown = sent == 0 || found.head.written == head.written
      return .failure(finish(isKnown ? superseded : unknown(nil)))
    }
    guard last != nil || found.head.written == head.written && found.head.batch > head.batch else {
      return .failure(finish(moved(to: found.head)))
    }
    head = found.head
    sent = 0
    for _ in 0..<(last.map { $0 + 1 } ?? 0) { landed(stored) }
    return .success(())
  }

  /// Counts the oldest batch as stored.
  private func landed(_ stored: () -> Void) {
    flights.removeFirst()
    lastProgress = .now
    attemptBegin = lastProgress
    stored()
  }

  /// Sends batches and waits for their answers, until there is none left or one is not stored.
  private func pump(
    through connection: PostgresConnection,
    _ take: () -> Bool,
    _ stored: () -> Void
  ) throws(PostgresFailure) -> Result<Void, StoreError> {
    while true {
      let mayRing = try send(through: connection, take)
      guard sent > 0 else { break }
      guard
        let answer = try connection.answer(until: attemptEnd, orRingOf: mayRing ? bell : nil)
      else { continue }
      guard case .success(let rows) = answer, rows.bool(0, column: 0) else {
        return try refused(answer, through: connection)
      }
      let flight = flights[0]
      head = Head(
        batch: head.batch + 1,
        id: flight.id,
        written: flight.id,
        revision: flight.revision
      )
      sent -= 1
      connection.answerCame(after: .now - flight.time)
      pace.learn(sent: flight.time, stored: .now, roundTrip: connection.roundTrip)
      landed(stored)
    }
    connection.endPipeline()
    return .success(())
  }

  /// Sends as many batches as are worth being under way, and returns whether there could be more.
  private func send(
    through connection: PostgresConnection,
    _ take: () -> Bool
  ) throws(PostgresFailure) -> Bool {
    let range = options.batchesUnderWay
    let most = min(
      max(pace.batches(roundTrip: connection.roundTrip), range.lowerBound),
      range.upperBound
    )
    while sent < most {
      // Other databases may wait for the connection.
      if sent == flights.count, sent > 0 && pool.isAwaited || !take() { return sent > 0 }
      if sent == 0 { attemptBegin = .now }
      let flight = Flight(parameters: flights[sent].parameters, revision: flights[sent].revision)
      let place: [PostgresValue] = [
        .integer(database.id), .text(lease.id), .integer(head.batch + Int64(sent)),
        .uuid(sent > 0 ? flights[sent - 1].id : head.id), .uuid(flight.id),
        .integer(flight.revision),
      ]
      flights[sent] = flight
      sent += 1
      do throws(PostgresFailure) {
        try connection.post(
          Self.statement,
          with: place + flight.parameters.values,
          until: attemptEnd
        )
      } catch {
        // If the connection is lost, the batch may be stored.
        if !error.isLost { sent -= 1 }
        throw error
      }
    }
    return false
  }

  /// Until when the oldest batch must be answered.
  ///
  /// A silent connection must not hold up the database for as long as the loss of PostgreSQL may.
  private var attemptEnd: ContinuousClock.Instant {
    min(attemptBegin + options.attemptLimit, lastProgress + options.commitLimit) + allowance
  }

  /// Learns why the oldest batch was not stored; those behind it are not stored either.
  private func refused(
    _ answer: Result<PostgresRows, PostgresFailure>,
    through connection: PostgresConnection
  ) throws(PostgresFailure) -> Result<Void, StoreError> {
    for _ in 1..<sent {
      let later = try connection.answer(until: attemptEnd, orRingOf: nil)
      if case .success(let rows) = later, rows.bool(0, column: 0) {
        // PostgreSQL has broken the chain; no outcome is certain any more.
        return .failure(finish(unknown(nil)))
      }
    }
    connection.endPipeline()
    sent = 0
    _ = try answer.get()
    // It did not follow the last row: a barrier reveals why.
    let found = try addBarrier(through: connection, until: attemptEnd)
    return .failure(finish(found.isMine ? moved(to: found.head) : superseded))
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
      .outdated,
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

/// How many batches to have under way, so that PostgreSQL has the next when it has stored one.
///
/// One more would only wait there, where it can no longer be joined with those that come after it.
private struct Pace {
  /// How long PostgreSQL takes for a batch, without the way there and back; nil before the first.
  private var time: Duration?
  private var lastStored = ContinuousClock.now

  mutating func learn(
    sent: ContinuousClock.Instant,
    stored: ContinuousClock.Instant,
    roundTrip: Duration
  ) {
    let sample = max(stored - max(lastStored, sent + roundTrip), .microseconds(50))
    lastStored = stored
    // A stall says little about the next batch.
    time = time.map { $0 + (min(sample, $0 * 4) - $0) / 8 } ?? sample
  }

  func batches(roundTrip: Duration) -> Int { time.map { 1 + Int(roundTrip / $0) } ?? 1 }
}
