internal import BlogChecker
internal import RealtimeAuth
internal import RealtimeDatabase

/// The account of somebody who takes part in a run, with what it takes to delete it again.
struct SwarmAccount: Sendable {
  /// The name that others see.
  let name: String
  /// The address that the account is made for; no mail can reach it.
  let email: String
  private let password: String
  private let auth: Auth

  /// The pauses while a server takes no more accounts.
  private static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(8))
  /// How many characters a password has, each one of 64.
  private static let passwordLength = 24

  /// Describes an account, which is yet to be made.
  ///
  /// - Parameters:
  ///   - name: The name of its owner.
  ///   - run: What tells the accounts of one run from those of others.
  ///   - database: The database whose accounts they are.
  ///   - file: Where the session rests, for the programs that are to use it.
  /// - Throws: `AuthError` when the file cannot be used.
  init(_ name: String, ofRun run: String, at database: SwarmDatabase, file: String) throws {
    self.name = name
    email = "\(name).\(run)@example.invalid"
    password = Self.newPassword()
    var configuration = AuthConfiguration(databaseURL: database.url, apiKey: database.apiKey)
    configuration.trustRoots = database.caFile.map { .file($0) } ?? .system
    configuration.persistence = .file(file)
    // Nobody: others may have their sessions in the same file.
    configuration.account = ""
    auth = try Auth(configuration)
  }

  /// Who it is; nil before the account is made.
  var uid: String? { auth.currentUser?.uid }

  /// Makes the account, however often that has to be tried while the server takes no more of them.
  ///
  /// - Parameters:
  ///   - deadline: When it is not tried again.
  ///   - isWanted: Whether the account is still to be made.
  /// - Throws: `AuthError`, or `CancellationError` when it is not wanted any more.
  func signUp(until deadline: Moment, while isWanted: () -> Bool) async throws {
    var pause = Self.pauses.first
    while true {
      guard isWanted() else { throw CancellationError() }
      do {
        try await auth.createUser(withEmail: email, password: password)
        return
      } catch let error as AuthError where error.code == .tooManyRequests {
        guard Moment.now.advanced(by: pause) < deadline else { throw error }
        await Pause.lasting(pause)
        pause = min(pause * 2, Self.pauses.longest)
      }
    }
  }

  /// Writes the name into the account, as those do who sign up at a screen.
  ///
  /// - Throws: `AuthError`.
  func writeName() async throws {
    let request = auth.currentUser?.createProfileChangeRequest()
    request?.displayName = name
    try await request?.commitChanges()
  }

  /// Deletes the account, if there is one.
  ///
  /// - Throws: `AuthError`.
  func delete() async throws {
    if let user = auth.currentUser, (try? await user.delete()) != nil { return }
    // The session is too old for that, or the answer to the first request was lost.
    do {
      try await auth.signIn(withEmail: email, password: password)
    } catch let error as AuthError
      where error.code == .invalidCredential || error.code == .userNotFound
    {
      return
    }
    try await auth.currentUser?.delete()
  }

  private static func newPassword() -> String {
    let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    return String(
      (0..<passwordLength).map { _ in characters[Int.random(in: 0..<characters.count)] }
    )
  }
}
