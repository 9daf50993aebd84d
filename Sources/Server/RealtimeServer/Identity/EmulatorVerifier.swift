internal import RealtimeCore
internal import RealtimeHub

/// Believes every credential, as the emulator does; only for servers that nobody else can reach.
///
/// `owner` and whatever comes as an administrator's credential makes an administrator; a token
/// without a signature makes the user that it names. When a token ends is not looked at, since test
/// suites make tokens that ended in 1970.
struct EmulatorVerifier: CredentialVerifier {
  func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(CredentialError) -> VerifiedCredential {
    if authentication.isAdministrative || authentication.credential == "owner" {
      return VerifiedCredential(.administrator)
    }
    guard let token = UnverifiedToken(authentication.credential) else {
      throw CredentialError(.invalidToken, "Could not parse auth token.")
    }
    guard token.algorithm == "none" else {
      throw CredentialError(
        .invalidToken,
        "The emulator takes only tokens without a signature, such as emulators make."
      )
    }
    guard let uid = token.claims["sub"]?.string ?? token.claims["user_id"]?.string, !uid.isEmpty
    else {
      throw CredentialError(.invalidToken, "The token names no user by \"sub\" or \"user_id\".")
    }
    let provider = token.claims["firebase"]?["sign_in_provider"] ?? .string("custom")
    let auth = JSONValue.object(
      ("uid", .string(uid)),
      ("provider", provider),
      ("token", token.claims)
    )
    return VerifiedCredential(.user(auth), auth: auth)
  }
}
