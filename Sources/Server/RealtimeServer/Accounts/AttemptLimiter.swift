/// Counts the attempts of many at something that must not be tried too often.
struct AttemptLimiter {
  private struct Bucket {
    var used: Int
    var updated: Int64
  }

  /// Most names that are counted; beyond, those that have used least are forgotten.
  private static let maximumNames = 10_000

  private let limit: Int
  private let pause: Int64
  private var buckets: [String: Bucket] = [:]

  /// Makes a limiter.
  ///
  /// - Parameters:
  ///   - limit: How many attempts there are at first.
  ///   - pause: How long it takes until there is one more, in milliseconds.
  init(limit: Int, pause: Int64) {
    self.limit = limit
    self.pause = pause
  }

  /// Takes an attempt, and tells whether there was one.
  mutating func take(_ name: String, at now: Int64) -> Bool {
    var bucket = current(name, at: now)
    guard bucket.used < limit else { return false }
    bucket.used += 1
    buckets[name] = bucket
    if buckets.count > Self.maximumNames { prune(at: now) }
    return true
  }

  /// Returns the token that was taken last, since the attempt does not count.
  mutating func giveBack(_ name: String) {
    guard let used = buckets[name]?.used else { return }
    buckets[name]?.used = max(0, used - 1)
  }

  /// Forgets all attempts under a name.
  mutating func reset(_ name: String) { buckets[name] = nil }

  private func current(_ name: String, at now: Int64) -> Bucket {
    guard var bucket = buckets[name] else { return Bucket(used: 0, updated: now) }
    // A clock that is set back gives nothing and takes nothing.
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

/// Attempts at accounts for which too many wrong passwords have come, each of which waits a while.
///
/// They are not refused: the owner of the account would be locked out by anyone. A guesser is slow
/// enough, since from one address one attempt at a time waits for an account, and a few from all.
struct WaitingAttempts {
  private struct Attempt: Hashable {
    let account: String
    let client: String
  }

  /// Attempts that wait for one account, except from addresses that have signed in to it.
  private static let placesPerAccount = 8
  /// Most addresses that are remembered.
  private static let maximumKnown = 10_000

  private var waiting: Set<Attempt> = []
  private var counts: [String: Int] = [:]
  private var known: Set<Attempt> = []

  /// Lets an attempt wait, unless as many wait as may.
  ///
  /// - Parameters:
  ///   - account: The name of the account.
  ///   - client: The address that it comes from.
  /// - Returns: Whether it waits, so that ``leave(_:from:)`` must be called.
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

  /// Remembers an address that an account has been signed in from: guessers take no place from it.
  mutating func remember(_ account: String, from client: String) {
    if known.count >= Self.maximumKnown { known.removeFirst() }
    known.insert(Attempt(account: account, client: client))
  }
}
