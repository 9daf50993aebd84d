internal import RealtimeHub

/// What is held back from a client that does not keep up.
///
/// Changes are left out meanwhile. When it has caught up it is sent the answers that show data,
/// which are older than what follows; then the data of all its listens as they are now; then the
/// other answers, since what they acknowledge must have been seen before.
struct Backlog {
  /// Answers that show data.
  private(set) var readings: [Session.Outgoing] = []
  /// Everything else that is no change of data.
  private(set) var others: [Session.Outgoing] = []

  /// Holds a message back, or leaves it out.
  ///
  /// - Returns: Whether it is held back.
  mutating func hold(_ message: [UInt8]) -> Bool {
    switch OutgoingKind(message) {
    case .change: return false
    case .reading: readings.append(.kept(message))
    case .other: others.append(.kept(message))
    }
    return true
  }

  /// Holds back what is yet to be encoded; of a listen only the answer, as its data come anyway.
  ///
  /// - Returns: Whether it is held back.
  mutating func hold(_ composition: Composition) -> Bool {
    guard composition.isListen else {
      readings.append(.composition(composition, isKept: true))
      return true
    }
    guard let answer = composition.acknowledgement else { return false }
    others.append(.kept(answer))
    return true
  }
}
