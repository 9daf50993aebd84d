import FirebaseAuth
import FirebaseDatabase
import Testing

/// What programs for the original do with an error, in both modes of Swift.
///
/// Swift takes `error as NSError` for a pattern that always matches. On Linux that is only true of
/// errors that are `NSError`s; any other one leads to undefined behavior.
@Suite("Error handling patterns", .timeLimit(.minutes(1)))
struct ErrorPatternTests {
  /// What the calls of the library throw.
  enum Failure: CaseIterable {
    case read, refusedData, cancelledWrite, cancelledRead, cancelledEvent, cancelledTransaction
    case path, url, signIn, reload, accountsURL

    var isOfAccounts: Bool { [.signIn, .reload, .accountsURL].contains(self) }

    func cause() async throws {
      let database = try Database(url: "http://127.0.0.1:1?ns=n")
      database.callbackQueue = DispatchQueue(label: "test.patterns")
      database.goOffline()
      let place = database.reference(withPath: "a")
      switch self {
      case .read: _ = try await place.getData()
      case .refusedData: try await place.setValue(Double.nan)
      case .cancelledWrite: try await cancelled { try await place.setValue(1) }
      case .cancelledRead:
        database.goOnline()
        try await cancelled { _ = try await place.getData() }
      case .cancelledEvent:
        try await cancelled {
          _ = try await place.observeSingleEvent(of: .value, deadline: .seconds(60))
        }
      case .cancelledTransaction:
        try await cancelled { _ = try await place.runTransactionBlock { _ in .abort() } }
        try await cancelled {
          _ = try await place.runTransactionBlock {
            $0.value = 1
            return .success(withValue: $0)
          }
        }
      case .path: _ = try place.child(validating: "b.c")
      case .url: _ = try Database(url: "nonsense")
      case .signIn: try await accounts().signIn(withEmail: "ann@example.org", password: "secret")
      case .reload: try await accounts().signInAnonymously().user.reload()
      case .accountsURL: _ = try Auth(AuthConfiguration(databaseURL: "nonsense"))
      }
    }

    private func cancelled(_ body: @escaping @Sendable () async throws -> Void) async throws {
      let task = Task(operation: body)
      task.cancel()
      try await task.value
    }

    private func accounts() throws -> Auth {
      var configuration = AuthConfiguration(databaseURL: "http://127.0.0.1:1?ns=n")
      configuration.persistence = .memory
      return try Auth(configuration)
    }
  }

  /// A function that does not throw, which the pattern alone makes correct.
  private func caught(_ failure: Failure) async -> NSError? {
    do {
      try await failure.cause()
    } catch let error as NSError {
      return error
    }
    return nil
  }

  private func switched(_ failure: Failure) async -> String {
    do {
      try await failure.cause()
      return "nothing"
    } catch {
      switch error {
      case let error as NSError: return error.domain
      }
    }
  }

  private func named(_ failure: Failure) async -> String {
    do {
      try await failure.cause()
      return "nothing"
    } catch let error as DatabaseError {
      return "database \(error.kind) \(error.path ?? "")"
    } catch let error as AuthError {
      return "accounts \(error.kind)"
    } catch {
      return "\(error)"
    }
  }

  private func cast(_ failure: Failure) async -> Int? {
    do {
      try await failure.cause()
      return nil
    } catch {
      // As in a completion block, where the error is optional.
      let error: Error? = error
      return (error as? NSError)?.code
    }
  }

  @Test(
    "Every failing call throws an error with Firebase's domain",
    arguments: Failure.allCases
  )
  func patterns(failure: Failure) async {
    let domain = failure.isOfAccounts ? AuthErrorDomain : "com.firebase"
    let error = await caught(failure)
    #expect(error?.domain == domain)
    #expect(error?.localizedDescription.isEmpty == false)
    #expect(await switched(failure) == domain)
    #expect(await cast(failure) == error?.code)
    #expect(await named(failure).hasPrefix(failure.isOfAccounts ? "accounts" : "database"))
  }

  @Test("A failed sign-in's error number converts to its code in every Firebase form")
  func authCodes() async {
    guard let error = await caught(.signIn) else { return #expect(Bool(false), "nothing thrown") }
    #expect(AuthErrorCode(rawValue: error.code) == .networkError)
    #expect(AuthErrorCode.Code(rawValue: error.code) == .networkError)
    #expect(AuthErrorCode(_nsError: error).code == .networkError)
    #expect(AuthErrorCode(_nsError: NSError(domain: "other", code: 17_020)) == .internalError)
    switch AuthErrorCode.Code(rawValue: error.code) {
    case .networkError: break
    case .wrongPassword, .accountExistsWithDifferentCredential: #expect(Bool(false))
    default: #expect(Bool(false))
    }
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

  @Test("A completion block can cast its error")
  func completion() async {
    let code = await withCheckedContinuation { (continuation: CheckedContinuation<Int?, Never>) in
      Task {
        guard let database = try? Database(url: "http://127.0.0.1:1?ns=n") else {
          return continuation.resume(returning: nil)
        }
        database.callbackQueue = DispatchQueue(label: "test.patterns")
        database.reference(withPath: "a").setValue(Double.infinity) { error, _ in
          continuation.resume(returning: (error as? NSError)?.code)
        }
      }
    }
    #expect(code == 9_999)
  }
}
