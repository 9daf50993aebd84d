/// The signs of life of a server that has greeted, and when to look for the next one.
///
/// Who waits for nothing asks rarely. Who waits for an answer asks directly after a moment, since a
/// server may owe an answer and still be alive; one that says nothing at all is given up. Only answers
/// and parts of long messages count: pushes also arrive over a connection that carries nothing out.
struct LifeSigns: Sendable {
  /// What a look leads to.
  enum Verdict: Sendable {
    /// Nothing is to be done.
    case alive
    /// The server is to be asked for a sign of life.
    case ask
    /// The server is to be told that this end is alive, and need not answer.
    case tell
    /// The server has not answered for too long.
    case gone
  }

  private let configuration: RepoConfiguration
  /// How long the server may leave everything unanswered.
  private let patience: Int64
  private var lastSent: Int64
  private var lastReceived: Int64
  private var lastSign: Int64
  /// When something was asked that has had no sign of life since.
  private var askedAt: Int64?
  private var isPinging = false
  /// How long an answer may be due before the server is asked directly; longer each time it only
  /// says that it is alive.
  private var probeDelay: Int64
  private var nextLook: Int64?
  /// Since when the server has left everything unanswered; nil until that is worth a word.
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

  /// A request was sent.
  mutating func sent(at time: Int64) {
    lastSent = time
    probeDelay = configuration.probeDelay
    if askedAt == nil { askedAt = time }
  }

  /// A message arrived, be it an answer or not.
  mutating func received(at time: Int64) { lastReceived = time }

  /// Part of a long message arrived, or went out.
  mutating func progressed(at time: Int64) {
    lastReceived = time
    isAlive(at: time)
  }

  /// A request was answered.
  mutating func answered(at time: Int64) {
    probeDelay = configuration.probeDelay
    isAlive(at: time)
  }

  /// A ping was answered.
  mutating func ponged(at time: Int64) {
    isPinging = false
    probeDelay = min(2 * probeDelay, configuration.keepaliveInterval)
    isAlive(at: time)
  }

  private mutating func isAlive(at time: Int64) {
    lastSign = time
    askedAt = nil
    silentSince = nil
  }

  /// Whether to ask for a sign of life, as somebody has come who would like to know.
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

  /// The time to look has come.
  ///
  /// - Parameters:
  ///   - time: The time.
  ///   - isOwed: Whether requests are without an answer.
  /// - Returns: What is to be done.
  mutating func look(at time: Int64, isOwed: Bool) -> Verdict {
    // A look that comes far too late says that this program stood still, not that the server did.
    let isLate = nextLook.map { time - $0 > configuration.probeDelay } ?? false
    nextLook = nil
    if isLate, askedAt != nil { askedAt = time }
    if askedAt == nil, isOwed, time - lastSign >= probeDelay {
      ask(since: max(lastSign, time - configuration.probeDelay), at: time)
      return .ask
    }
    guard let askedAt else {
      if time - lastReceived >= configuration.keepaliveInterval {
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

  /// The pause before the next look, unless one comes early enough anyway.
  ///
  /// A running look is only ever put earlier, so that a client in a hurry does not set a timer for
  /// each request.
  mutating func pause(at time: Int64, isOwed: Bool) -> Int64? {
    let due = max(time + 1, dueLook(isOwed: isOwed))
    if let nextLook, nextLook <= due { return nil }
    nextLook = due
    return due - time
  }

  private func dueLook(isOwed: Bool) -> Int64 {
    guard let askedAt else {
      let idle = min(lastReceived, lastSent) + configuration.keepaliveInterval
      return isOwed ? min(idle, lastSign + probeDelay) : idle
    }
    var due = askedAt + patience
    if !isPinging { due = min(due, askedAt + min(configuration.probeDelay, patience / 2)) }
    if silentSince == nil { due = min(due, askedAt + configuration.noticeableSilence) }
    return due
  }
}
