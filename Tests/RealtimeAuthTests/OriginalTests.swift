import FirebaseAuth
import Foundation
import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import RealtimeAuth

/// The behaviour of the original that existing programs rely on.
@Suite("Compatibility with Firebase Auth", .timeLimit(.minutes(1)), .cleansUp)
struct OriginalTests {
  private let email = "ann@example.org"
  private let password = "correct horse"

  @Test("Errors have Firebase's domain and codes", arguments: AuthErrorCode.allCases)
  func numbers(code: AuthErrorCode) {
    let error: any Error = AuthError(code, serverCode: "SOME_WORD", message: "because")
    let bridged = error as NSError
    #expect(bridged.domain == AuthErrorDomain)
    #expect(bridged.domain == "FIRAuthErrorDomain")
    #expect(AuthErrorCode(rawValue: bridged.code) == code)
    #expect(bridged.localizedDescription == "because")
    #expect(bridged.userInfo[AuthErrorUserInfoNameKey] as? String == "SOME_WORD")
  }

  @Test("Completion handlers receive the token result")
  func tokenResult() async throws {
    let auth = try await Scene().auth()
    let user = try await auth.createUser(withEmail: email, password: password).user
    let told = Record<String>()
    user.getIDTokenResult { result, _ in told.append(result?.signInProvider ?? "none") }
    user.getIDTokenResult(forcingRefresh: true) { result, _ in
      told.append(result?.token.isEmpty == false ? "token" : "none")
    }
    #expect(await told.wait(for: 2).sorted() == ["password", "token"])
  }

  @Test("Calls without a completion handler take effect, and listeners learn of it")
  func withoutCompletion() async throws {
    let auth = try await Scene().auth()
    let seen = Record<String>()
    auth.addStateDidChangeListener { seen.append($1.map { $0.email ?? "guest" } ?? "nobody") }
    await seen.wait(for: 1)
    // Within closures that are not `async`, as in programs that wait for nothing.
    let enter = { auth.signInAnonymously() }
    enter()
    await seen.wait(for: 2)
    let leave = { auth.currentUser?.delete() }
    leave()
    await seen.wait(for: 3)
    let create = { [email, password] in auth.createUser(withEmail: email, password: password) }
    create()
    #expect(await seen.wait(for: 4) == ["nobody", "guest", "nobody", email])
  }

  @Test("A listener is removed by its handle, kept as any object, and by no other object")
  func handles() async throws {
    let auth = try await Scene().auth()
    let kept: [any NSObjectProtocol] = [
      auth.addStateDidChangeListener { _, _ in }, auth.addIDTokenDidChangeListener { _, _ in },
    ]
    auth.removeStateDidChangeListener(NSObject())
    auth.removeIDTokenDidChangeListener(NSObject())
    let other = try await Scene().auth()
    for handle in kept { other.removeStateDidChangeListener(handle) }
    _ = other.addStateDidChangeListener { _, _ in }
    for handle in kept { other.removeStateDidChangeListener(handle) }
    #expect(other.state.withLockedValue(\.listeners).count == 1)
    #expect(auth.state.withLockedValue(\.listeners).count == 2)
    auth.removeStateDidChangeListener(kept[0])
    #expect(auth.state.withLockedValue(\.listeners).values.map(\.isForTokens) == [true])
    auth.removeIDTokenDidChangeListener(kept[1])
    #expect(auth.state.withLockedValue(\.listeners).isEmpty)
  }

  @Test("Names that the original's blocks have as async calls give the same tokens")
  func importedNames() async throws {
    let auth = try await Scene().auth()
    let user = try await auth.createUser(withEmail: email, password: password).user
    let result = try await user.idTokenResult()
    #expect(try await user.idToken() == result.token)
    let forced = try await user.idTokenForcingRefresh(true)
    #expect(forced != result.token)
    #expect(try await user.idTokenResult(forcingRefresh: false).token == forced)
  }

  @Test("authStateChanges yields the current user and each change, then stops listening")
  func authStateChanges() async throws {
    let auth = try await Scene().auth()
    let seen = Record<String>()
    let loop = Task {
      for await user in auth.authStateChanges { seen.append(user?.email ?? "nobody") }
    }
    await seen.wait(for: 1)
    try await auth.createUser(withEmail: email, password: password)
    await seen.wait(for: 2)
    try auth.signOut()
    #expect(await seen.wait(for: 3) == ["nobody", email, "nobody"])
    loop.cancel()
    await loop.value
    #expect(auth.state.withLockedValue(\.listeners).isEmpty)
  }

  @Test("idTokenChanges yields each new token")
  func idTokenChanges() async throws {
    let auth = try await Scene().auth()
    let seen = Record<String>()
    let loop = Task {
      for await user in auth.idTokenChanges { seen.append(user?.email ?? "nobody") }
    }
    await seen.wait(for: 1)
    try await auth.createUser(withEmail: email, password: password)
    await seen.wait(for: 2)
    _ = try await auth.currentUser?.getIDTokenResult(forcingRefresh: true)
    #expect(await seen.wait(for: 3) == ["nobody", email, email])
    loop.cancel()
    await loop.value
    #expect(auth.state.withLockedValue(\.listeners).isEmpty)
  }
}
