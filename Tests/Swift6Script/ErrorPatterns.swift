import Foundation
import RealtimeAuth
import RealtimeDatabase

// What programs for the original do with an error. Swift takes `error as NSError` for a pattern that
// always matches. On Linux that is only true of errors that are `NSError`s; any other one leads to
// undefined behavior, which looks different in each mode of Swift and with optimization.

/// What the calls of the library throw.
enum Failure: CaseIterable, Sendable {
  case read, refusedData, cancelledWrite, cancelledRead, cancelledEvent, cancelledTransaction
  case path, childPath, order, url, signIn, reload, accountsURL

  /// What every pattern must see: the domain and the number.
  var expected: String {
    switch self {
    case .read: "com.firebase 2"
    case .refusedData, .cancelledWrite, .cancelledRead, .cancelledEvent, .cancelledTransaction,
      .path, .childPath, .order, .url:
      "com.firebase 9999"
    case .signIn, .reload: "FIRAuthErrorDomain 17020"
    case .accountsURL: "FIRAuthErrorDomain 17999"
    }
  }

  var isOfAccounts: Bool { expected.hasPrefix("FIRAuth") }

  /// Whether the call throws without waiting for anything.
  var isThrownAtOnce: Bool { [.path, .childPath, .order, .url, .accountsURL].contains(self) }

  func cause() async throws {
    let place = try Self.place()
    switch self {
    case .read: _ = try await place.getData()
    case .refusedData: try await place.setValue(Double.nan)
    case .cancelledWrite: try await cancelled { try await place.setValue(1) }
    case .cancelledRead:
      place.database.goOnline()
      try await cancelled { _ = try await place.getData() }
    case .cancelledEvent:
      try await cancelled {
        _ = try await place.observeSingleEvent(of: .value, deadline: .seconds(60))
      }
    case .cancelledTransaction:
      try await cancelled {
        _ = try await place.runTransactionBlock {
          $0.value = 1
          return .success(withValue: $0)
        }
      }
    case .signIn: try await accounts().signIn(withEmail: "ann@example.org", password: "secret")
    case .reload: try await accounts().signInAnonymously().user.reload()
    case .path, .childPath, .order, .url, .accountsURL: try causeAtOnce()
    }
  }

  func causeAtOnce() throws {
    let place = try Self.place()
    switch self {
    case .path: _ = try place.child(validating: "b.c")
    case .childPath: _ = try place.database.reference(validatingURL: "http://elsewhere:1/a?ns=n")
    case .order: _ = try place.queryOrdered(validatingChild: "b.c")
    case .url: _ = try Database(url: "nonsense")
    case .accountsURL: _ = try Auth(AuthConfiguration(databaseURL: "nonsense"))
    case .read, .refusedData, .cancelledWrite, .cancelledRead, .cancelledEvent,
      .cancelledTransaction, .signIn, .reload:
      break
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

  private static func place() throws -> DatabaseReference {
    let database = try Database(url: "http://127.0.0.1:1?ns=n")
    database.callbackQueue = DispatchQueue(label: "test.patterns")
    database.goOffline()
    return database.reference(withPath: "a")
  }

  /// What each pattern sees: first of the calls that wait, then of those that do not.
  func seen() async -> [String] {
    var all = [await caught(), await switched(), await cast(), await named()]
    all.append((try? await passedOn()) ?? "passed on")
    all.append(await inTask())
    if self == .refusedData { all.append(await completed()) }
    if isOfAccounts { all.append(contentsOf: await [coded(), converted(), nested()]) }
    if isThrownAtOnce {
      all += [caughtAtOnce(), switchedAtOnce(), castAtOnce(), namedAtOnce()]
      all.append((try? passedOnAtOnce()) ?? "passed on")
    }
    return all
  }
}

private func text(_ error: NSError) -> String { "\(error.domain) \(error.code)" }

// The patterns, in functions that do not throw unless it says so.
extension Failure {
  private func caught() async -> String {
    do {
      try await cause()
    } catch let error as NSError {
      return text(error)
    }
    return "nothing"
  }

  private func switched() async -> String {
    do {
      try await cause()
    } catch {
      switch error {
      case let error as NSError: return text(error)
      }
    }
    return "nothing"
  }

  private func cast() async -> String {
    do {
      try await cause()
    } catch {
      // Swift knows that a cast of what is not optional cannot fail.
      let error: Error? = error
      return (error as? NSError).map(text) ?? "no NSError"
    }
    return "nothing"
  }

  private func named() async -> String {
    do {
      try await cause()
    } catch let error as DatabaseError {
      return text(error)
    } catch let error as AuthError {
      return text(error)
    } catch {
      return "another error"
    }
    return "nothing"
  }

  /// Throws what is not caught, which is nothing.
  private func passedOn() async throws -> String {
    do {
      try await cause()
    } catch let error as NSError where !error.localizedDescription.isEmpty {
      return text(error)
    }
    return "nothing"
  }

  private func inTask() async -> String {
    let task = Task { try await cause() }
    do {
      try await task.value
    } catch let error as NSError {
      return text(error)
    }
    return "nothing"
  }

  /// In a completion block, where the error is optional.
  private func completed() async -> String {
    await withCheckedContinuation { continuation in
      guard let place = try? Self.place() else { return continuation.resume(returning: "no place") }
      place.setValue(Double.infinity) { error, _ in
        continuation.resume(returning: (error as? NSError).map(text) ?? "no NSError")
      }
    }
  }

  private func coded() async -> String {
    do {
      try await cause()
    } catch let error as NSError {
      return AuthErrorCode(rawValue: error.code).map { "\(error.domain) \($0.rawValue)" }
        ?? "no code"
    }
    return "nothing"
  }

  private func converted() async -> String {
    do {
      try await cause()
    } catch {
      return "\(AuthErrorDomain) \(AuthErrorCode(_nsError: error as NSError).code.rawValue)"
    }
    return "nothing"
  }

  private func nested() async -> String {
    do {
      try await cause()
    } catch let error as NSError {
      switch AuthErrorCode.Code(rawValue: error.code) {
      case .networkError: return "\(error.domain) 17020"
      case .internalError: return "\(error.domain) 17999"
      default: return "another code"
      }
    }
    return "nothing"
  }
}

// The same for calls that do not wait.
extension Failure {
  private func caughtAtOnce() -> String {
    do {
      try causeAtOnce()
    } catch let error as NSError {
      return text(error)
    }
    return "nothing"
  }

  private func switchedAtOnce() -> String {
    do {
      try causeAtOnce()
    } catch {
      switch error {
      case let error as NSError: return text(error)
      }
    }
    return "nothing"
  }

  private func castAtOnce() -> String {
    do {
      try causeAtOnce()
    } catch {
      // Swift knows that a cast of what is not optional cannot fail.
      let error: Error? = error
      return (error as? NSError).map(text) ?? "no NSError"
    }
    return "nothing"
  }

  private func namedAtOnce() -> String {
    do {
      try causeAtOnce()
    } catch let error as DatabaseError {
      return text(error)
    } catch let error as AuthError {
      return text(error)
    } catch {
      return "another error"
    }
    return "nothing"
  }

  /// Throws what is not caught, which is nothing.
  private func passedOnAtOnce() throws -> String {
    do {
      try causeAtOnce()
    } catch let error as NSError where !error.localizedDescription.isEmpty {
      return text(error)
    }
    return "nothing"
  }
}

/// Signs out, which never fails, with a pattern alone in a function that does not throw.
func signOut() {
  do {
    var configuration = AuthConfiguration(databaseURL: "http://127.0.0.1:1?ns=n")
    configuration.persistence = .memory
    try Auth(configuration).signOut()
  } catch let error as NSError {
    print(error.localizedDescription)
  }
}
