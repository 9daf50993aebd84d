public import Foundation
internal import NIOConcurrencyHelpers
internal import RealtimeCore

/// Someone who is signed in.
///
/// What it says of the profile is what is known now, for as long as this user is signed in.
public final class User: Sendable {
  /// The identifier, which rules of the database see as `auth.uid`.
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

  /// The name that the user has chosen, or nil.
  public var displayName: String? { profile.displayName }

  /// The address of a picture that the user has chosen, or nil.
  public var photoURL: URL? { profile.photoURL.flatMap { URL(string: $0) } }

  /// Whether the user has proved that the email address is theirs.
  public var isEmailVerified: Bool { profile.isEmailVerified }

  /// Whether the user is a guest.
  public var isAnonymous: Bool { profile.isAnonymous }

  /// Begins a change of the name or the picture.
  public func createProfileChangeRequest() -> UserProfileChangeRequest {
    UserProfileChangeRequest(self)
  }
}

extension User: Hashable {
  /// Whether two objects stand for one user of one server.
  public static func == (left: User, right: User) -> Bool {
    left.uid == right.uid && left.auth.server == right.auth.server
  }

  /// Feeds the identifier to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(uid)
  }
}

/// Changes of an account.
extension User {
  /// Asks the server what it knows of the user; signs out when the account is gone or disabled.
  ///
  /// - Throws: ``AuthError``.
  public func reload() async throws {
    let account = try await account()
    do {
      let found = try await auth.account(of: account.tokens)
      auth.handle(.profileChanged(uid: uid, found.profile))
    } catch let error where error.endsSession {
      if auth.userID == uid { auth.handle(.signedOut) }
      throw error
    }
    await auth.settle()
  }

  /// Sets a new password.
  ///
  /// - Throws: ``AuthError``: `weakPassword`, `requiresRecentLogin` and others.
  public func updatePassword(to password: String) async throws {
    try await update([JSONMember("password", .string(password))])
  }

  /// Sets a new email address.
  ///
  /// - Throws: ``AuthError``: `emailAlreadyInUse`, `invalidEmail`, `requiresRecentLogin` and others.
  public func updateEmail(to email: String) async throws {
    try await update([JSONMember("email", .string(email))])
  }

  /// Gives a guest an email address and a password, by which they can sign in from now on.
  ///
  /// - Throws: ``AuthError``: `emailAlreadyInUse`, `weakPassword`, `providerAlreadyLinked` when the
  ///   user is no guest, and others.
  @discardableResult
  public func link(withEmail email: String, password: String) async throws -> AuthDataResult {
    guard self.email == nil else {
      throw AuthError(
        .providerAlreadyLinked,
        message: "this account has an email address and a password already"
      )
    }
    let token = JSONMember("idToken", .string(try await account().tokens.idToken))
    let answer = try await auth.client.call(
      .signUp,
      with: Auth.members(email: email, password: password) + [token]
    )
    return try await auth.finish(answer, provider: Auth.passwordProvider, isNew: false)
  }

  /// Gives a guest what a credential says; see ``link(withEmail:password:)``.
  ///
  /// - Throws: ``AuthError``.
  @discardableResult
  public func link(with credential: AuthCredential) async throws -> AuthDataResult {
    try await link(withEmail: credential.email, password: credential.password)
  }

  /// Proves once more who the user is, as deleting an account and other things need.
  ///
  /// - Throws: ``AuthError``: `userMismatch` when the credential is that of someone else, and others.
  @discardableResult
  public func reauthenticate(with credential: AuthCredential) async throws -> AuthDataResult {
    let members = Auth.members(email: credential.email, password: credential.password)
    let answer = try await auth.client.call(.signInWithPassword, with: members)
    guard answer["localId"]?.string == uid else {
      throw AuthError(.userMismatch, message: "these are the credentials of someone else")
    }
    return try await auth.finish(answer, provider: Auth.passwordProvider, isNew: false)
  }

  /// Deletes the account and signs out.
  ///
  /// What the user has written in databases stays there.
  ///
  /// - Throws: ``AuthError``: `requiresRecentLogin` and others.
  public func delete() async throws {
    let token = JSONMember("idToken", .string(try await account().tokens.idToken))
    _ = try await auth.client.call(.delete, with: [token])
    if auth.userID == uid { auth.handle(.signedOut) }
    await auth.settle()
  }

  /// Changes members of the account, and takes the tokens that the server gives for the old ones.
  func update(_ members: [JSONMember]) async throws {
    var account = try await account()
    let token = JSONMember("idToken", .string(account.tokens.idToken))
    let answer = try await auth.client.call(.update, with: members + [token, Auth.wantsTokens])
    if let tokens = Account.Tokens(account: answer, now: Auth.now()) { account.tokens = tokens }
    let found = try await auth.account(of: account.tokens)
    guard auth.userID == uid else { throw AuthError.otherUser }
    if answer["idToken"] != nil { auth.handle(.signedIn(found)) }
    auth.handle(.profileChanged(uid: uid, found.profile))
    await auth.settle()
  }
}

/// A change of the name or the picture of a user, made by ``commitChanges()``.
///
/// What is not set stays as it is; what is set to nil is removed.
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

  /// The name that the user chooses.
  public var displayName: String? {
    get { changes.withLockedValue(\.displayName) ?? user.displayName }
    set { changes.withLockedValue { $0.displayName = .some(newValue) } }
  }

  /// The address of the picture that the user chooses.
  public var photoURL: URL? {
    get { changes.withLockedValue(\.photoURL) ?? user.photoURL }
    set { changes.withLockedValue { $0.photoURL = .some(newValue) } }
  }

  /// Makes the change.
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

  /// Makes the change and passes the result to a block on ``Auth/callbackQueue``.
  public func commitChanges(completion: User.UserProfileChangeCallback?) {
    user.change(completion) { _ in try await self.commitChanges() }
  }
}

/// The proofs of a user.
extension User {
  /// A token that is good for a while.
  ///
  /// - Parameter isForced: Whether it must be a new one.
  /// - Returns: The token. It must not be logged or shown.
  /// - Throws: ``AuthError``: `networkError`, `userTokenExpired`, `userDisabled`, `nullUser` when
  ///   this user is not signed in any more, and others.
  public func getIDToken(forcingRefresh isForced: Bool = false) async throws -> String {
    try await account(forcingRefresh: isForced).tokens.idToken
  }

  /// The same as ``getIDToken(forcingRefresh:)``.
  ///
  /// - Throws: ``AuthError``.
  public func idToken(forcingRefresh isForced: Bool = false) async throws -> String {
    try await getIDToken(forcingRefresh: isForced)
  }

  /// A token that is good for a while, and what it says.
  ///
  /// - Throws: ``AuthError``.
  public func getIDTokenResult(
    forcingRefresh isForced: Bool = false
  ) async throws -> AuthTokenResult {
    try AuthTokenResult(await getIDToken(forcingRefresh: isForced))
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

  /// The account of this user with a token that is good for a while.
  func account(forcingRefresh isForced: Bool = false) async throws -> Account {
    guard auth.userID == uid else { throw AuthError.otherUser }
    guard let account = try await auth.freshAccount(forcingRefresh: isForced), account.uid == uid
    else { throw AuthError.otherUser }
    return account
  }
}

/// An ID token and what it says.
public struct AuthTokenResult: Sendable {
  /// The token, which must not be logged or shown.
  public let token: String
  private let json: IDTokenClaims

  /// Reads a token.
  ///
  /// - Throws: ``AuthError`` of code `malformedJWT`.
  init(_ token: String) throws(AuthError) {
    self.token = token
    json = try IDTokenClaims(token)
  }

  /// When the token ends, by the clock of the server.
  public var expirationDate: Date { json.date("exp") ?? .distantPast }

  /// When the user signed in.
  public var authDate: Date { json.date("auth_time") ?? issuedAtDate }

  /// When the token was made.
  public var issuedAtDate: Date { json.date("iat") ?? .distantPast }

  /// How the user signed in, such as "password".
  public var signInProvider: String { json.provider ?? "" }

  /// All that the token says, those of an administrator included.
  public var claims: [String: Any] {
    let members = json.json.members ?? []
    return Dictionary(members.map { ($0.name, Self.value($0.value)) }) { $1 }
  }

  private static func value(_ json: JSONValue) -> Any {
    switch json {
    case .null: NSNull()
    case .bool(let value): value
    case .integer(let value): value
    case .double(let value): value
    case .string(let value): value
    case .array(let elements): elements.map(value)
    case .object(let members):
      Dictionary(members.map { ($0.name, value($0.value)) }) { $1 }
    }
  }
}
