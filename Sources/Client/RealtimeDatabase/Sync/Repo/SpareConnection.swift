/// An attempt to connect that is under way.
struct ConnectionAttempt: Sendable {
  let id: ConnectionID
  /// The host that a server named, or nil for the database's own.
  let host: String?
  let since: Int64
  /// Whether it has already taken noticeably long.
  var isSilent = false
}

/// A second connection attempt beside a silent server.
///
/// A hung machine keeps its connections open, so its clients do not notice when another has
/// replaced it. The spare attempt goes to the database's own host, which may lead to another
/// machine, and follows redirects. If it is greeted before the silent server answers, it becomes
/// the connection.
///
/// State: waiting ⇄ trying. There is at most one, and only while a server is silent.
struct SpareConnection: Sendable {
  /// The attempt, or nil between two of them.
  private(set) var attempt: ConnectionAttempt?
  /// How many attempts at the database's own host were given up without an answer.
  private var unanswered = 0
  /// How many redirects the attempts have followed since the last one at the database's own host.
  private var leaps = 0

  /// The time limit of the first attempt, in milliseconds; it doubles with each further one.
  ///
  /// A server may hold the handshake until a leader is found; when it is asked again, it knows the
  /// leader.
  private static let patience: Int64 = 2_000
  /// How many times the time limit doubles at most.
  private static let longestPatience = 3
  /// The shortest pause between attempts, in milliseconds; the longest is twice as long.
  private static let pause: Int64 = 1_000
  /// How many redirects an attempt may follow.
  private static let mostLeaps = 4

  /// Starts an attempt at a host that a server named, or at the database's own.
  mutating func tries(_ id: ConnectionID, host: String?, at time: Int64) -> [RepoOutput] {
    let given = leave()
    if host == nil { leaps = 0 } else { leaps += 1 }
    attempt = ConnectionAttempt(id: id, host: host, since: time)
    let patience = Self.patience << Int64(min(unanswered, Self.longestPatience))
    return given + [.connect(id, host: host), .schedule(.spare, after: patience)]
  }

  /// Whether the attempt may follow another redirect.
  var mayLeap: Bool { leaps < Self.mostLeaps }

  /// Waits briefly before the next attempt, by chance, which spreads the attempts of many clients.
  mutating func rests(at time: RepoTime) -> [RepoOutput] {
    let pause = Self.pause + Int64(Double(Self.pause) * time.random)
    return leave() + [.schedule(.spare, after: pause)]
  }

  /// Records that the attempt was not answered in time.
  mutating func wentUnanswered() {
    if attempt != nil { unanswered += 1 }
  }

  /// Gives up the attempt, if there is one.
  mutating func leave() -> [RepoOutput] {
    defer { attempt = nil }
    return attempt.map { [.disconnect($0.id, .intended)] } ?? []
  }
}
