internal import NIOCore

/// The signed-in users of a database that are connected or have written recently.
///
/// State of a user: connected → fading (no connection, but recent writes still count) → forgotten.
/// Confined to the server's event loop.
final class UserTable {
  private let context: ServerContext
  private var loads: [String: UserLoad] = [:]
  /// Limits how often the log repeats the same note about a user.
  private var notes = HourlyNotes()
  /// The users that connections, event streams and requests in progress count towards.
  private var users: [PeerID: String] = [:]

  init(_ context: ServerContext) {
    self.context = context
  }

  subscript(peer: PeerID) -> String? { users[peer] }

  /// The peers that count towards any user.
  var peers: [PeerID] { Array(users.keys) }

  /// Counts a peer towards a user or none, and returns whether the user is within the limit.
  func count(_ peer: PeerID, towards user: String?) -> Bool {
    guard user != users[peer] else { return true }
    leave(peer)
    guard let user else { return true }
    users[peer] = user
    let limits = context.options.limits
    loads[user, default: UserLoad(limits, now: context.clock())].connections += 1
    guard loads[user]?.connections ?? 0 <= limits.connectionsPerUser else {
      // One that is refused takes no place while it closes.
      leave(peer)
      return false
    }
    return true
  }

  func leave(_ peer: PeerID) {
    guard let user = users.removeValue(forKey: peer) else { return }
    loads[user]?.connections -= 1
    forgetIfIdle(user)
  }

  /// Whether a note about a user should be logged; if so, it counts as logged.
  func isDue(_ note: String, about user: String?) -> Bool {
    notes.isDue(HourlyNotes.Subject(what: note, user: user), at: context.clock())
  }

  /// Counts a write, and returns how many milliseconds the user should wait before the next.
  func write(_ length: Int, by user: String) -> Int64 {
    let now = context.clock()
    func write(_ load: inout UserLoad) -> (delay: Int64, isConnected: Bool) {
      (load.write(length, at: now), load.connections > 0)
    }
    let written = write(&loads[user, default: UserLoad(context.options.limits, now: now)])
    // A user who only sends single requests has no connection whose end would trigger this.
    if !written.isConnected { forgetIfIdle(user) }
    return written.delay
  }

  /// Forgets a user without connections, once the rate of writes would not be limited anyway.
  private func forgetIfIdle(_ user: String) {
    guard var load = loads[user], load.connections == 0, !load.isFading else { return }
    guard !load.isRested(at: context.clock()) else {
      loads[user] = nil
      return
    }
    loads[user]?.isFading = true
    let limits = context.options.limits
    // The bytes allowance of a minute refills within a minute.
    let seconds = Int64(max(60, limits.writeBurst / limits.writesPerSecond)) + 1
    context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(seconds)) { [weak self] in
      self?.loads[user]?.isFading = false
      self?.forgetIfIdle(user)
    }
  }
}

/// The load that one signed-in user puts on a database, over all connections.
private struct UserLoad {
  /// The number of open WebSockets and event streams, and of requests in progress.
  var connections = 0
  /// Whether a check is scheduled that forgets the user.
  var isFading = false
  private var writes: TokenBucket
  private var bytes: TokenBucket

  init(_ limits: ServerLimits, now: Int64) {
    writes = TokenBucket(
      perSecond: Double(limits.writesPerSecond),
      burst: limits.writeBurst,
      now: now
    )
    bytes = TokenBucket(
      perSecond: Double(limits.writeBytesPerMinute) / 60,
      burst: limits.writeBytesPerMinute,
      now: now
    )
  }

  mutating func write(_ length: Int, at now: Int64) -> Int64 {
    max(writes.take(at: now), bytes.take(length, at: now))
  }

  /// Whether the user has written so little lately that it can be forgotten.
  mutating func isRested(at now: Int64) -> Bool {
    // Both buckets are checked, because checking refills them.
    let isRested = (writes.isFull(at: now), bytes.isFull(at: now))
    return isRested.0 && isRested.1
  }
}

/// A token bucket, which limits the sustained rate and the size of a burst.
struct TokenBucket {
  /// How many tokens are added per second.
  let perSecond: Double
  /// How many tokens the bucket holds.
  let burst: Double
  private var tokens: Double
  private var updated: Int64

  /// Makes a full bucket at a time in milliseconds.
  init(perSecond: Double, burst: Int, now: Int64) {
    self.perSecond = perSecond
    self.burst = Double(burst)
    tokens = Double(burst)
    updated = now
  }

  /// Takes tokens, even more than there are, and returns the milliseconds until the debt is paid
  /// off.
  ///
  /// Tokens taken beyond what the bucket holds become a debt, which delays later calls.
  mutating func take(_ count: Int = 1, at now: Int64) -> Int64 {
    fill(at: now)
    tokens -= Double(count)
    return tokens >= 0 ? 0 : Int64((-tokens / perSecond * 1_000).rounded(.up))
  }

  /// Whether the bucket is full again, as if nothing had ever been taken.
  mutating func isFull(at now: Int64) -> Bool {
    fill(at: now)
    return tokens >= burst
  }

  private mutating func fill(at now: Int64) {
    // Setting the clock back neither adds nor removes tokens.
    if now > updated { tokens = min(burst, tokens + Double(now - updated) / 1_000 * perSecond) }
    updated = now
  }
}
