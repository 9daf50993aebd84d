import RealtimeHub
import TreeStorage

/// A reason why PostgreSQL has not done what was asked.
struct PostgresFailure: Error, CustomStringConvertible {
  /// What PostgreSQL or the library says.
  let description: String
  /// The SQLSTATE, when it was PostgreSQL that said it.
  let state: String?
  /// Whether the connection has ended, so that it is unknown what became of the statement.
  let isLost: Bool

  init(_ description: String, state: String? = nil, isLost: Bool) {
    self.description = description
    self.state = state
    self.isLost = isLost
  }

  /// Whether it goes away by itself when PostgreSQL is back, or another one has taken its place.
  var isTemporary: Bool {
    guard !isLost, let state else { return true }
    switch state {
    // Read-only as a standby is; starting, stopping or crashed.
    case "25006", "57P01", "57P02", "57P03": return true
    default: return false
    }
  }

  /// The kind of error that a statement which was refused is to a server.
  var kind: StoreError.Kind {
    guard !isLost, let state else { return .failed }
    switch state {
    case "53100", "53200": return .full
    // Nothing was stored: a lock or a slot was not to be had, or somebody else was faster.
    case "55P03", "57014", "40001", "40P01", "53300", "25006", "23505", "57P01", "57P02", "57P03":
      return .busy
    case "28000", "28P01", "3D000", "42501": return .notWritable
    default: return .failed
    }
  }
}

extension StoreError {
  /// Translates an error of PostgreSQL, or of what it has stored.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - place: What errors name: the address without its password.
  init(_ error: any Error, at place: String) {
    switch error {
    case let error as StoreError: self = error
    case let error as PostgresFailure:
      self.init(error.kind, description: "\(place): \(error.description)")
    case let error as DamagedRow: self = .damaged(place, because: error.description)
    case let error as BinaryReader.Failure: self = .damaged(place, because: error.reason)
    default: self.init(.failed, description: "\(place): \(error)")
    }
  }

  /// Describes data that are not what was written.
  static func damaged(_ place: String, because detail: String) -> StoreError {
    StoreError(
      .damaged,
      description:
        "\(place): \(detail). Nothing was changed; \"hearth fsck\" lists what is damaged;"
        + " restore a backup"
    )
  }

  /// Runs a closure that uses PostgreSQL, and translates what it throws.
  static func translating<Result>(
    at place: String,
    _ body: () throws -> Result
  ) throws(StoreError) -> Result {
    do {
      return try body()
    } catch {
      throw StoreError(error, at: place)
    }
  }
}
