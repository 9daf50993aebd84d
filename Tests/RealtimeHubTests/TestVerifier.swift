import RealtimeCore

@testable import RealtimeServer

/// A verifier that takes a credential as the name of a user.
///
/// "root" is the administrator, "NAME TIME" is a user until that time, and "bad" is invalid.
struct TestVerifier: CredentialVerifier {
  func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(RequestError) -> VerifiedCredential {
    let words = authentication.credential.split(separator: " ")
    guard let name = words.first, name != "bad" else {
      throw RequestError(.invalidToken, reason: "the token is bad")
    }
    if name == "root" { return VerifiedCredential(identity: .administrator) }
    let auth = JSONValue.object(("uid", .string(String(name))))
    return VerifiedCredential(
      identity: .user(auth),
      expires: words.last.flatMap { Int64($0) }
    )
  }
}
