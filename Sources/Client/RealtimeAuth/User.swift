public import Foundation
internal import NIOConcurrencyHelpers
internal import RealtimeCore
internal import RealtimeDatabase

/// A signed-in user.
///
/// The profile is always the current one while this user is signed in, and the last known one
/// afterwards.
public final class User: Sendable {
  /// The identifier, which security rules see as `auth.uid`.
  public let uid: String
  let auth: Auth
  private let known: Account.Profile

  init(_ account: Account, of auth: Auth) {
    uid = account.uid
    known = account.profile
    self.auth = auth
  }

  var profile: Account.Profile {
    auth.profile(of: uid) ?? known
  }

  /// The email address, or nil for guests.
  public var email: String? { profile.email }

  /// The display name that the user has chosen, or nil.
  public var displayName: String? { profile.displayName }

  /// The URL of the user's picture, or nil.
  public var photoURL: URL? { profile.photoURL.flatMap { URL(string: $0) } }

  /// Whether the user has verified the email address.
  public var isEmailVerified: Bool { profile.isEmailVerified }

  /// Whether the user is a guest.
  public var isAnonymous: Bool { profile.isAnonymous }

  /// Starts a change of the display name or the picture.
  public func createProfileChangeRequest() -> UserProfileChangeRequest {
    UserProfileChangeRequest(self)
  }
}

extension User: Hashable {
  /// Whether two objects represent the same user of the same server.
  public static func == (left: User, right: User) -> Bool {
    left.uid == right.uid && left.auth.server == right.auth.server
  }

  /// Feeds the identifier into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(uid)
  }
}

extension User {
  /// Reloads the profile from the server; signs out if the account is gone or disabled.
  ///
  /// - Throws: ``AuthError``.
  public func reload() async throws {
    let account = try await account()
    do {
      let found = try await auth.account(of: account.tokens)
      auth.handle(.profileChanged(uid: uid, found.profile))
    } catch let error where error.endsSession {
      auth.handle(.accountEnded(uid: uid))
      throw error
    }
    await auth.settle()
  }

  /// Sets a new password.
  ///
  /// - Throws: ``AuthError``: `weakPassword`, `requiresRecentLogin` and others.
  public func updatePassword(to password: String) async throws {
    try await update([try Auth.given(password, "password", orElse: .weakPassword)])
  }

  /// Sets a new email address.
  ///
  /// - Throws: ``AuthError``: `emailAlreadyInUse`, `invalidEmail`, `requiresRecentLogin` and others.
  public func updateEmail(to email: String) async throws {
    try await update([try Auth.given(email, "email", orElse: .missingEmail)])
  }

  /// Gives a guest an email address and a password to sign in with from now on.
  ///
  /// - Throws: ``AuthError``: `emailAlreadyInUse`, `weakPassword`, `providerAlreadyLinked` when the
  ///   user already has an email address, `nullUser` when this user is no longer signed in, and
  ///   others.
  @discardableResult
  public func link(withEmail email: String, password: String) async throws -> AuthDataResult {
    guard self.email == nil else {
      throw AuthError(
        .providerAlreadyLinked,
        message: "this account already has an email address and a password"
      )
    }
    let token = JSONMember("idToken", .string(try await account().tokens.idToken))
    let members = try Auth.members(email: email, password: password, orElse: .weakPassword)
    let answer = try await auth.client.call(.signUp, with: members + [token])
    return try await adopt(answer)
  }

  /// Turns a guest into a user with a credential; see ``link(withEmail:password:)``.
  ///
  /// - Throws: ``AuthError``.
  @discardableResult
  public func link(with credential: AuthCredential) async throws -> AuthDataResult {
    try await link(withEmail: credential.email, password: credential.password)
  }

  /// Proves the user's identity again, which deleting an account and other operations require.
  ///
  /// - Throws: ``AuthError``: `userMismatch` when the credential belongs to another user or this
  ///   user is no longer signed in, and others.
  @discardableResult
  public func reauthenticate(with credential: AuthCredential) async throws -> AuthDataResult {
    let members = try Auth.members(
      email: credential.email,
      password: credential.password,
      orElse: .wrongPassword
    )
    let answer = try await auth.client.call(.signInWithPassword, with: members)
    guard answer["localId"]?.string == uid, auth.userID == uid else {
      throw AuthError(.userMismatch, message: "these credentials belong to another user")
    }
    return try await adopt(answer)
  }

  /// Adopts the tokens of a response, unless this user has signed out in the meantime.
  private func adopt(_ answer: JSONValue) async throws -> AuthDataResult {
    try await auth.finish(
      answer,
      provider: Auth.passwordProvider,
      isNew: false,
      staysSignedIn: true
    )
  }

  /// Deletes the account and signs out.
  ///
  /// The user's data in databases is not deleted.
  ///
  /// - Throws: ``AuthError``: `requiresRecentLogin` and others.
  public func delete() async throws {
    let token = JSONMember("idToken", .string(try await account().tokens.idToken))
    _ = try await auth.client.call(.delete, with: [token])
    auth.handle(.accountEnded(uid: uid))
    await auth.settle()
  }

  /// Changes attributes of the account, and adopts the new tokens that the server may issue.
  func update(_ members: [JSONMember]) async throws {
    var account = try await account()
    let token = JSONMember("idToken", .string(account.tokens.idToken))
    let answer = try await auth.client.call(.update, with: members + [token, Auth.wantsTokens])
    if let tokens = Account.Tokens(account: answer, now: Auth.now()) { account.tokens = tokens }
    let found = try await auth.account(of: account.tokens)
    let isSignedIn =
      answer["idToken"] == nil ? auth.userID == uid : auth.handle(.tokensChanged(found))
    guard isSignedIn else { throw AuthError.otherUser }
    auth.handle(.profileChanged(uid: uid, found.profile))
    await auth.settle()
  }
}

/// A change of a user's display name or picture, made by ``commitChanges()``.
///
/// Properties that are not set stay unchanged; properties that are set to nil are removed.
public final class UserProfileChangeRequest: Sendable {
  private let user: User
  private let changes = NIOLockedValueBox(Changes())

  private struct Changes {
    var displayName: String??
    var photoURL: URL??
  }

  init(_ user: User) {
    self.user = user
  }

  /// The new display name; initially the current one.
  public var displayName: String? {
    get { changes.withLockedValue(\.displayName) ?? user.displayName }
    set { changes.withLockedValue { $0.displayName = .some(newValue) } }
  }

  /// The new URL of the picture; initially the current one.
  public var photoURL: URL? {
    get { changes.withLockedValue(\.photoURL) ?? user.photoURL }
    set { changes.withLockedValue { $0.photoURL = .some(newValue) } }
  }

  /// Sends the change to the server.
  ///
  /// - Throws: ``AuthError``.
  public func commitChanges() async throws {
    let changes = changes.withLockedValue(\.self)
    var members: [JSONMember] = []
    var removed: [JSONValue] = []
    switch changes.displayName {
    case .some(.some(let name)): members.append(JSONMember("displayName", .string(name)))
    case .some(.none): removed.append(.string("DISPLAY_NAME"))
    case .none: break
    }
    switch changes.photoURL {
    case .some(.some(let url)): members.append(JSONMember("photoUrl", .string(url.absoluteString)))
    case .some(.none): removed.append(.string("PHOTO_URL"))
    case .none: break
    }
    if !removed.isEmpty { members.append(JSONMember("deleteAttribute", .array(removed))) }
    try await user.update(members)
  }

  /// Sends the change to the server and passes the result to a block on ``Auth/callbackQueue``.
  public func commitChanges(completion: User.UserProfileChangeCallback?) {
    user.change(completion) { _ in try await self.commitChanges() }
  }
}

extension User {
  /// Returns a token that remains valid for some time.
  ///
  /// - Parameter isForced: Whether the token must be a new one.
  /// - Returns: The token. It must not be logged or shown.
  /// - Throws: ``AuthError``: `networkError`, `userTokenExpired`, `userDisabled`, `nullUser` when
  ///   this user is no longer signed in, and others.
  public func getIDToken(forcingRefresh isForced: Bool = false) async throws -> String {
    try await account(forcingRefresh: isForced).tokens.idToken
  }

  /// The same as ``getIDToken(forcingRefresh:)``.
  ///
  /// - Throws: ``AuthError``.
  public func idToken(forcingRefresh isForced: Bool = false) async throws -> String {
    try await getIDToken(forcingRefresh: isForced)
  }

  /// The same as ``getIDToken(forcingRefresh:)``.
  ///
  /// - Throws: ``AuthError``.
  public func idTokenForcingRefresh(_ isForced: Bool) async throws -> String {
    try await getIDToken(forcingRefresh: isForced)
  }

  /// Returns a token that remains valid for some time, and its claims.
  ///
  /// - Throws: ``AuthError``.
  public func getIDTokenResult(
    forcingRefresh isForced: Bool = false
  ) async throws -> AuthTokenResult {
    try AuthTokenResult(await getIDToken(forcingRefresh: isForced))
  }

  /// The same as ``getIDTokenResult(forcingRefresh:)``.
  ///
  /// - Throws: ``AuthError``.
  public func idTokenResult(
    forcingRefresh isForced: Bool = false
  ) async throws -> AuthTokenResult {
    try await getIDTokenResult(forcingRefresh: isForced)
  }

  /// Gets a token and passes it to a block on ``Auth/callbackQueue``.
  public func getIDToken(completion: ((String?, (any Error)?) -> Void)?) {
    getIDTokenForcingRefresh(false, completion: completion)
  }

  /// Gets a token, a new one if requested, and passes it to a block on ``Auth/callbackQueue``.
  public func getIDTokenForcingRefresh(
    _ isForced: Bool,
    completion: ((String?, (any Error)?) -> Void)?
  ) {
    auth.run(completion) { _ in try await self.getIDToken(forcingRefresh: isForced) }
  }

  /// Gets a token with its claims, and passes both to a block on ``Auth/callbackQueue``.
  public func getIDTokenResult(completion: ((AuthTokenResult?, (any Error)?) -> Void)?) {
    getIDTokenResult(forcingRefresh: false, completion: completion)
  }

  /// Gets a token with its claims, a new one if requested, and passes both to a block on
  /// ``Auth/callbackQueue``.
  public func getIDTokenResult(
    forcingRefresh isForced: Bool,
    completion: ((AuthTokenResult?, (any Error)?) -> Void)?
  ) {
    auth.run(completion) { _ in try await self.getIDTokenResult(forcingRefresh: isForced) }
  }

  /// The account of this user, with a token that remains valid for some time.
  func account(forcingRefresh isForced: Bool = false) async throws -> Account {
    guard auth.userID == uid else { throw AuthError.otherUser }
    guard let account = try await auth.freshAccount(forcingRefresh: isForced), account.uid == uid
    else { throw AuthError.otherUser }
    return account
  }
}

/// An ID token and its claims.
public struct AuthTokenResult: Sendable {
  /// The token, which must not be logged or shown.
  public let token: String
  private let json: IDTokenClaims

  /// Reads the claims of a token.
  ///
  /// - Throws: ``AuthError`` of kind `malformedJWT`.
  init(_ token: String) throws(AuthError) {
    self.token = token
    json = try IDTokenClaims(token)
  }

  /// When the token expires, by the server's clock.
  public var expirationDate: Date { json.date("exp") ?? .distantPast }

  /// When the user signed in.
  public var authDate: Date { json.date("auth_time") ?? issuedAtDate }

  /// When the token was issued.
  public var issuedAtDate: Date { json.date("iat") ?? .distantPast }

  /// How the user signed in, such as "password".
  public var signInProvider: String { json.provider ?? "" }

  /// All claims of the token, including custom claims that an administrator has set, in the types of
  /// `DataSnapshot.value`.
  public var claims: [String: Any] { NodeConversion.value(json.json) as? [String: Any] ?? [:] }
}
