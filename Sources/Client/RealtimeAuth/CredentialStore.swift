internal import Foundation
internal import NIOConcurrencyHelpers

/// Keeps the credentials of users between runs of a program, by server.
///
/// The calls read and write files, and may come from any thread.
protocol CredentialStore: Sendable {
  /// The accounts of a server, the latest to sign in first.
  ///
  /// - Throws: ``AuthError`` of code `keychainError`.
  func accounts(of server: String) throws(AuthError) -> [Account]

  /// Keeps an account, replacing an earlier version of it.
  ///
  /// - Parameters:
  ///   - account: The account.
  ///   - server: Its server.
  ///   - isNew: Whether the user has just signed in; otherwise an account that is gone stays gone.
  /// - Throws: ``AuthError`` of code `keychainError`.
  func save(_ account: Account, of server: String, isNew: Bool) throws(AuthError)

  /// Forgets an account.
  ///
  /// - Throws: ``AuthError`` of code `keychainError`.
  func remove(uid: String, of server: String) throws(AuthError)

  /// Waits until no other process is refreshing the tokens of an account, or one takes too long.
  ///
  /// - Returns: The turn of this process, which ends when it is released.
  func refreshTurn(uid: String, of server: String) async -> RefreshTurn

  /// Whether other processes may change the store.
  var isShared: Bool { get }
}

/// The right of this process to refresh the tokens of an account, until it is dropped.
final class RefreshTurn: Sendable {
  private let descriptor: Int32

  /// A turn that no other process takes part in.
  static let unshared = RefreshTurn(descriptor: -1)

  /// Makes a turn of a file that this process has locked.
  init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }
}

/// Keeps credentials as long as the process runs.
final class MemoryCredentials: CredentialStore {
  private let entries = NIOLockedValueBox([String: [Account]]())

  let isShared = false

  func accounts(of server: String) throws(AuthError) -> [Account] {
    entries.withLockedValue { $0[server] ?? [] }
  }

  func save(_ account: Account, of server: String, isNew: Bool) throws(AuthError) {
    entries.withLockedValue { entries in
      var accounts = entries[server] ?? []
      let place = accounts.firstIndex { $0.uid == account.uid }
      if let place { accounts.remove(at: place) }
      if isNew { accounts.insert(account, at: 0) }
      if !isNew, let place { accounts.insert(account, at: place) }
      entries[server] = accounts
    }
  }

  func remove(uid: String, of server: String) throws(AuthError) {
    entries.withLockedValue { $0[server, default: []].removeAll { $0.uid == uid } }
  }

  func refreshTurn(uid: String, of server: String) async -> RefreshTurn { .unshared }
}

/// A user who is signed in on this machine, without secrets.
package struct KeptAccount: Hashable, Sendable {
  /// The address and the name of the database.
  package let server: String
  /// The identifier.
  package let uid: String
  /// The email address, or nil for guests.
  package let email: String?
  /// The name that the user has chosen, or nil.
  package let displayName: String?
}
