import Foundation
import RealtimeHub

/// The connection through which a leader commits.
///
/// A batch names the batch that it follows, the epoch of the lease and the number of the
/// connection; `hearth.commit` stores all of it or nothing. When the connection is lost, the next
/// one takes a new number: a commit that the old one has in progress is waited for or refused, and
/// the number of the last batch reveals its outcome. So the outcome is unknown only while
/// PostgreSQL cannot be reached.
///
/// State: closed → open → closed …, finished once an outcome has remained unknown. Only one thread
/// at a time may use it.
final class CommitLink {
  /// The position that the next batch follows.
  private struct Head: Equatable {
    var batch: Int64
    var revision: Int64
  }

  private let address: PostgresAddress
  private let database: (id: Int64, name: String)
  private let epoch: Int64
  private let options: PostgresStoreOptions
  private var connection: PostgresConnection?
  private var writer: Int64 = 0
  private var head = Head(batch: 0, revision: 0)
  /// The error that finished the link; nil while it accepts batches.
  private var failure: StoreError?

  /// Connects as the writer that may commit under a lease.
  ///
  /// - Throws: `StoreError` when PostgreSQL cannot be reached, or a later lease has been granted.
  init(
    to address: PostgresAddress,
    database: (id: Int64, name: String),
    epoch: Int64,
    options: PostgresStoreOptions
  ) throws(StoreError) {
    self.address = address
    self.database = database
    self.epoch = epoch
    self.options = options
    let origin = address.description
    head = try StoreError.translating(at: origin) {
      let found = try take(until: .now + options.commitLimit)
      guard found.epoch == epoch else { throw superseded }
      return found.head
    }
  }

  /// The last commit.
  var revision: Int64 { head.revision }

  /// Whether nothing more can be stored.
  var isFinished: Bool { failure != nil }

  /// Closes the connection.
  func close() {
    connection?.close()
    connection = nil
  }

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
    let deadline = ContinuousClock.now + options.commitLimit
    let next = Head(batch: head.batch + 1, revision: revision)
    var isSent = false
    while true {
      let outcome: Result<Void, StoreError>
      do throws(PostgresFailure) {
        outcome = try attempt(parameters, reaching: next, until: deadline, isSent: &isSent)
      } catch {
        if error.isLost || error.isTemporary {
          close()
          if ContinuousClock.now < deadline {
            usleep(50_000)
            continue
          }
        }
        throw isSent ? finish(unknown(error)) : refusal(error)
      }
      return try outcome.get()
    }
  }

  /// Determines the outcome of a batch that was sent, and sends it unless it has been stored.
  private func attempt(
    _ parameters: BatchParameters,
    reaching next: Head,
    until deadline: ContinuousClock.Instant,
    isSent: inout Bool
  ) throws(PostgresFailure) -> Result<Void, StoreError> {
    if connection?.isOpen != true {
      let found = try take(until: deadline)
      let wasSent = isSent
      if wasSent {
        options.report(.reconnected(database: database.name, wasStored: found.head == next))
      }
      guard found.epoch == epoch else {
        // The next leader has committed, so it is impossible to tell whether this batch came before
        // that.
        let isKnown = !wasSent || found.head == head
        return .failure(finish(isKnown ? superseded : unknown(nil)))
      }
      if wasSent, found.head == next {
        head = next
        return .success(())
      }
      guard found.head == head else { return .failure(finish(moved(to: found.head))) }
      isSent = false
    }
    if try send(parameters, reaching: next, until: deadline, isSent: &isSent) {
      return .success(())
    }
    // The batch was refused: taking a new number reveals why.
    let found = try take(until: deadline)
    if found.epoch != epoch { return .failure(finish(superseded)) }
    return .failure(finish(moved(to: found.head)))
  }

  /// Sends a batch.
  ///
  /// - Returns: Whether the batch is stored; otherwise it did not follow the last one.
  private func send(
    _ parameters: BatchParameters,
    reaching next: Head,
    until deadline: ContinuousClock.Instant,
    isSent: inout Bool
  ) throws(PostgresFailure) -> Bool {
    guard let connection else { return false }
    isSent = true
    do throws(PostgresFailure) {
      let rows = try connection.query(
        Self.statement,
        with: [
          .integer(database.id), .integer(epoch), .integer(writer), .integer(head.batch),
          .integer(head.revision), .integer(next.revision),
        ] + parameters.values,
        within: max(deadline - .now, .milliseconds(1))
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
    let numbers = (2...22).map { "$\($0)" }.joined(separator: ", ")
    return "SELECT hearth.commit($1::integer, \(numbers))"
  }()

  // MARK: Connecting

  /// Takes a new number for the connection, connecting first if necessary.
  ///
  /// - Returns: The position that the next batch follows, and the epoch of the lease that may write
  ///   it.
  private func take(
    until deadline: ContinuousClock.Instant
  ) throws(PostgresFailure) -> (head: Head, epoch: Int64) {
    let connection: PostgresConnection
    if let open = self.connection, open.isOpen {
      connection = open
    } else {
      connection = try PostgresConnection(to: address)
      self.connection = connection
    }
    let rows = try connection.query(
      "SELECT * FROM hearth.take_writer($1::integer, $2)",
      with: [.integer(database.id), .integer(epoch)],
      within: max(deadline - .now, .milliseconds(200))
    )
    guard rows.count == 1 else { return (Head(batch: -1, revision: -1), -1) }
    writer = rows.integer(0, column: 0)
    return (
      Head(batch: rows.integer(0, column: 1), revision: rows.integer(0, column: 2)),
      rows.integer(0, column: 3)
    )
  }

  // MARK: Failures

  private var origin: String { "\(address.description), database \"\(database.name)\"" }

  private var superseded: StoreError {
    StoreError(
      .superseded,
      description:
        "\(origin): another server leads it now; the lease of epoch \(epoch) is no longer valid"
    )
  }

  private func unknown(_ reason: PostgresFailure?) -> StoreError {
    StoreError(
      .failed,
      description: "\(origin): it is unknown whether the last writes were stored"
        + (reason.map { " (\($0.description))" } ?? "; another server leads it now")
        + "; no acknowledged write is lost"
    )
  }

  private func refusal(_ reason: PostgresFailure) -> StoreError {
    // Whatever was wrong, nothing had been stored yet.
    let kind: StoreError.Kind = reason.isLost || reason.isTemporary ? .busy : reason.kind
    return StoreError(kind, description: "\(origin): \(reason.description)")
  }

  private func moved(to found: Head) -> StoreError {
    guard found.batch < head.batch else {
      return StoreError(
        .locked,
        description:
          "\(origin): another process wrote under the lease of this one (epoch \(epoch))"
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
    close()
    return error
  }
}
