internal import SecurityRules

/// Who a peer is at the moment, until when, and whether it is told why it is refused.
struct Standing: Sendable {
  var identity: Identity {
    didSet { subject = Self.subject(identity) }
  }
  /// Who that is to the rules; nil is an administrator, about whom they are not asked.
  private(set) var subject: RuleSubject?
  /// Whether an administrator stands behind it, who may know what rules and data are like.
  var isExplained = false
  /// When it ends, in milliseconds since 1970; nil is never.
  var expires: Int64?

  init(identity: Identity, expires: Int64? = nil) {
    self.identity = identity
    self.expires = expires
    subject = Self.subject(identity)
  }

  private static func subject(_ identity: Identity) -> RuleSubject? {
    switch identity {
    case .administrator: nil
    case .user(let auth): RuleSubject(auth)
    }
  }
}

extension Standing: Equatable {
  static func == (left: Standing, right: Standing) -> Bool {
    left.identity == right.identity && left.isExplained == right.isExplained
      && left.expires == right.expires
  }
}
