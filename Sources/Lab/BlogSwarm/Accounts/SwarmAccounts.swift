import BlogChecker
private import Foundation
private import NIOConcurrencyHelpers
import RealtimeAuth
private import RealtimeCore
package import RealtimeDatabase

/// The accounts of a run at a database that wants some: made before it and deleted after it.
///
/// Passwords never leave the memory of the driver. Its processes of clients go on with the sessions
/// that it has begun, which rest in files of the run's directory that nobody else can read.
package actor SwarmAccounts {
  /// Accounts that cannot be made.
  package struct Problem: Error, Hashable, CustomStringConvertible {
    /// Why.
    package let description: String
  }

  /// How many are made or deleted at once.
  private static let width = 4
  /// How long making them may take: a while, and more for each.
  private static let patience = (once: 60, each: 2)

  private let database: SwarmDatabase
  private let directory: String
  private let run: String
  private var accounts: [SwarmAccount] = []
  /// Whether accounts are made only to be deleted.
  private let isOver = NIOLockedValueBox(false)
  private var signingUp: Task<[Failure], Never>?

  private typealias Failure = (account: SwarmAccount, error: any Error)

  /// Describes the accounts of a run.
  ///
  /// - Parameters:
  ///   - run: What tells the accounts of this run from those of others: small letters and digits.
  ///   - database: The database.
  ///   - directory: The directory of the run.
  package init(ofRun run: String, at database: SwarmDatabase, in directory: String) {
    self.run = run
    self.database = database
    self.directory = directory
  }

  /// The file with the sessions of the users of a process.
  package static func credentialFile(ofProcess process: Int, in directory: String) -> String {
    "\(folder(in: directory))/process\(process).json"
  }

  private static func folder(in directory: String) -> String { "\(directory)/credentials" }

  /// Who has an account.
  package var uids: [String] { accounts.compactMap(\.uid) }

  /// Makes an account for every user and for every terminal.
  ///
  /// - Parameters:
  ///   - settings: What the run is to be.
  ///   - terminals: How many terminals look on.
  /// - Returns: Who the users are.
  /// - Throws: ``Problem`` or `AuthError`; the accounts that were made by then are yet to be deleted.
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
    switch (failure as? AuthError)?.code {
    case .tooManyRequests?:
      throw Problem(
        description: """
          the server takes no more accounts for now, after \(uids.count) of \(accounts.count) \
          (TOO_MANY_ATTEMPTS_TRY_LATER): hearth serve takes 100 in a row from one address and then \
          one a second, the hosted service 100 an hour
          """
      )
    case .adminRestrictedOperation?, .operationNotAllowed?:
      throw Problem(
        description: "the server lets nobody make an account with an address and a password"
      )
    case _: throw failure
    }
  }

  /// Deletes all accounts that were made, and the sessions with them.
  ///
  /// - Returns: The addresses of those that could not be deleted, with the first reason.
  package func delete() async -> (emails: [String], reason: String) {
    // An account that is just being created can be deleted only afterwards.
    isOver.withLockedValue { $0 = true }
    _ = await signingUp?.value
    let failures = await Self.each(accounts) { try await $0.delete() }
    accounts = failures.map(\.account)
    try? FileManager.default.removeItem(atPath: Self.folder(in: directory))
    return (accounts.map(\.email), failures.first.map { "\($0.error)" } ?? "")
  }

  /// Does something for each account, a few at a time, and tells for which of them it failed.
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

/// The account of a user of a run, with the credentials to delete it again.
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
    // Nobody is signed in: others may have their sessions in the same file.
    configuration.account = ""
    auth = try Auth(configuration)
  }

  /// Who it is; nil before the account is made.
  var uid: String? { auth.currentUser?.uid }

  /// Creates the account, and tries again while the server limits new accounts or does not answer in time.
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
      } catch let error as AuthError where error.code == .emailAlreadyInUse {
        // Nobody else has this address: the answer to the request before was lost.
        try await auth.signIn(withEmail: email, password: password)
        return
      } catch let error as AuthError
        where error.code == .tooManyRequests || error.code == .networkError
      {
        guard Moment.now.advanced(by: pause) < deadline else { throw error }
        await Pause.lasting(pause)
        pause = min(pause * 2, Self.pauses.longest)
      }
    }
  }

  /// Writes the name into the account, as signing up at a screen does.
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

/// Identifies a user of a swarm by an unsigned token, which an emulator accepts.
package struct EmulatorTokens: DatabaseTokenProvider {
  private let uid: String

  /// Makes the tokens of one user.
  package init(uid: String) {
    self.uid = uid
  }

  package var userID: String? { uid }

  /// The token.
  ///
  /// - Throws: Nothing.
  package func token(forcingRefresh isForced: Bool) async throws -> DatabaseToken? {
    let header = JSONValue.object(("alg", .string("none")), ("typ", .string("JWT")))
    let claims = JSONValue.object(
      ("sub", .string(uid)),
      ("user_id", .string(uid)),
      ("iat", .integer(0)),
      ("exp", .integer(4_102_444_800))
    )
    return DatabaseToken(userID: uid, text: "\(Self.part(header)).\(Self.part(claims)).")
  }

  package func observeTokens(
    _ block: @escaping @Sendable (DatabaseToken?) -> Void
  ) -> DatabaseTokenObservation {
    DatabaseTokenObservation {}
  }

  /// A part of a token: JSON in the alphabet of URLs, without padding.
  private static func part(_ json: JSONValue) -> String {
    String(
      Base64.encode(Array(json.text.utf8)).compactMap { digit -> Character? in
        switch digit {
        case "+": "-"
        case "/": "_"
        case "=": nil
        default: digit
        }
      }
    )
  }
}
