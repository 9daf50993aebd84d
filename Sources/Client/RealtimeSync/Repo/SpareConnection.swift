/// A second attempt to connect, beside a server that says nothing.
///
/// A machine that hangs keeps its connections open, so nobody is told that another has taken its place. The
/// spare goes to the database's own host, which may lead to another machine, and on to where it is sent.
/// If it is greeted before the silent server speaks, it becomes the connection.
///
/// State: waiting ⇄ trying. There is one at a time, and none unless something has been silent.
struct SpareConnection: Sendable {
  /// An attempt that is under way.
  struct Attempt: Sendable {
    let id: ConnectionID
    /// The host that a server named, or nil for the database's own.
    let host: String?
    let since: Int64
  }

  /// The attempt, or nil between two of them.
  private(set) var attempt: Attempt?
  /// How many attempts at the database's own host have been given up without an answer.
  private var unanswered = 0
  /// How often the attempts were sent on since the last one at the database's own host.
  private var leaps = 0

  /// How long the first attempt may take, in milliseconds; each further one has twice as long.
  ///
  /// A server that holds the handshake until a leader is found is asked again, and knows it by then.
  private static let patience: Int64 = 2_000
  /// How often the patience doubles at most.
  private static let longestPatience = 3
  /// The shortest pause between two attempts, in milliseconds; the longest one is twice as long.
  private static let pause: Int64 = 1_000
  /// How often servers may send an attempt on.
  private static let mostLeaps = 4

  /// Begins an attempt, which takes the place of the one before.
  ///
  /// - Parameters:
  ///   - id: The name of the attempt.
  ///   - host: The host that a server named, or nil for the database's own.
  ///   - time: The time.
  /// - Returns: What is to be done.
  mutating func tries(_ id: ConnectionID, host: String?, at time: Int64) -> [RepoOutput] {
    let given = leave()
    if host == nil { leaps = 0 } else { leaps += 1 }
    attempt = Attempt(id: id, host: host, since: time)
    let patience = Self.patience << Int64(min(unanswered, Self.longestPatience))
    return given + [.connect(id, host: host), .schedule(.spare, after: patience)]
  }

  /// Whether an attempt may go on to a host that a server has named.
  var mayLeap: Bool { leaps < Self.mostLeaps }

  /// Waits a little before the next attempt.
  ///
  /// - Parameter time: The time, whose chance spreads the attempts of many clients.
  /// - Returns: What is to be done.
  mutating func rests(at time: RepoTime) -> [RepoOutput] {
    let pause = Self.pause + Int64(Double(Self.pause) * time.random)
    return leave() + [.schedule(.spare, after: pause)]
  }

  /// Notes that the attempt has had no answer for too long.
  mutating func wentUnanswered() {
    if attempt != nil { unanswered += 1 }
  }

  /// Gives the attempt up, if there is one.
  mutating func leave() -> [RepoOutput] {
    defer { attempt = nil }
    return attempt.map { [.disconnect($0.id, .intended)] } ?? []
  }
}
