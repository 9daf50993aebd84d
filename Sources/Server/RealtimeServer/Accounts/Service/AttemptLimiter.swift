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

  /// Gives back what was taken last, since it turned out not to count.
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
