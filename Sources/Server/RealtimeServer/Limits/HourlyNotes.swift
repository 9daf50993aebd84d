/// Sees to it that the log says the same of the same user once an hour, however often it happens.
struct HourlyNotes {
  /// What the log says of whom.
  struct Subject: Hashable {
    let what: String
    /// The user; nil stands for all who have not signed in, who are nobody in particular.
    let user: String?
  }

  /// So many are remembered; what is said of others meanwhile is left out.
  static let limit = 1_000
  private static let hour: Int64 = 3_600_000

  private var said: [Subject: Int64] = [:]

  /// Tells whether something is to be said now; if so, it counts as said.
  ///
  /// - Parameters:
  ///   - subject: What is to be said of whom.
  ///   - now: The time in milliseconds.
  /// - Returns: Whether it is to be said.
  mutating func isDue(_ subject: Subject, at now: Int64) -> Bool {
    // A clock that is set back must not silence anything for longer.
    if let last = said[subject], (last..<(last + Self.hour)).contains(now) { return false }
    if said[subject] == nil, said.count >= Self.limit {
      said = said.filter { ($0.value..<($0.value + Self.hour)).contains(now) }
      if said.count >= Self.limit { return false }
    }
    said[subject] = now
    return true
  }
}
