/// One operation of a client from its beginning to what the client was told of its end.
package struct ClientOperation: Hashable, Sendable {
  /// Who asked for it.
  package var client: String
  /// In whose name.
  package var uid: String
  /// The number within the client's history.
  package var number: Int64
  /// What was wanted.
  package var intent: Intent
  /// When it began.
  package var invoked: Moment
  /// When the client was told how it ended, or nil when it never was.
  package var answered: Moment?
  /// How it ended; unknown when the client was never told.
  package var outcome: Outcome

  /// Makes an operation.
  package init(
    client: String,
    uid: String,
    number: Int64,
    intent: Intent,
    invoked: Moment,
    answered: Moment? = nil,
    outcome: Outcome = .unknown("the client was never told")
  ) {
    self.client = client
    self.uid = uid
    self.number = number
    self.intent = intent
    self.invoked = invoked
    self.answered = answered
    self.outcome = outcome
  }

  /// Whether it was acknowledged.
  package var isAcknowledged: Bool {
    if case .ok = outcome { true } else { false }
  }

  /// Whether it was refused.
  package var isRefused: Bool {
    if case .refused = outcome { true } else { false }
  }

  /// Whether nobody can know if it took effect.
  package var isUnknown: Bool {
    if case .unknown = outcome { true } else { false }
  }

  /// When it was acknowledged, or nil; until then it may still take effect.
  package var acknowledged: Moment? { isAcknowledged ? answered : nil }
}

extension ClientOperation: CustomStringConvertible {
  package var description: String {
    let end: String
    switch outcome {
    case .ok: end = "acknowledged"
    case .refused(let reason): end = "refused: \(reason)"
    case .unknown(let reason): end = "unknown: \(reason)"
    }
    return "\(client) #\(number) \(intent.name) by \(uid) (\(end))"
  }
}
