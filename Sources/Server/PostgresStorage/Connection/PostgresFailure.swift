import RealtimeServer

/// A reason why PostgreSQL has not executed a statement.
struct PostgresFailure: Error, CustomStringConvertible {
  /// The message of PostgreSQL or of the library.
  let description: String
  /// The SQLSTATE, if the error comes from PostgreSQL.
  let state: String?
  /// Whether the connection has ended, so that the outcome of the statement is unknown.
  let isLost: Bool
  /// Whether PostgreSQL refuses connections for a reason that does not pass by itself.
  private let isFinal: Bool

  init(_ description: String, state: String? = nil, isLost: Bool, isFinal: Bool = false) {
    self.description = description
    self.state = state
    self.isLost = isLost
    self.isFinal = isFinal
  }

  /// Describes what this program, and not PostgreSQL, has found to be wrong for good.
  init(own description: String) {
    self.init(description, state: Self.own, isLost: false)
  }

  /// The state of such a failure; nothing of PostgreSQL has it.
  static let own = "HEARTH"

  /// The lines of a message as one.
  static func oneLine(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == "\t" } }.joined(separator: ": ")
  }

  /// What is wrong with a connection that is silent.
  static let late = "it has not answered in time"

  /// What is wrong when PostgreSQL waits for a standby.
  static let standby =
    "PostgreSQL finishes nothing while it waits for a synchronous standby: see"
    + " synchronous_standby_names and pg_stat_replication"

  /// Whether the connection was given up because it was silent.
  var isLate: Bool { isLost && description == Self.late }

  /// Whether PostgreSQL refuses a connection only because it is starting or stopping, or has too
  /// many connections or too little memory.
  static func isPassing(_ state: String) -> Bool {
    state.hasPrefix("53") || ["57P01", "57P02", "57P03"].contains(state)
  }

  /// Whether a retry may succeed, once PostgreSQL is back or another server has taken its place.
  var isTemporary: Bool {
    guard !isLost, let state else { return true }
    // Read-only, as on a standby; starting, stopping or crashed.
    return ["25006", "57P01", "57P02", "57P03"].contains(state)
  }

  /// The state of a change that another server has overtaken; nothing of PostgreSQL has it.
  static let overtaken = "HEARTH overtaken"

  /// Whether another transaction held a lock for too long.
  var isLockTimeout: Bool { state == "55P03" }

  /// The kind of store error that a refused statement amounts to.
  var kind: StoreError.Kind {
    if isLost, !isFinal { return .unreachable }
    guard !isLost, let state else { return .failed }
    switch state {
    case "53100", "53200": return .full
    // Nothing was stored: a lock or a connection was unavailable, or another process was faster.
    case "55P03", "57014", "40001", "40P01", "53300", "25006", "23505", "57P01", "57P02", "57P03":
      return .busy
    case Self.overtaken: return .superseded
    case "28000", "28P01", "3D000", "42501": return .notWritable
    // A table, a column, a function or the whole schema is missing.
    case "42P01", "42703", "42883", "3F000": return .damaged
    default: return .failed
    }
  }
}

extension StoreError {
  /// Translates an error of PostgreSQL or of its data; the origin is the address without password.
  init(_ error: any Error, at origin: String) {
    switch error {
    case let error as StoreError: self = error
    case let error as PostgresFailure where error.kind == .damaged:
      self = .damaged(origin, because: error.description)
    case let error as PostgresFailure:
      self.init(error.kind, description: "\(origin): \(error.description)")
    case let error as DamagedData: self = .damaged(origin, because: error.description)
    default: self.init(.failed, description: "\(origin): \(error)")
    }
  }

  /// Describes data that differs from what was written.
  static func damaged(_ origin: String, because detail: String) -> StoreError {
    StoreError(
      .damaged,
      description:
        "\(origin): \(detail). Nothing was changed; \"hearth fsck\" lists what is damaged;"
        + " restore a backup"
    )
  }

  /// Runs a closure, and translates errors of PostgreSQL and damage to what it stores, but no others.
  static func translatingStorage<Result>(
    at origin: String,
    _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let error where error is PostgresFailure || error is DamagedData {
      throw StoreError(error, at: origin)
    }
  }

  /// Runs a closure that uses PostgreSQL, and translates its errors.
  static func translating<Result>(
    at origin: String,
    _ body: () throws -> Result
  ) throws(StoreError) -> Result {
    do {
      return try body()
    } catch {
      throw StoreError(error, at: origin)
    }
  }
}
