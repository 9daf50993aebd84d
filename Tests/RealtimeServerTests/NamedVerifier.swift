import RealtimeCore

@testable import RealtimeServer

/// A verifier that takes a user's credential as the name, and "root" as the administrator.
///
/// If a number follows the name, the credential expires at that time; "bad" is invalid.
struct NamedVerifier: CredentialVerifier {
  func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(RequestError) -> VerifiedCredential {
    let words = authentication.credential.split(separator: ":")
    guard let name = words.first, name != "bad" else {
      throw RequestError(.invalidToken, reason: "Could not parse auth token.")
    }
    guard (name == "root") == authentication.isAdministrative else {
      throw RequestError(.invalidToken, reason: "This is another kind of token.")
    }
    if name == "root" { return VerifiedCredential(identity: .administrator) }
    let auth = JSONValue.object(("uid", .string(String(name))))
    return VerifiedCredential(
      identity: .user(auth),
      expires: words.last.flatMap { Int64($0) }
    )
  }
}
