internal import RealtimeHub

/// What is held back from a client that does not keep up.
///
/// Changes are left out meanwhile. When it has caught up it is sent the answers that show data,
/// which are older than what follows; then the data of all its listens as they are now; then the
/// other answers, since what they acknowledge must have been seen before. The data may be so much that
/// it has to catch up again in between: listens are shown once more whose changes were left out then.
struct Backlog {
  /// Answers that show data.
  private(set) var readings: [Session.Outgoing] = []
  /// Everything else that is no change of data.
  private(set) var others: [Session.Outgoing] = []
  /// The listens whose data are still to be sent, the next one last.
  var listens: [ListenKey] = []
  /// Whether a change has been left out since these were found out.
  private var hasLeftOut = true

  /// Holds a message back, or leaves it out.
  ///
  /// - Returns: Whether it is held back.
  mutating func hold(_ message: [UInt8]) -> Bool {
    switch OutgoingKind(message) {
    case .change:
      hasLeftOut = true
      return false
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
    hasLeftOut = true
    guard let answer = composition.acknowledgement else { return false }
    others.append(.kept(answer))
    return true
  }

  /// Takes the answers that show data.
  mutating func takeReadings() -> [Session.Outgoing] {
    defer { readings = [] }
    return readings
  }

  /// Begins to show all listens, if it has to be done once more.
  ///
  /// - Returns: Whether it has.
  mutating func showsAgain(_ all: () -> [ListenKey]) -> Bool {
    guard hasLeftOut else { return false }
    hasLeftOut = false
    listens = all().reversed()
    return true
  }
}
