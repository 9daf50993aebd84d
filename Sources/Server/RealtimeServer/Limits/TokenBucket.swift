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
