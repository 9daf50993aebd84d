import FirebaseAuth
import NIOConcurrencyHelpers
import RealtimeTransport
import TestSupport
import Testing

@Suite("Accounts", .timeLimit(.minutes(2)))
struct AuthTests {
  private let email = "ann@example.org"
  private let password = "correct horse"

  private func code(_ body: () async throws -> Void) async -> AuthErrorCode? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? AuthError)?.kind
    }
  }

  // MARK: Signing in

  @Test("Signing up asks what the service documents, and signs in")
  func signUp() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
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
  }

  @Test("Someone who has an account signs in to the same one")
  func signIn() async throws {
    try await Scene.run { scene in
      let first = try scene.auth()
      let uid = try await first.createUser(withEmail: email, password: password).user.uid
      let second = try scene.auth()
      let result = try await second.signIn(withEmail: email, password: password)
      #expect(result.user.uid == uid)
      #expect(result.additionalUserInfo?.isNewUser == false)
    }
  }

  @Test("A guest is asked for once, and becomes someone by an email address")
  func guest() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      let guest = try await auth.signInAnonymously().user
      #expect(guest.isAnonymous)
      #expect(try await auth.signInAnonymously().user == guest)
      let linked = try await guest.link(withEmail: email, password: password).user
      #expect(linked == guest)
      #expect(auth.currentUser?.isAnonymous == false)
      #expect(auth.currentUser?.email == email)
      #expect(
        await code { try await linked.link(withEmail: "b@example.org", password: password) }
          == .providerAlreadyLinked
      )
    }
  }

  @Test("A custom token signs in whom it names")
  func customToken() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      let result = try await auth.signIn(withCustomToken: "custom:carl")
      #expect(result.user.uid == "carl")
      #expect(result.additionalUserInfo?.isNewUser == true)
      #expect(!result.user.isAnonymous)
      #expect(await code { try await auth.signIn(withCustomToken: "x") } == .invalidCustomToken)
      #expect(auth.currentUser?.uid == "carl")
    }
  }

  // MARK: Errors

  @Test(
    "The words of the service are errors of the original's names",
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
    try await Scene.run { scene in
      let auth = try scene.auth()
      scene.standIn.plan("accounts:signInWithPassword", StandIn.error(message))
      do {
        try await auth.signIn(withEmail: email, password: password)
        Issue.record("the sign-in should have failed")
      } catch let error as AuthError {
        #expect(error.kind == expected)
        #expect(error.serverCode == String(message.prefix { $0 != " " }))
        #expect(!error.message.isEmpty)
        #expect(!"\(error)".contains(password))
      }
      #expect(auth.currentUser == nil)
    }
  }

  @Test("A missing key is told apart from everything else")
  func missingKey() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      scene.standIn.plan("accounts:signUp", StandIn.missingKey)
      #expect(await code { try await auth.signInAnonymously() } == .invalidAPIKey)
    }
  }

  @Test("Without a server it is a failure of the network")
  func noServer() async throws {
    var configuration = AuthConfiguration(databaseURL: "http://127.0.0.1:1?ns=n")
    configuration.persistence = .memory
    let auth = try Auth(configuration)
    #expect(await code { try await auth.signInAnonymously() } == .networkError)
  }

  @Test("The hosted service is not asked without a key")
  func hostedWithoutKey() async throws {
    var configuration = AuthConfiguration(databaseURL: "https://demo.firebaseio.com")
    configuration.persistence = .memory
    let auth = try Auth(configuration)
    #expect(await code { try await auth.signInAnonymously() } == .invalidAPIKey)
  }

  @Test("An answer that is no answer is told as such", arguments: ["", "[]", "{}", "<html>"])
  func nonsense(_ body: String) async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      scene.standIn.plan("accounts:signUp", StandIn.json(body))
      #expect(await code { try await auth.signInAnonymously() } == .internalError)
      #expect(auth.currentUser == nil)
    }
  }

  // MARK: Changes

  @Test("The name that a user chooses is known at once and taken back by nil")
  func displayName() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      let user = try await auth.createUser(withEmail: email, password: password).user
      let request = user.createProfileChangeRequest()
      request.displayName = "Ann"
      try await request.commitChanges()
      #expect(user.displayName == "Ann")
      let another = user.createProfileChangeRequest()
      another.displayName = nil
      try await another.commitChanges()
      #expect(user.displayName == nil)
    }
  }

  @Test("A new password goes on with the session, whose old tokens have ended")
  func password() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      let user = try await auth.createUser(withEmail: email, password: password).user
      let old = try await user.getIDToken()
      #expect(await code { try await user.updatePassword(to: "short") } == .weakPassword)
      try await user.updatePassword(to: "another horse")
      #expect(try await user.getIDToken() != old)
      #expect(try await !user.getIDToken(forcingRefresh: true).isEmpty)
      try auth.signOut()
      #expect(
        await code { try await auth.signIn(withEmail: email, password: password) }
          == .invalidCredential
      )
      try await auth.signIn(withEmail: email, password: "another horse")
    }
  }

  @Test("A forgotten password is set with a code")
  func resetPassword() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      try await auth.createUser(withEmail: email, password: password)
      try await auth.sendPasswordReset(withEmail: email)
      #expect(
        scene.standIn.requests.last?.body
          == #"{"requestType":"PASSWORD_RESET","email":"ann@example.org"}"#
      )
      #expect(try await auth.verifyPasswordResetCode("code") == email)
      #expect(
        await code { try await auth.confirmPasswordReset(withCode: "x", newPassword: "123456") }
          == .invalidActionCode
      )
      try await auth.confirmPasswordReset(withCode: "code", newPassword: "new horse")
      try await auth.signIn(withEmail: email, password: "new horse")
    }
  }

  @Test("Deleting an account signs out, and nothing of it can be used any more")
  func delete() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      let user = try await auth.createUser(withEmail: email, password: password).user
      try await user.delete()
      #expect(auth.currentUser == nil)
      #expect(await code { _ = try await user.getIDToken() } == .nullUser)
    }
  }

  @Test("Reloading a disabled account signs out")
  func disabled() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      let user = try await auth.createUser(withEmail: email, password: password).user
      scene.standIn.state.withLockedValue { $0.accounts[0].isDisabled = true }
      #expect(await code { try await user.reload() } == .userDisabled)
      #expect(auth.currentUser == nil)
    }
  }

  @Test("A token says who, how and until when")
  func tokenResult() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      let user = try await auth.createUser(withEmail: email, password: password).user
      let result = try await user.getIDTokenResult()
      #expect(result.signInProvider == "password")
      #expect(result.claims["email"] as? String == email)
      #expect(result.expirationDate.timeIntervalSince(result.issuedAtDate) == 3_600)
      #expect(try await user.idToken() == result.token)
    }
  }

  // MARK: Listeners

  @Test("A listener is told the present user, every other one, and nothing after its removal")
  func listeners() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      let told = Record<String?>()
      let handle = auth.addStateDidChangeListener { _, user in told.append(user?.uid) }
      await told.wait(for: 1)
      let uid = try await auth.createUser(withEmail: email, password: password).user.uid
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
  }

  @Test("A listener for tokens is told of each refresh")
  func tokenListeners() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      let told = Record<String?>()
      try await auth.createUser(withEmail: email, password: password)
      let handle = auth.addIDTokenDidChangeListener { _, user in told.append(user?.uid) }
      await told.wait(for: 1)
      _ = try await auth.currentUser?.getIDToken(forcingRefresh: true)
      await told.wait(for: 2)
      auth.removeIDTokenDidChangeListener(handle)
    }
  }

  @Test("The forms with callbacks tell the same, after the listeners")
  func callbacks() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
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
        told.append((error as? AuthError)?.serverCode ?? "no error")
      }
      await told.wait(for: 4)
      #expect(told.elements == ["nobody", "someone", email, "EMAIL_EXISTS"])
    }
  }

  // MARK: Refreshing

  @Test("A refresh asks what the service documents")
  func refresh() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      let user = try await auth.createUser(withEmail: email, password: password).user
      let old = try await user.getIDToken()
      #expect(try await user.getIDToken(forcingRefresh: true) != old)
      let request = try #require(scene.standIn.requests.last)
      #expect(request.path == "/securetoken.googleapis.com/v1/token")
      #expect(request.contentType == "application/x-www-form-urlencoded")
      #expect(
        request.body == "grant_type=refresh_token&refresh_token=refresh%2F2%2B\(user.uid)"
      )
    }
  }

  @Test(
    "A session that has ended is signed out with its reason",
    arguments: [
      ("TOKEN_EXPIRED", AuthErrorCode.userTokenExpired), ("USER_DISABLED", .userDisabled),
      ("USER_NOT_FOUND", .userNotFound), ("INVALID_REFRESH_TOKEN", .userTokenExpired),
    ]
  )
  func endedSession(_ word: String, _ expected: AuthErrorCode) async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      let user = try await auth.createUser(withEmail: email, password: password).user
      scene.standIn.plan("token", StandIn.error(word))
      #expect(await code { _ = try await user.getIDToken(forcingRefresh: true) } == expected)
      #expect(auth.currentUser == nil)
    }
  }

  @Test("A failure of the server for a moment signs nobody out")
  func unavailable() async throws {
    try await Scene.run { scene in
      let auth = try scene.auth()
      let user = try await auth.createUser(withEmail: email, password: password).user
      scene.standIn.plan("token", HTTPAnswer(status: 503, error: "busy"))
      #expect(
        await code { _ = try await user.getIDToken(forcingRefresh: true) } == .tooManyRequests
      )
      #expect(auth.currentUser != nil)
      #expect(try await !user.getIDToken(forcingRefresh: true).isEmpty)
    }
  }
}
