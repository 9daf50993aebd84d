package import RealtimeCore

/// Who a peer is to the security rules.
package enum Identity: Sendable, Hashable {
  /// Bypasses the rules, and learns why others would be refused.
  case administrator
  /// The user whom the rules see as `auth`: an object with `uid`, `token` and so on; nil if not
  /// signed in.
  indirect case user(JSONValue?)

  /// A peer that has not signed in.
  package static let anonymous = Identity.user(nil)

  /// What the rules see as `auth`; nil for administrators and anonymous peers.
  package var auth: JSONValue? { if case .user(let auth) = self { auth } else { nil } }

  /// The identifier of the user that `auth` names, or nil for administrators and anonymous peers.
  package var uid: String? { member("uid") }

  /// Whether it is a user with an anonymous account, of which anybody can have any number.
  var isGuest: Bool { member("provider") == "anonymous" }

  /// Whether it is a user at the server's private socket.
  var isLocal: Bool { member("provider") == ClientRequest.Authentication.localProvider }

  /// A text in `auth`, or nil.
  private func member(_ name: String) -> String? { auth?[name]?.string }

  /// Whether anyone can have any number of such identities: with anonymous accounts, or without
  /// any.
  var isShared: Bool { self != .administrator && (uid == nil || isGuest) }

  /// The form in which a store keeps it: true for administrators, otherwise `auth`, or null.
  package var json: JSONValue {
    switch self {
    case .administrator: .bool(true)
    case .user(let auth): auth ?? .null
    }
  }

  /// Parses the stored form; nil when ``json`` never gives it.
  init?(json: JSONValue) {
    switch json {
    case .bool(true): self = .administrator
    case .null: self = .anonymous
    case .object: self = .user(json)
    case .bool(false), .integer, .double, .string, .array: return nil
    }
  }
}

/// Determines whom a credential belongs to: the port that each kind of sign-in implements.
///
/// The hub calls it on its own thread, for every `auth` of a WebSocket and every credential of a
/// REST request, so it must not block.
package protocol CredentialVerifier: Sendable {
  /// Determines whom a credential belongs to, and until when it is valid.
  ///
  /// Acting as someone else (`authvar`, `noauth`) is the hub's business and never gets here: the
  /// credential comes without the variables that accompany it. The time is in milliseconds since
  /// 1970.
  ///
  /// - Throws: A ``RequestError`` when it is invalid or no longer valid, with the status
  ///   `invalid_token` or `expired_token` and a reason that never contains the credential.
  func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(RequestError) -> VerifiedCredential

  /// Whether a user is known to have been shut out for good since this credential was issued, so
  /// that writes scheduled with it must not be applied.
  ///
  /// `auth` is the variable that the rules saw. A credential that merely expires shuts no one out.
  func isShutOut(_ auth: JSONValue) -> Bool
}

extension CredentialVerifier {
  /// Whether a user has been shut out: never, by default.
  package func isShutOut(_ auth: JSONValue) -> Bool { false }
}

/// What a valid credential proves.
package struct VerifiedCredential: Sendable, Equatable {
  /// Whom it belongs to.
  package var identity: Identity
  /// When it expires, in milliseconds since 1970; nil means never.
  package var expires: Int64?
}

/// A verifier for databases that no one can sign in to.
package struct NoSignIn: CredentialVerifier {
  package init() {}

  /// Refuses every credential.
  package func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(RequestError) -> VerifiedCredential {
    throw .invalidToken("this server accepts no credentials")
  }
}
