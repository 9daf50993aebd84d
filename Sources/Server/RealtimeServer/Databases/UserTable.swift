internal import NIOCore
internal import RealtimeHub

/// The signed-in users of a database that are connected or have written recently.
///
/// A user is connected → fading (without a connection, while what was written still counts) →
/// forgotten. Confined to the server's event loop.
final class UserTable {
  private let context: ServerContext
  private var loads: [String: UserLoad] = [:]
  /// The users that requests under way and event streams count for.
  private var internalUsers: [PeerID: String] = [:]

  init(_ context: ServerContext) {
    self.context = context
  }

  /// Adds a connection to a user, and tells whether it is not one too many.
  func enter(_ user: String) -> Bool {
    var load = load(of: user)
    load.connections += 1
    loads[user] = load
    return load.connections <= context.options.limits.connectionsPerUser
  }

  /// Adds a peer that lives in the server to a user, and tells whether it is not one too many.
  func enter(_ user: String, by peer: PeerID) -> Bool {
    internalUsers[peer] = user
    return enter(user)
  }

  /// Removes a connection of a user.
  func leave(_ user: String) {
    loads[user]?.connections -= 1
    forgetIfIdle(user)
  }

  /// Removes a peer that lives in the server, if it counts for a user.
  func leave(_ peer: PeerID) {
    if let user = internalUsers.removeValue(forKey: peer) { leave(user) }
  }

  /// Counts a write, and gives the milliseconds for which the user should wait before the next.
  func write(_ length: Int, by user: String) -> Int64 {
    var load = load(of: user)
    let delay = load.write(length, at: context.clock())
    loads[user] = load
    // A user that only sends single requests has no connection that could end.
    forgetIfIdle(user)
    return delay
  }

  private func load(of user: String) -> UserLoad {
    loads[user] ?? UserLoad(context.options.limits, now: context.clock())
  }

  /// Forgets a user who has left, once the rate of writes would not be limited anyway.
  private func forgetIfIdle(_ user: String) {
    guard var load = loads[user], load.connections == 0, !load.isFading else { return }
    guard !load.isRested(at: context.clock()) else {
      loads[user] = nil
      return
    }
    loads[user]?.isFading = true
    let limits = context.options.limits
    // A minute's bytes come back in a minute.
    let seconds = Int64(max(60, limits.writeBurst / limits.writesPerSecond)) + 1
    context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(seconds)) { [weak self] in
      self?.loads[user]?.isFading = false
      self?.forgetIfIdle(user)
    }
  }
}

/// What one signed-in user asks of a database, over all connections.
private struct UserLoad {
  /// The WebSockets and event streams that are open, and the requests under way.
  var connections = 0
  /// Whether it is looked at again in a while, to be forgotten.
  var isFading = false
  /// What limits the number of writes.
  private var writes: TokenBucket
  /// What limits their length.
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

  /// Counts a write, and gives the milliseconds for which the user should wait before the next.
  mutating func write(_ length: Int, at now: Int64) -> Int64 {
    max(writes.take(at: now), bytes.take(length, at: now))
  }

  /// Whether the user has written so little that it can be forgotten.
  mutating func isRested(at now: Int64) -> Bool {
    // Both are looked at, since looking fills them.
    let isRested = (writes.isFull(at: now), bytes.isFull(at: now))
    return isRested.0 && isRested.1
  }
}

/// Allows so many things a second over some time, and so many at once.
struct TokenBucket {
  let perSecond: Double
  let burst: Double
  private var tokens: Double
  private var updated: Int64

  /// Makes a full bucket.
  ///
  /// - Parameters:
  ///   - perSecond: How many a second.
  ///   - burst: How many at once.
  ///   - now: The time in milliseconds.
  init(perSecond: Double, burst: Int, now: Int64) {
    self.perSecond = perSecond
    self.burst = Double(burst)
    tokens = Double(burst)
    updated = now
  }

  /// Takes some, whether there are any or not, and gives the milliseconds until none is owed.
  ///
  /// What is taken beyond is owed, so that it delays what comes later.
  mutating func take(_ count: Int = 1, at now: Int64) -> Int64 {
    fill(at: now)
    tokens -= Double(count)
    return tokens >= 0 ? 0 : Int64((-tokens / perSecond * 1_000).rounded(.up))
  }

  /// Whether nothing has been taken for so long that the bucket is as good as new.
  mutating func isFull(at now: Int64) -> Bool {
    fill(at: now)
    return tokens >= burst
  }

  private mutating func fill(at now: Int64) {
    // A clock that is set back gives nothing and takes nothing.
    if now > updated { tokens = min(burst, tokens + Double(now - updated) / 1_000 * perSecond) }
    updated = now
  }
}
