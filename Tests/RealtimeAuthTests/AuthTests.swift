import FirebaseAuth
import Foundation
import NIOConcurrencyHelpers
import RealtimeTransport
import TestSupport
import Testing

@Suite("Accounts", .timeLimit(.minutes(2)), .cleansUp)
struct AuthTests {
  private let email = "ann@example.org"
  private let password = "correct horse"
  private let scene: Scene
  private let auth: Auth

  init() async throws {
    scene = try await Scene()
    auth = try scene.auth()
  }

  @discardableResult
  private func signUp() async throws -> User {
    try await auth.createUser(withEmail: email, password: password).user
  }

  // MARK: Signing in

  @Test("Sign-up sends the documented request and signs the user in")
  func signUpRequest() async throws {
    let result = try await auth.createUser(withEmail: email, password: password)
    #expect(result.additionalUserInfo?.isNewUser == true)
    #expect(auth.currentUser == result.user)
    #expect(auth.currentUser?.email == email)
    #expect(auth.currentUser?.isAnonymous == false)
    let request = try #require(scene.standIn.requests.first)
    #expect(request.method == "POST")
    #expect(request.path == "/identitytoolkit.googleapis.com/v1/accounts:signUp")
    #expect(request.key == "AIzaSyKey")
    #expect(request.contentType == "application/json")
    #expect(
      request.body
        == #"{"email":"ann@example.org","password":"correct horse","returnSecureToken":true}"#
    )
  }

  @Test("Sign-in returns the existing account")
  func signIn() async throws {
    let uid = try await signUp().uid
    let second = try scene.auth()
    let result = try await second.signIn(withEmail: email, password: password)
    #expect(result.user.uid == uid)
    #expect(result.additionalUserInfo?.isNewUser == false)
  }

  @Test("A guest account is created once and becomes permanent when linked to an email")
  func guest() async throws {
    let guest = try await auth.signInAnonymously().user
    #expect(guest.isAnonymous)
    #expect(try await auth.signInAnonymously().user == guest)
    let linked = try await guest.link(withEmail: email, password: password).user
    #expect(linked == guest)
    #expect(auth.currentUser?.isAnonymous == false)
    #expect(auth.currentUser?.email == email)
    await expectError(\AuthError.kind, .providerAlreadyLinked) {
      try await linked.link(withEmail: "b@example.org", password: password)
    }
  }

  @Test("Reauthenticating a user who is not signed in changes nothing")
  func reauthenticateAnother() async throws {
    let ann = try await signUp()
    let credential = EmailAuthProvider.credential(withEmail: email, password: password)
    #expect(try await ann.reauthenticate(with: credential).user == ann)
    let bob = try await auth.createUser(withEmail: "bob@example.org", password: password).user
    await expectError(\AuthError.kind, .userMismatch) {
      try await ann.reauthenticate(with: credential)
    }
    #expect(auth.currentUser == bob)
    try auth.signOut()
    await expectError(\AuthError.kind, .userMismatch) {
      try await ann.reauthenticate(with: credential)
    }
    #expect(auth.currentUser == nil)
  }

  @Test(
    "A user who signs out while the account is changed stays signed out",
    arguments: ["accounts:signUp", "accounts:lookup"]
  )
  func signOutDuringLink(_ request: String) async throws {
    let guest = try await auth.signInAnonymously().user
    scene.standIn.state.withLockedValue {
      $0.willAnswer = { if $0 == request { try? auth.signOut() } }
    }
    await expectError(\AuthError.kind, .nullUser) {
      try await guest.link(withEmail: email, password: password)
    }
    #expect(auth.currentUser == nil)
  }

  @Test("An empty email or password is refused instead of being treated as missing")
  func emptyTexts() async throws {
    for (email, password, expected) in [
      ("", "", AuthErrorCode.weakPassword), (email, "", .weakPassword),
      ("", password, .missingEmail),
    ] {
      await expectError(\AuthError.kind, expected) {
        try await auth.createUser(withEmail: email, password: password)
      }
    }
    await expectError(\AuthError.kind, .wrongPassword) {
      try await auth.signIn(withEmail: email, password: "")
    }
    #expect(auth.currentUser == nil)
    #expect(scene.standIn.requests.isEmpty)
    let user = try await auth.createUser(withEmail: email, password: password).user
    let sent = scene.standIn.requests.count
    let empty = EmailAuthProvider.credential(withEmail: email, password: "")
    await expectError(\AuthError.kind, .weakPassword) { try await user.updatePassword(to: "") }
    await expectError(\AuthError.kind, .missingEmail) { try await user.updateEmail(to: "") }
    await expectError(\AuthError.kind, .wrongPassword) {
      try await user.reauthenticate(with: empty)
    }
    await expectError(\AuthError.kind, .weakPassword) {
      try await auth.confirmPasswordReset(withCode: "x", newPassword: "")
    }
    #expect(scene.standIn.requests.count == sent)
  }

  @Test("A custom token signs in the user it names")
  func customToken() async throws {
    let result = try await auth.signIn(withCustomToken: "custom:carl")
    #expect(result.user.uid == "carl")
    #expect(result.additionalUserInfo?.isNewUser == true)
    #expect(!result.user.isAnonymous)
    await expectError(\AuthError.kind, .invalidCustomToken) {
      try await auth.signIn(withCustomToken: "x")
    }
    #expect(auth.currentUser?.uid == "carl")
  }

  // MARK: Errors

  // Differs: The texts of errors
  @Test(
    "Server error codes map to Firebase error codes",
    arguments: [
      ("EMAIL_EXISTS", AuthErrorCode.emailAlreadyInUse), ("EMAIL_NOT_FOUND", .userNotFound),
      ("INVALID_PASSWORD", .wrongPassword), ("INVALID_LOGIN_CREDENTIALS", .invalidCredential),
      ("USER_DISABLED", .userDisabled), ("INVALID_EMAIL", .invalidEmail),
      ("WEAK_PASSWORD : Password should be at least 6 characters", .weakPassword),
      ("TOO_MANY_ATTEMPTS_TRY_LATER : Try later.", .tooManyRequests),
      ("OPERATION_NOT_ALLOWED", .operationNotAllowed),
      ("ADMIN_ONLY_OPERATION", .adminRestrictedOperation), ("MISSING_EMAIL", .missingEmail),
      ("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", .requiresRecentLogin),
      ("USER_NOT_FOUND", .userNotFound), ("SOMETHING_NEW", .internalError),
    ]
  )
  func errors(_ message: String, _ expected: AuthErrorCode) async throws {
    scene.standIn.plan("accounts:signInWithPassword", StandIn.error(message))
    let error = try #require(
      await #expect(throws: AuthError.self) {
        try await auth.signIn(withEmail: email, password: password)
      }
    )
    #expect(error.kind == expected)
    #expect(error.serverCode == String(message.prefix { $0 != " " }))
    #expect(!error.message.isEmpty)
    #expect((error.localizedFailureReason == nil) == (expected != .weakPassword))
    #expect(!"\(error)".contains(password))
    #expect(auth.currentUser == nil)
  }

  @Test("A missing API key is reported as such")
  func missingKey() async throws {
    scene.standIn.plan("accounts:signUp", StandIn.missingKey)
    await expectError(\AuthError.kind, .invalidAPIKey) { try await auth.signInAnonymously() }
  }

  @Test("An unreachable server is reported as a network error")
  func noServer() async throws {
    var configuration = AuthConfiguration(databaseURL: "http://127.0.0.1:1?ns=n")
    configuration.persistence = .memory
    let auth = try Auth(configuration)
    await expectError(\AuthError.kind, .networkError) { try await auth.signInAnonymously() }
  }

  @Test("The hosted service is not called without an API key")
  func hostedWithoutKey() async throws {
    var configuration = AuthConfiguration(databaseURL: "https://demo.firebaseio.com")
    configuration.persistence = .memory
    let auth = try Auth(configuration)
    await expectError(\AuthError.kind, .invalidAPIKey) { try await auth.signInAnonymously() }
  }

  @Test(
    "A malformed response is reported as an internal error",
    arguments: ["", "[]", "{}", "<html>"]
  )
  func nonsense(_ body: String) async throws {
    scene.standIn.plan("accounts:signUp", StandIn.json(body))
    await expectError(\AuthError.kind, .internalError) { try await auth.signInAnonymously() }
    #expect(auth.currentUser == nil)
  }

  // MARK: Changes

  @Test("A display name takes effect at once and is removed by nil")
  func displayName() async throws {
    let user = try await signUp()
    let request = user.createProfileChangeRequest()
    request.displayName = "Ann"
    try await request.commitChanges()
    #expect(user.displayName == "Ann")
    let another = user.createProfileChangeRequest()
    another.displayName = nil
    try await another.commitChanges()
    #expect(user.displayName == nil)
  }

  @Test("A password change keeps the session and replaces its tokens")
  func password() async throws {
    let user = try await signUp()
    let old = try await user.getIDToken()
    await expectError(\AuthError.kind, .weakPassword) { try await user.updatePassword(to: "short") }
    try await user.updatePassword(to: "another horse")
    #expect(try await user.getIDToken() != old)
    #expect(try await !user.getIDToken(forcingRefresh: true).isEmpty)
    try auth.signOut()
    await expectError(\AuthError.kind, .invalidCredential) {
      try await auth.signIn(withEmail: email, password: password)
    }
    try await auth.signIn(withEmail: email, password: "another horse")
  }

  @Test("A forgotten password is reset with a code")
  func resetPassword() async throws {
    try await signUp()
    try await auth.sendPasswordReset(withEmail: email)
    #expect(
      scene.standIn.requests.last?.body
        == #"{"requestType":"PASSWORD_RESET","email":"ann@example.org"}"#
    )
    #expect(try await auth.verifyPasswordResetCode("code") == email)
    await expectError(\AuthError.kind, .invalidActionCode) {
      try await auth.confirmPasswordReset(withCode: "x", newPassword: "123456")
    }
    try await auth.confirmPasswordReset(withCode: "code", newPassword: "new horse")
    try await auth.signIn(withEmail: email, password: "new horse")
  }

  @Test("Deleting an account signs out, and its user object becomes unusable")
  func delete() async throws {
    let user = try await signUp()
    try await user.delete()
    #expect(auth.currentUser == nil)
    await expectError(\AuthError.kind, .nullUser) { try await user.getIDToken() }
  }

  @Test("Reloading a disabled account signs the user out")
  func disabled() async throws {
    let user = try await signUp()
    scene.standIn.state.withLockedValue { $0.accounts[0].isDisabled = true }
    await expectError(\AuthError.kind, .userDisabled) { try await user.reload() }
    #expect(auth.currentUser == nil)
  }

  @Test("A token result contains claims, sign-in provider and expiration")
  func tokenResult() async throws {
    let user = try await signUp()
    let result = try await user.getIDTokenResult()
    #expect(result.signInProvider == "password")
    #expect(result.claims["email"] as? String == email)
    #expect(result.expirationDate.timeIntervalSince(result.issuedAtDate) == 3_600)
    #expect(try await user.idToken() == result.token)
  }

  // MARK: Listeners

  @Test("A listener gets the current user and every change until it is removed")
  func listeners() async throws {
    let told = Record<String?>()
    let handle = auth.addStateDidChangeListener { _, user in told.append(user?.uid) }
    await told.wait(for: 1)
    let uid = try await signUp().uid
    await told.wait(for: 2)
    _ = try await auth.currentUser?.getIDToken(forcingRefresh: true)
    try auth.signOut()
    await told.wait(for: 3)
    #expect(told.elements == [nil, uid, nil])
    auth.removeStateDidChangeListener(handle)
    let again = Record<String?>()
    auth.addStateDidChangeListener { _, user in again.append(user?.uid) }
    try await auth.signIn(withEmail: email, password: password)
    await again.wait { $0.last == uid }
    #expect(told.elements.count == 3)
  }

  @Test("A listener that is added just before or after a change is told of it once")
  func listenerBesideChange() async throws {
    let user = try await signUp()
    let (before, after) = (Record<String?>(), Record<String?>())
    auth.callbackQueue.suspend()
    auth.addStateDidChangeListener { _, user in before.append(user?.uid) }
    try auth.signOut()
    auth.addStateDidChangeListener { _, user in after.append(user?.uid) }
    auth.callbackQueue.resume()
    try await auth.signIn(withEmail: email, password: password)
    await before.wait { $0.last == user.uid }
    await after.wait { $0.last == user.uid }
    #expect(before.elements == [nil, user.uid])
    #expect(after.elements == [nil, user.uid])
  }

  @Test("A listener whose queue is late is not told of an earlier user after a later one")
  func lateListener() async throws {
    try await signUp()
    let told = Record<String?>()
    auth.callbackQueue.suspend()
    auth.addStateDidChangeListener { _, user in told.append(user?.uid) }
    try auth.signOut()
    let guest = try await auth.signInAnonymously().user
    auth.callbackQueue.resume()
    await withCheckedContinuation { continuation in
      auth.callbackQueue.async { continuation.resume() }
    }
    #expect(told.elements == [guest.uid])
  }

  @Test("Completion handlers report the same results, after the listeners")
  func callbacks() async throws {
    let told = Record<String>()
    auth.addStateDidChangeListener { _, user in
      told.append(user == nil ? "nobody" : "someone")
    }
    await told.wait(for: 1)
    auth.createUser(withEmail: email, password: password) { result, error in
      told.append(result?.user.email ?? "\(String(describing: error))")
    }
    await told.wait(for: 3)
    auth.createUser(withEmail: email, password: password) { _, error in
      told.append((error as? AuthError)?.message ?? "no error")
    }
    await told.wait(for: 4)
    let exists = "an account with this email address already exists"
    #expect(told.elements == ["nobody", "someone", email, exists])
  }

  // MARK: Refreshing

  @Test("A refresh sends the documented request")
  func refresh() async throws {
    let user = try await signUp()
    let old = try await user.getIDToken()
    #expect(try await user.getIDToken(forcingRefresh: true) != old)
    let request = try #require(scene.standIn.requests.last)
    #expect(request.path == "/securetoken.googleapis.com/v1/token")
    #expect(request.contentType == "application/x-www-form-urlencoded")
    #expect(
      request.body == "grant_type=refresh_token&refresh_token=refresh%2F2%2B\(user.uid)"
    )
  }

  @Test(
    "A revoked session is signed out and reports the reason",
    arguments: [
      ("TOKEN_EXPIRED", AuthErrorCode.userTokenExpired), ("USER_DISABLED", .userDisabled),
      ("USER_NOT_FOUND", .userNotFound), ("INVALID_REFRESH_TOKEN", .userTokenExpired),
    ]
  )
  func endedSession(_ word: String, _ expected: AuthErrorCode) async throws {
    let user = try await signUp()
    scene.standIn.plan("token", StandIn.error(word))
    await expectError(\AuthError.kind, expected) { try await user.getIDToken(forcingRefresh: true) }
    #expect(auth.currentUser == nil)
  }

  @Test("A temporary server failure does not sign the user out")
  func unavailable() async throws {
    let user = try await signUp()
    scene.standIn.plan("token", HTTPAnswer(status: 503, error: "busy"))
    await expectError(\AuthError.kind, .tooManyRequests) {
      try await user.getIDToken(forcingRefresh: true)
    }
    #expect(auth.currentUser != nil)
    let token = try await user.getIDToken(forcingRefresh: true)
    #expect(!token.isEmpty)
  }
}
