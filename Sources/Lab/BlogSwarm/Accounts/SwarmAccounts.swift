private import BlogChecker
private import Foundation
private import NIOConcurrencyHelpers
internal import RealtimeAuth

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
        accounts.append(try account(SwarmSettings.name(user), file))
      }
    }
    let users = accounts
    for number in 0..<terminals {
      let home = SwarmTerminals.home(number, in: directory)
      accounts.append(
        try account(SwarmTerminals.name(number), "\(home)/.local/state/hearth/credentials.json")
      )
    }
    try await signUp()
    for terminal in accounts.dropFirst(users.count) { try await terminal.writeName() }
    return users.compactMap(\.uid)
  }

  private func account(_ name: String, _ file: String) throws -> SwarmAccount {
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
    // What is just being made could not be deleted before it is there.
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
    _ body: @escaping @Sendable (SwarmAccount) async throws -> Void
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
