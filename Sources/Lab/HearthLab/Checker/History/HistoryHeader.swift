/// Describes the writer of a history: the first line of a file, and of each further process of the
/// same client.
package struct HistoryHeader: Hashable, Sendable {
  enum Role: String, Sendable {
    case client
    /// The process that starts the others, causes the faults and takes the samples.
    case driver
  }

  /// How stars are written.
  package enum Strategy: String, Sendable, CaseIterable {
    /// A transaction on the post, and another one on its copy.
    case transaction
    /// One update of several paths, with increments.
    case increment
    /// As in the published samples: two transactions on whole objects, which toggle the star.
    case sample
    /// Plain sets of a count that was read before.
    case naive

    /// Whether a star and its copy are written in one commit.
    var isAtomic: Bool { self == .increment }
  }

  /// The name of the client, which is the same for all its processes.
  var client: String
  var role: Role
  var user: String
  var uid: String
  var pid: Int32
  var seed: UInt64
  var strategy: Strategy
  /// The path at which the client announces itself, `UID/TERMINAL` below `presence`, or nil.
  var presence: String?
  /// The system clock in milliseconds since 1970 when the line was written.
  var wallClock: Int64

  var fields: JSONFields {
    [
      "client": client, "role": role, "user": user, "uid": uid, "pid": pid, "seed": seed,
      "strategy": strategy, "presence": presence, "wallClock": wallClock,
    ]
  }
}

extension HistoryHeader {
  init(_ fields: JSONFields) throws(HistoryError) {
    client = try fields("client")
    role = try fields("role")
    user = try fields("user")
    uid = try fields("uid")
    pid = try fields("pid")
    seed = try fields("seed")
    strategy = try fields("strategy")
    presence = try fields("presence")
    wallClock = try fields("wallClock")
  }
}

extension HistoryHeader.Role: JSONField {}
extension HistoryHeader.Strategy: JSONField {}
