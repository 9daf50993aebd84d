import FirebaseAuth
import FirebaseDatabase
import Testing

/// What programs for the original do with an error, in both modes of Swift.
///
/// `ExampleTests` looks at the same patterns in programs, which `.ci/run` also optimizes.
@Suite("Error handling patterns", .timeLimit(.minutes(1)))
struct ErrorPatternTests {
  // Differs: `error as? AuthErrorCode` is nil
  // Differs: A read that cannot reach the server fails with
  @Test("Each pattern sees the domain and the number of each error", arguments: Failure.allCases)
  func patterns(failure: Failure) async {
    #expect(Set(await failure.seen()) == [failure.expected])
  }

  @Test("The number of an error of another domain is not a sign-in code")
  func otherDomain() {
    #expect(AuthErrorCode(_nsError: NSError(domain: "other", code: 17_020)) == .internalError)
  }

  @Test("Sign-out, which never fails, needs no catch branch of its own")
  func signOut() async {
    await #expect(processExitsWith: .success) {
      do {
        try Database.configure(url: "http://127.0.0.1:1?ns=n")
        try Auth.auth().signOut()
      } catch let error as NSError {
        print(error.localizedDescription)
      }
    }
  }
}
