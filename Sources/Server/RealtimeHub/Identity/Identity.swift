package import RealtimeCore

/// Who a peer is to the security rules.
package enum Identity: Sendable, Hashable {
  /// Bypasses the rules, and is told why others would be refused.
  case administrator
  /// Whom the rules see as `auth`: an object with `uid`, `token` and so on; nil is not signed in.
  indirect case user(JSONValue?)

  /// A peer that has not signed in.
  package static let anonymous = Identity.user(nil)

  /// The identifier of the user that `auth` names, or nil for administrators and the anonymous.
  package var uid: String? {
    guard case .user(let auth?) = self, case .string(let uid)? = auth["uid"] else { return nil }
    return uid
  }

  /// What a store keeps: true for administrators, otherwise what rules see as `auth`, or null.
  package var json: JSONValue {
    switch self {
    case .administrator: .bool(true)
    case .user(let auth): auth ?? .null
    }
  }

  /// Reads what a store has kept; nil when it is none of what ``json`` gives.
  package init?(json: JSONValue) {
    switch json {
    case .bool(true): self = .administrator
    case .null: self = .anonymous
    case .object: self = .user(json)
    case .bool(false), .integer, .double, .string, .array: return nil
    }
  }
}
