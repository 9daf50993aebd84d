private import Foundation
private import NIOConcurrencyHelpers
import RealtimeAuth
private import RealtimeCore
import RealtimeDatabase
private import RealtimeServer

/// The accounts of a run whose database requires them, created before the run and deleted after it.
///
/// Passwords never leave the driver's memory. The client processes use the sessions that the driver
/// has started, from files in the run's directory that no other user can read.
package actor SwarmAccounts {
  /// How many accounts are created or deleted at the same time.
  private static let width = 4
  /// How many seconds creating them may take: a base, and more for each account.
  private static let patience = (once: 60, each: 2)

  private let database: SwarmDatabase
  private let directory: String
  /// Distinguishes this run's accounts from those of other runs: lowercase letters and digits.
  private let run: String
  private var accounts: [SwarmAccount] = []
  /// Whether the accounts are being deleted, so that no more may be created.
  private let isOver = NIOLockedValueBox(false)
  private var signingUp: Task<[Failure], Never>?

  private typealias Failure = (account: SwarmAccount, error: any Error)

  /// Describes the accounts of a run, whose directory is given.
  package init(ofRun run: String, at database: SwarmDatabase, in directory: String) {
    self.run = run
    self.database = database
    self.directory = directory
  }

  /// The file with the sessions of a process's users.
  static func credentialFile(ofProcess process: Int, in directory: String) -> String {
    "\(folder(in: directory))/process\(process).json"
  }

  private static func folder(in directory: String) -> String { "\(directory)/credentials" }

  /// The user IDs of the accounts that exist.
  package var uids: [String] { accounts.compactMap(\.uid) }

  /// Creates an account for every user and for every terminal.
  ///
  /// - Returns: The user IDs of the users, without those of the terminals.
  /// - Throws: ``SwarmProblem`` or `AuthError`; accounts created by then still have to be deleted.
  package func make(for settings: SwarmSettings, terminals: Int) async throws -> [String] {
    for process in 0..<settings.processes {
      let file = Self.credentialFile(ofProcess: process, in: directory)
      for user in settings.users(ofProcess: process) {
        accounts.append(try account(SwarmSettings.name(user), in: file))
      }
    }
    let users = accounts
    for number in 0..<terminals {
      let home = SwarmTerminals.home(number, in: directory)
      accounts.append(
        try account(SwarmTerminals.name(number), in: "\(home)/.local/state/hearth/credentials.json")
      )
    }
    try await signUp()
    for terminal in accounts.dropFirst(users.count) { try await terminal.writeName() }
    return users.compactMap(\.uid)
  }

  private func account(_ name: String, in file: String) throws -> SwarmAccount {
    try SwarmAccount(name, ofRun: run, at: database, file: file)
  }

  private func signUp() async throws {
    let time = Self.patience.once + Self.patience.each * accounts.count
    let deadline = Moment.now.advanced(by: .seconds(time))
    let task = Task { [accounts, isOver] in
      await Self.each(accounts) { account in
        try await account.signUp(until: deadline) { !isOver.withLockedValue(\.self) }
      }
    }
    signingUp = task
    let failures = await task.value
    guard let failure = failures.first?.error else { return }
    switch (failure as? AuthError)?.kind {
    case .tooManyRequests?:
      throw SwarmProblem(
        """
        the server takes no more accounts for now, after \(uids.count) of \(accounts.count) \
        (TOO_MANY_ATTEMPTS_TRY_LATER): hearth serve takes 100 in a row from one address and then \
        one a second, the hosted service 100 an hour
        """
      )
    case .adminRestrictedOperation?, .operationNotAllowed?:
      throw SwarmProblem("the server lets nobody make an account with an address and a password")
    case _: throw failure
    }
  }

  /// Deletes all accounts that were created, and their sessions.
  ///
  /// - Returns: The addresses of the accounts that could not be deleted, and the first reason.
  package func delete() async -> (emails: [String], reason: String) {
    // An account that is still being created can only be deleted afterwards.
    isOver.withLockedValue { $0 = true }
    _ = await signingUp?.value
    let failures = await Self.each(accounts) { try await $0.delete() }
    accounts = failures.map(\.account)
    try? FileManager.default.removeItem(atPath: Self.folder(in: directory))
    return (accounts.map(\.email), failures.first.map { "\($0.error)" } ?? "")
  }

  /// Runs a closure for each account, a few at a time, and returns the failures.
  private static func each(
    _ accounts: [SwarmAccount],
    do body: @escaping @Sendable (SwarmAccount) async throws -> Void
  ) async -> [Failure] {
    await withTaskGroup(of: (SwarmAccount, (any Error)?).self) { group in
      var failures: [Failure] = []
      var rest = accounts[...]
      func begin() {
        guard let account = rest.popFirst() else { return }
        group.addTask {
          do {
            try await body(account)
            return (account, nil)
          } catch {
            return (account, error)
          }
        }
      }
      for _ in 0..<width { begin() }
      for await (account, error) in group {
        if let error { failures.append((account, error)) }
        begin()
      }
      return failures
    }
  }
}

/// The account of one user of a run, with the credentials needed to delete it.
struct SwarmAccount: Sendable {
  let name: String
  /// The account's address, which no mail can reach.
  let email: String
  private let password: String
  private let auth: Auth

  /// The pauses between attempts while the server accepts no more accounts.
  private static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(8))
  /// The number of characters in a password, each one of 64.
  private static let passwordLength = 24

  /// Describes an account that does not exist yet, and the file of its session.
  init(_ name: String, ofRun run: String, at database: SwarmDatabase, file: String) throws {
    self.name = name
    email = "\(name).\(run)@example.invalid"
    password = Self.newPassword()
    // Starts signed out: the file may hold the sessions of other users.
    auth = try Auth(database.sessions(in: file, of: ""))
  }

  /// The user ID; nil before the account is created.
  var uid: String? { auth.currentUser?.uid }

  /// Creates the account; retries while the server limits new accounts or does not answer in time.
  func signUp(until deadline: Moment, while isWanted: () -> Bool) async throws {
    var pause = Self.pauses.first
    while true {
      guard isWanted() else { throw CancellationError() }
      do {
        try await auth.createUser(withEmail: email, password: password)
        return
      } catch let error as AuthError where error.kind == .emailAlreadyInUse {
        // Nobody else uses this address: the response to an earlier request was lost.
        try await auth.signIn(withEmail: email, password: password)
        return
      } catch let error as AuthError
        where error.kind == .tooManyRequests || error.kind == .networkError
      {
        guard Moment.now.advanced(by: pause) < deadline else { throw error }
        await Pause.lasting(pause)
        pause = min(pause * 2, Self.pauses.longest)
      }
    }
  }

  /// Writes the name into the account, as the sign-up screen does.
  func writeName() async throws {
    let request = auth.currentUser?.createProfileChangeRequest()
    request?.displayName = name
    try await request?.commitChanges()
  }

  func delete() async throws {
    if let user = auth.currentUser, (try? await user.delete()) != nil { return }
    // The session is too old to delete the account, or the response to the first request was lost.
    do {
      try await auth.signIn(withEmail: email, password: password)
    } catch let error as AuthError
      where error.kind == .invalidCredential || error.kind == .userNotFound
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

extension SwarmDatabase {
  /// The certificates that clients trust.
  var clientTrust: DatabaseOptions.TrustRoots { caFile.map { .file($0) } ?? .system }

  /// The configuration that keeps the session of an account in a file.
  func sessions(in file: String, of account: String) -> AuthConfiguration {
    var configuration = AuthConfiguration(databaseURL: url, apiKey: apiKey)
    configuration.trustRoots = clientTrust
    configuration.persistence = .file(file)
    configuration.account = account
    return configuration
  }
}

/// Identifies a user of a swarm by an unsigned token, which an emulator accepts.
struct EmulatorTokens: DatabaseTokenProvider {
  private let uid: String

  init(uid: String) {
    self.uid = uid
  }

  var userID: String? { uid }

  func token(forcingRefresh isForced: Bool) async throws -> DatabaseToken? {
    let header: JSONFields = ["alg": "none", "typ": "JWT"]
    let claims: JSONFields = ["sub": uid, "user_id": uid, "iat": 0, "exp": 4_102_444_800]
    let parts = [header, claims].map { Base64URL.encode($0.object.text.utf8) }
    return DatabaseToken(userID: uid, text: "\(parts[0]).\(parts[1]).")
  }

  func observeTokens(
    _ block: @escaping @Sendable (DatabaseToken?) -> Void
  ) -> DatabaseTokenObservation {
    DatabaseTokenObservation {}
  }
}
