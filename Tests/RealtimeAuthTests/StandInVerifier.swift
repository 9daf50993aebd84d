import RealtimeCore
import RealtimeHub

/// Takes the tokens of a stand-in, as long as they live.
struct StandInVerifier: CredentialVerifier {
  let standIn: StandIn

  func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(CredentialError) -> VerifiedCredential {
    guard let owner = standIn.owner(of: authentication.credential, at: timestamp) else {
      throw CredentialError(.expiredToken, "Auth token is expired.")
    }
    let auth = JSONValue.object(("uid", .string(owner.uid)))
    return VerifiedCredential(.user(auth), auth: auth, expires: owner.expires)
  }
}
