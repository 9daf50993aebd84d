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
/// They are not refused, because then anyone could lock the owner out. Guessing is still slow: the
/// attempts from one address wait for each other, and those from all addresses together longer the
/// more there are.
struct WaitingAttempts {
  private struct Attempt: Hashable {
    let account: String
    let client: String
  }

  /// The number of addresses that may guess at an account before all attempts wait longer.
  private static let freePlaces = 8
  /// The most attempts that may wait for one account, except from addresses that have signed in to
  /// it.
  private static let placesPerAccount = 128
  /// The most of them that may come from one address.
  private static let placesPerClient = 8
  /// The maximum number of addresses that are remembered.
  private static let maximumKnown = 10_000

  private var waiting: [Attempt: Int] = [:]
  private var counts: [String: Int] = [:]
  private var known: Set<Attempt> = []

  /// Lets an attempt wait, unless too many are waiting.
  ///
  /// - Parameters:
  ///   - account: The name of the account.
  ///   - client: The address that the attempt comes from.
  /// - Returns: How many delays the attempt has to wait, after which ``leave(_:from:)`` must be
  ///   called; nil if it is refused.
  mutating func enter(_ account: String, from client: String) -> Int? {
    let attempt = Attempt(account: account, client: client)
    let (own, all) = (waiting[attempt, default: 0] + 1, counts[account, default: 0] + 1)
    let isKnown = known.contains(attempt)
    guard own <= Self.placesPerClient, all <= Self.placesPerAccount || isKnown else { return nil }
    waiting[attempt] = own
    counts[account] = all
    return isKnown ? own : max(own, (all + Self.freePlaces - 1) / Self.freePlaces)
  }

  /// Ends the wait of an attempt.
  mutating func leave(_ account: String, from client: String) {
    let attempt = Attempt(account: account, client: client)
    let (own, all) = (waiting[attempt, default: 0] - 1, counts[account, default: 0] - 1)
    waiting[attempt] = own > 0 ? own : nil
    counts[account] = all > 0 ? all : nil
  }

  /// Remembers an address from which an account was signed in to, so that guessers cannot block it.
  mutating func remember(_ account: String, from client: String) {
    if known.count >= Self.maximumKnown { known.removeFirst() }
    known.insert(Attempt(account: account, client: client))
  }
}
