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

/// Tells whom a credential belongs to: the port that a server's kind of sign-in implements.
///
/// It is asked on the thread of the hub, for every `auth` of a WebSocket and every credential of a
/// REST request, and must not wait for anything.
package protocol CredentialVerifier: Sendable {
  /// Looks at a credential.
  ///
  /// Acting as someone else (`authvar`, `noauth`) is the hub's business: it never gets here.
  ///
  /// - Parameters:
  ///   - authentication: The credential as it was sent, without the variables that go with it.
  ///   - timestamp: The server's time in milliseconds since 1970.
  /// - Returns: Whom it belongs to.
  /// - Throws: A ``CredentialError`` when it is not valid, or no longer.
  func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(CredentialError) -> VerifiedCredential

  /// Whether a user has been shut out for good since a credential was made for it, so that nothing is
  /// to be written that was scheduled with that.
  ///
  /// - Parameter auth: What the rules saw as `auth`.
  /// - Returns: Whether that is known; a credential that has ended by itself shuts nobody out.
  func isShutOut(_ auth: JSONValue) -> Bool
}

extension CredentialVerifier {
  /// Whether a user has been shut out: never, where nobody can be.
  package func isShutOut(_ auth: JSONValue) -> Bool { false }
}

/// What a valid credential says.
package struct VerifiedCredential: Sendable, Equatable {
  /// Whom it belongs to.
  package var identity: Identity
  /// What the client is told of itself: the `auth` variable, or null.
  package var auth: JSONValue
  /// When it ends, in milliseconds since 1970; nil is never.
  package var expires: Int64?

  /// Makes a description of a credential.
  package init(_ identity: Identity, auth: JSONValue = .null, expires: Int64? = nil) {
    self.identity = identity
    self.auth = auth
    self.expires = expires
  }
}

/// A reason why a credential does not count.
package struct CredentialError: Error, Sendable, Equatable {
  /// The status of the answer: `invalid_token` or `expired_token`.
  package var status: StatusCode
  /// What is wrong with it; never the credential itself.
  package var reason: String

  /// Makes a reason.
  package init(_ status: StatusCode, reason: String) {
    self.status = status
    self.reason = reason
  }
}

/// A verifier for databases that no one can sign in to.
package struct NoSignIn: CredentialVerifier {
  /// Makes a verifier.
  package init() {}

  /// Refuses every credential.
  ///
  /// - Throws: Always a ``CredentialError``.
  package func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(CredentialError) -> VerifiedCredential {
    throw CredentialError(.invalidToken, reason: "this server knows no credentials")
  }
}
