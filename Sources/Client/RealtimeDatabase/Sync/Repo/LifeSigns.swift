/// Tracks a greeted server's signs of life, and when to check for the next one.
///
/// A client that waits for nothing asks rarely, and more often while it listens, since no pushes may
/// mean no changes or no server. A client that waits for an answer soon pings, because a server can
/// be alive and still owe an answer; a server that stays silent is given up.
/// Only answers and parts of long messages count: pushes also arrive on a connection that transmits
/// nothing in the other direction.
struct LifeSigns: Sendable {
  /// The result of a check.
  enum Verdict: Sendable {
    case alive
    case ask
    /// Tell the server that this end is alive; it need not answer.
    case tell
    /// The server has been silent for too long.
    case gone
  }

  private let configuration: RepoConfiguration
  /// How long the server may leave everything unanswered, in milliseconds.
  private let patience: Int64
  private var lastSent: Int64
  private var lastReceived: Int64
  private var lastSign: Int64
  /// The time of the earliest request since the last sign of life, or nil if there was none.
  private var askedAt: Int64?
  private var isPinging = false
  /// Whether the server would send pushes.
  var isListening = false
  /// How long an answer may be overdue before the client pings; longer each time the server only
  /// answers the ping.
  private var probeDelay: Int64
  private var nextLook: Int64?
  /// When the server fell silent; nil while the silence is not yet noticeable.
  private(set) var silentSince: Int64?

  init(_ configuration: RepoConfiguration, patience: Int64, at time: Int64) {
    self.configuration = configuration
    self.patience = patience
    probeDelay = configuration.probeDelay
    lastSent = time
    lastReceived = time
    lastSign = time
  }

  // MARK: What happens

  mutating func sent(at time: Int64) {
    lastSent = time
    probeDelay = configuration.probeDelay
    if askedAt == nil { askedAt = time }
  }

  /// A message arrived, whether or not it was an answer.
  mutating func received(at time: Int64) { lastReceived = time }

  /// Part of a long message was received or sent.
  mutating func progressed(at time: Int64) {
    lastReceived = time
    isAlive(at: time)
  }

  mutating func answered(at time: Int64) {
    probeDelay = configuration.probeDelay
    isAlive(at: time)
  }

  /// A ping was answered; so the check for a silence need not take place.
  mutating func ponged(at time: Int64) {
    isPinging = false
    nextLook = nil
    probeDelay = min(2 * probeDelay, configuration.keepaliveInterval)
    isAlive(at: time)
  }

  private mutating func isAlive(at time: Int64) {
    lastSign = time
    askedAt = nil
    silentSince = nil
  }

  /// How long the server may send nothing before it is asked for a sign of life.
  private var quiet: Int64 {
    isListening
      ? min(configuration.pushSilence, configuration.keepaliveInterval)
      : configuration.keepaliveInterval
  }

  /// Whether to ping on request: not if an answer is expected or a message has just arrived.
  mutating func probed(at time: Int64) -> Bool {
    guard askedAt == nil, time - lastReceived >= configuration.probeDelay else { return false }
    ask(since: time, at: time)
    return true
  }

  private mutating func ask(since start: Int64, at time: Int64) {
    askedAt = start
    isPinging = true
    lastSent = time
  }

  // MARK: Looking

  /// Checks the server's signs of life.
  ///
  /// - Returns: What to do.
  mutating func look(at time: Int64, isOwed: Bool) -> Verdict {
    // A check that comes much too late means that this program was stopped, not the server.
    let isLate = nextLook.map { time - $0 > configuration.probeDelay } ?? false
    nextLook = nil
    if isLate, askedAt != nil { askedAt = time }
    if askedAt == nil, isOwed, time - lastSign >= probeDelay {
      ask(since: max(lastSign, time - configuration.probeDelay), at: time)
      return .ask
    }
    guard let askedAt else {
      if time - lastReceived >= quiet {
        ask(since: time, at: time)
        return .ask
      }
      guard time - lastSent >= configuration.keepaliveInterval else { return .alive }
      lastSent = time
      return .tell
    }
    let silence = time - askedAt
    if silence >= patience { return .gone }
    if silence >= configuration.noticeableSilence { silentSince = askedAt }
    guard !isPinging, silence >= min(configuration.probeDelay, patience / 2) else { return .alive }
    ask(since: askedAt, at: time)
    return .ask
  }

  /// The pause before the next check, or nil if one is due early enough already.
  ///
  /// A scheduled check is only ever moved to an earlier time, so that a busy client does not set a
  /// timer for each request.
  mutating func pause(at time: Int64, isOwed: Bool) -> Int64? {
    let due = max(time + 1, dueLook(isOwed: isOwed))
    if let nextLook, nextLook <= due { return nil }
    nextLook = due
    return due - time
  }

  private func dueLook(isOwed: Bool) -> Int64 {
    guard let askedAt else {
      let idle = min(lastReceived + quiet, lastSent + configuration.keepaliveInterval)
      return isOwed ? min(idle, lastSign + probeDelay) : idle
    }
    var due = askedAt + patience
    if !isPinging { due = min(due, askedAt + min(configuration.probeDelay, patience / 2)) }
    if silentSince == nil { due = min(due, askedAt + configuration.noticeableSilence) }
    return due
  }
}
