/// Limits attempts at something that must not be tried too often, counted by name.
struct AttemptLimiter {
  private struct Bucket {
    var used: Int
    var updated: Int64
  }

  /// The maximum number of names; beyond it, those with the fewest attempts are forgotten.
  private static let maximumNames = 10_000

  private let limit: Int
  private let pause: Int64
  private var buckets: [String: Bucket] = [:]

  /// Makes a limiter.
  ///
  /// - Parameters:
  ///   - limit: How many attempts a name has at first.
  ///   - pause: How long it takes to regain one attempt, in milliseconds.
  init(limit: Int, pause: Int64) {
    self.limit = limit
    self.pause = pause
  }

  /// Uses up an attempt, and returns whether there was one left.
  mutating func take(_ name: String, at now: Int64) -> Bool {
    var bucket = current(name, at: now)
    guard bucket.used < limit else { return false }
    bucket.used += 1
    buckets[name] = bucket
    if buckets.count > Self.maximumNames { prune(at: now) }
    return true
  }

  /// Gives the last attempt back, because it does not count.
  mutating func giveBack(_ name: String) {
    guard let used = buckets[name]?.used else { return }
    buckets[name]?.used = max(0, used - 1)
  }

  /// Forgets all attempts under a name.
  mutating func reset(_ name: String) { buckets[name] = nil }

  private func current(_ name: String, at now: Int64) -> Bucket {
    guard var bucket = buckets[name] else { return Bucket(used: 0, updated: now) }
    // Setting the clock back neither adds nor removes attempts.
    let regained = max(0, now - bucket.updated) / max(1, pause)
    bucket.used = max(0, bucket.used - Int(min(regained, Int64(limit))))
    bucket.updated =
      bucket.used == 0 || now < bucket.updated ? now : bucket.updated + regained * pause
    return bucket
  }

  private mutating func prune(at now: Int64) {
    buckets = buckets.filter { current($0.key, at: now).used > 0 }
    guard buckets.count > Self.maximumNames else { return }
    let kept = buckets.sorted { $0.value.used > $1.value.used }.prefix(Self.maximumNames / 2)
    buckets = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
  }
}

/// Attempts at accounts with too many wrong passwords, each of which has to wait a while.
///
/// They are not refused, because then anyone could lock the owner out. Guessing is still slow: per
/// account, only one attempt from each address waits at a time, and only a few in total.
struct WaitingAttempts {
  private struct Attempt: Hashable {
    let account: String
    let client: String
  }

  /// The most attempts that may wait for one account, except from addresses that have signed in to
  /// it.
  private static let placesPerAccount = 8
  /// The maximum number of addresses that are remembered.
  private static let maximumKnown = 10_000

  private var waiting: Set<Attempt> = []
  private var counts: [String: Int] = [:]
  private var known: Set<Attempt> = []

  /// Lets an attempt wait, unless too many are waiting.
  ///
  /// - Parameters:
  ///   - account: The name of the account.
  ///   - client: The address that the attempt comes from.
  /// - Returns: Whether the attempt may wait; if so, ``leave(_:from:)`` must be called afterwards.
  mutating func enter(_ account: String, from client: String) -> Bool {
    let attempt = Attempt(account: account, client: client)
    let count = counts[account, default: 0]
    guard count < Self.placesPerAccount || known.contains(attempt) else { return false }
    guard waiting.insert(attempt).inserted else { return false }
    counts[account] = count + 1
    return true
  }

  /// Ends the wait of an attempt.
  mutating func leave(_ account: String, from client: String) {
    waiting.remove(Attempt(account: account, client: client))
    let count = counts[account, default: 0] - 1
    counts[account] = count > 0 ? count : nil
  }

  /// Remembers an address from which an account was signed in to, so that guessers cannot block it.
  mutating func remember(_ account: String, from client: String) {
    if known.count >= Self.maximumKnown { known.removeFirst() }
    known.insert(Attempt(account: account, client: client))
  }
}
