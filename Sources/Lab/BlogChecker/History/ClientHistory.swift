/// Everything that one client has noted.
package struct ClientHistory: Sendable {
  /// Who it was, by the first header.
  package let header: HistoryHeader
  /// All lines, in the order in which they were written.
  package let lines: [HistoryLine]
  /// The operations in the order in which they began.
  package let operations: [ClientOperation]
  /// How many processes the client had.
  package let lives: Int
  /// Whether the last process ended as it should.
  package let hasEnded: Bool

  /// Puts the lines of a file together.
  ///
  /// - Parameter lines: The lines of one client in their order.
  /// - Throws: ``HistoryError`` when they do not begin with a header, or an answer belongs to nothing.
  package init(_ lines: [HistoryLine]) throws(HistoryError) {
    guard case .started(let header)? = lines.first?.event else {
      throw HistoryError("it does not begin with a header")
    }
    self.header = header
    self.lines = lines
    var operations: [ClientOperation] = []
    var positions: [Int64: Int] = [:]
    var lives = 0
    for line in lines {
      switch line.event {
      case .started: lives += 1
      case .invoked(let number, let intent):
        guard positions.updateValue(operations.count, forKey: number) == nil else {
          throw HistoryError("operation \(number) begins twice")
        }
        operations.append(
          ClientOperation(
            client: header.client,
            uid: header.uid,
            number: number,
            intent: intent,
            invoked: line.time
          )
        )
      case .answered(let number, let outcome):
        guard let position = positions[number] else {
          throw HistoryError("operation \(number) ends without having begun")
        }
        guard operations[position].answered == nil else {
          throw HistoryError("operation \(number) ends twice")
        }
        operations[position].answered = line.time
        operations[position].outcome = outcome
      case .shown, .connection, .finalView, .screen, .fault, .server, .rules, .sample, .told,
        .stalled, .coalesced,
        .ended:
        break
      }
    }
    self.operations = operations
    self.lives = lives
    hasEnded = lines.last?.event == .ended
  }
}
