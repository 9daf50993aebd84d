/// What is held back from a client that does not keep up.
///
/// Changes are left out meanwhile. When it has caught up it is sent the answers that show data,
/// which are older than what follows; then the data of all its listens as they are now; then the
/// other answers, since what they acknowledge must have been seen before.
struct Backlog {
  /// Answers that show data.
  private(set) var readings: [[UInt8]] = []
  /// Everything else that is no change of data.
  private(set) var others: [[UInt8]] = []

  /// Holds a message back, or leaves it out.
  ///
  /// - Returns: Whether it is held back.
  mutating func hold(_ message: [UInt8]) -> Bool {
    switch OutgoingKind(message) {
    case .change: return false
    case .reading: readings.append(message)
    case .other: others.append(message)
    }
    return true
  }
}
