internal import NIOCore

/// Limits attempts at something that must not be tried too often, counted by name.
struct AttemptLimiter {
  private typealias Bucket = (used: Int, updated: Int64)

  /// The maximum number of names; beyond it, those with the fewest attempts are forgotten.
  private static let maximumNames = 10_000

  /// How many attempts a name has at first.
  private let limit: Int
  /// How long it takes to regain one attempt, in milliseconds.
  private let pause: Int64
  private var buckets: [String: Bucket] = [:]

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

  mutating func reset(_ name: String) { buckets[name] = nil }

  private func current(_ name: String, at now: Int64) -> Bucket {
    guard var bucket = buckets[name] else { return (0, now) }
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

/// Attempts at accounts with too many wrong passwords, which take turns.
///
/// They are not refused, because then anyone could lock the owner out. Guessing is still slow:
/// after each delay, one attempt from each of eight addresses proceeds. The addresses take turns,
/// so that the owner waits for one attempt of each other address, however many they send; the
/// attempts from one address proceed in their order.
struct WaitingAttempts {
  private typealias Attempt = (id: Int, isAbandoned: @Sendable () -> Bool)

  private struct Line {
    /// The addresses in the order of their turns.
    var clients = CircularBuffer<String>()
    var attempts: [String: CircularBuffer<Attempt>] = [:]
  }

  /// The number of attempts at an account that proceed after each delay.
  private static let turns = 8
  /// The most attempts that may wait; each needs a connection, unless its client has left.
  private static let places = 10_000
  /// The maximum number of addresses that are remembered.
  private static let maximumKnown = 10_000

  private var lines: [String: Line] = [:]
  private var count = 0
  private var lastID = 0
  private var known: Set<[String]> = []

  /// Lets an attempt from a client's address wait; it needs no turn once the client has left.
  ///
  /// - Returns: The number of the attempt, and whether it is the first that waits for the account;
  ///   nil if it is refused.
  mutating func enter(
    _ account: String,
    from client: String,
    isAbandoned: @escaping @Sendable () -> Bool = { false }
  ) -> (id: Int, isFirst: Bool)? {
    guard count < Self.places else { return nil }
    count += 1
    lastID += 1
    let isFirst = lines[account] == nil
    var line = lines.removeValue(forKey: account) ?? Line()
    if line.attempts[client] == nil {
      // Guessers cannot delay an address from which the account was signed in to.
      if known.contains([account, client]) {
        line.clients.prepend(client)
      } else {
        line.clients.append(client)
      }
    }
    line.attempts[client, default: []].append((lastID, isAbandoned))
    lines[account] = line
    return (lastID, isFirst)
  }

  /// Takes the attempts at an account that go on after a delay, and those whose clients have left.
  ///
  /// - Returns: The numbers of both, and whether others still wait.
  mutating func next(_ account: String) -> (served: [Int], abandoned: [Int], isLast: Bool) {
    guard var line = lines.removeValue(forKey: account) else { return ([], [], true) }
    var (served, abandoned, again): ([Int], [Int], [String]) = ([], [], [])
    while served.count < Self.turns, let client = line.clients.popFirst() {
      var attempts = line.attempts.removeValue(forKey: client) ?? []
      while let attempt = attempts.popFirst() {
        guard attempt.isAbandoned() else {
          served.append(attempt.id)
          break
        }
        abandoned.append(attempt.id)
      }
      guard !attempts.isEmpty else { continue }
      line.attempts[client] = attempts
      again.append(client)
    }
    for client in again.reversed() where known.contains([account, client]) {
      line.clients.prepend(client)
    }
    line.clients.append(contentsOf: again.filter { !known.contains([account, $0]) })
    count -= served.count + abandoned.count
    if !line.clients.isEmpty { lines[account] = line }
    return (served, abandoned, line.clients.isEmpty)
  }

  /// Remembers an address from which an account was signed in to, so that guessers cannot delay it.
  mutating func remember(_ account: String, from client: String) {
    if known.count >= Self.maximumKnown { known.removeFirst() }
    known.insert([account, client])
  }
}
