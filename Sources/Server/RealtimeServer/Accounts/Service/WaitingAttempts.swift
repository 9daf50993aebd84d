/// Attempts at accounts for which too many wrong passwords have come, each of which waits a while.
///
/// They are not refused: the owner of the account would be locked out by anyone. A guesser is slow
/// enough, since from one address one attempt at a time waits for an account, and a few from all.
struct WaitingAttempts {
  private struct Attempt: Hashable {
    let account: String
    let client: String
  }

  /// How many wait for one account, those from addresses left out that it has been signed in from.
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
  /// - Returns: Whether it waits, so that ``leave(_:_:)`` must be called.
  mutating func enter(_ account: String, _ client: String) -> Bool {
    let attempt = Attempt(account: account, client: client)
    let count = counts[account, default: 0]
    guard count < Self.placesPerAccount || known.contains(attempt) else { return false }
    guard waiting.insert(attempt).inserted else { return false }
    counts[account] = count + 1
    return true
  }

  /// Ends the wait of an attempt.
  mutating func leave(_ account: String, _ client: String) {
    waiting.remove(Attempt(account: account, client: client))
    let count = counts[account, default: 0] - 1
    counts[account] = count > 0 ? count : nil
  }

  /// Remembers an address that an account has been signed in from: guessers take no place from it.
  mutating func remember(_ account: String, _ client: String) {
    if known.count >= Self.maximumKnown { known.removeFirst() }
    known.insert(Attempt(account: account, client: client))
  }
}
