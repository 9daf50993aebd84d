internal import RealtimeCore

/// Answers as clients of the Identity Toolkit read them.
enum IdentityJSON {
  /// How somebody has signed in, as far as the answers differ.
  enum Way {
    case signUp
    case password
    case customToken(isNew: Bool)
  }

  /// An object of a kind with texts.
  static func object(_ kind: String, _ texts: [(String, String)] = []) -> JSONValue {
    .object(
      [JSONMember("kind", .string("identitytoolkit#\(kind)"))]
        + texts.map { JSONMember($0.0, .string($0.1)) }
    )
  }

  /// The answer to somebody who has signed in.
  static func signedIn(_ signedIn: SignedIn, _ way: Way) -> JSONValue {
    let account = signedIn.account
    var members: [JSONMember]
    switch way {
    case .signUp: members = [kind("SignupNewUserResponse"), text("localId", account.uid)]
    case .password:
      members = [
        kind("VerifyPasswordResponse"), text("localId", account.uid),
        JSONMember("registered", .bool(true)),
      ]
    case .customToken(let isNew):
      members = [
        kind("VerifyCustomTokenResponse"), JSONMember("isNewUser", .bool(isNew)),
      ]
    }
    switch way {
    case .signUp, .password:
      if let email = account.email { members.append(text("email", email.text)) }
      if let name = account.displayName { members.append(text("displayName", name)) }
    case .customToken: break
    }
    return .object(members + tokens(signedIn))
  }

  /// The answer to somebody whose account has been changed.
  static func changed(_ account: Account, _ signedIn: SignedIn?) -> JSONValue {
    var members = [kind("SetAccountInfoResponse"), text("localId", account.uid)]
    if let email = account.email {
      members.append(text("email", email.text))
      members.append(JSONMember("emailVerified", .bool(account.isEmailVerified)))
    }
    if let name = account.displayName { members.append(text("displayName", name)) }
    if let url = account.photoURL { members.append(text("photoUrl", url)) }
    members.append(JSONMember("providerUserInfo", providers(of: account)))
    return .object(members + (signedIn.map(tokens) ?? []))
  }

  /// The answer to somebody who goes on with a session.
  static func continued(_ signedIn: SignedIn) -> JSONValue {
    .object(
      ("access_token", .string(signedIn.idToken)),
      ("expires_in", .string(String(signedIn.lifetime))),
      ("token_type", .string("Bearer")),
      ("refresh_token", .string(signedIn.refreshToken)),
      ("id_token", .string(signedIn.idToken)),
      ("user_id", .string(signedIn.account.uid)),
      ("project_id", .string(signedIn.account.database))
    )
  }

  /// The answer to who looks accounts up; without any there is no list.
  static func accounts(_ accounts: [Account], forAdministrator: Bool) -> JSONValue {
    var members = [kind("GetAccountInfoResponse")]
    let users = accounts.map { user($0, forAdministrator: forAdministrator) }
    if !users.isEmpty { members.append(JSONMember("users", .array(users))) }
    return .object(members)
  }

  /// A page of accounts.
  static func page(_ accounts: [Account], next: String?) -> JSONValue {
    var members = [
      kind("DownloadAccountResponse"),
      JSONMember("users", .array(accounts.map { user($0, forAdministrator: true) })),
    ]
    if let next { members.append(text("nextPageToken", next)) }
    return .object(members)
  }

  private static func tokens(_ signedIn: SignedIn) -> [JSONMember] {
    [
      text("idToken", signedIn.idToken), text("refreshToken", signedIn.refreshToken),
      text("expiresIn", String(signedIn.lifetime)),
    ]
  }

  private static func user(_ account: Account, forAdministrator: Bool) -> JSONValue {
    var members = [text("localId", account.uid)]
    if let email = account.email {
      members.append(text("email", email.text))
      members.append(JSONMember("emailVerified", .bool(account.isEmailVerified)))
    }
    if let name = account.displayName { members.append(text("displayName", name)) }
    if let url = account.photoURL { members.append(text("photoUrl", url)) }
    members.append(JSONMember("providerUserInfo", providers(of: account)))
    if let time = account.passwordChanged {
      members.append(JSONMember("passwordUpdatedAt", .integer(time)))
    }
    members += [
      text("validSince", String(account.validSince)),
      text("lastLoginAt", String(account.lastSignIn)),
      text("createdAt", String(account.created)),
      JSONMember("disabled", .bool(account.isDisabled)),
    ]
    if forAdministrator, let time = account.resetRequested {
      members.append(text("resetRequestedAt", String(time)))
    }
    if !account.customClaims.isEmpty {
      members.append(text("customAttributes", JSONValue.object(account.customClaims).text))
    }
    return .object(members)
  }

  private static func providers(of account: Account) -> JSONValue {
    guard let email = account.email, !account.providers.isEmpty else { return .array([]) }
    var members = [
      text("providerId", "password"), text("federatedId", email.text), text("email", email.text),
      text("rawId", email.text),
    ]
    if let name = account.displayName { members.append(text("displayName", name)) }
    if let url = account.photoURL { members.append(text("photoUrl", url)) }
    return .array([.object(members)])
  }

  private static func kind(_ name: String) -> JSONMember {
    text("kind", "identitytoolkit#\(name)")
  }

  private static func text(_ name: String, _ value: String) -> JSONMember {
    JSONMember(name, .string(value))
  }
}
