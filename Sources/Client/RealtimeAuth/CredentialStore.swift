internal import Foundation
internal import NIOConcurrencyHelpers

/// Stores users' credentials between runs of a program, by server.
///
/// The calls may read and write files, and may come from any thread.
protocol CredentialStore: Sendable {
  /// Reads the credentials.
  ///
  /// - Throws: ``AuthError`` of kind `keychainError`.
  func read() throws(AuthError) -> CredentialBook

  /// Changes the credentials, which nobody else changes meanwhile.
  ///
  /// - Throws: ``AuthError`` of kind `keychainError`.
  func change(_ body: (inout CredentialBook) -> Void) throws(AuthError)

  /// Waits until no other process is refreshing an account's tokens; stops waiting after some time.
  ///
  /// - Returns: This process's turn, which ends when it is released.
  func refreshTurn(uid: String, of server: String) async -> RefreshTurn

  /// Whether other processes may change the store.
  var isShared: Bool { get }
}

/// This process's turn to refresh an account's tokens, which ends on release.
final class RefreshTurn: Sendable {
  private let descriptor: Int32

  /// A turn that does not exclude other processes.
  static let unshared = RefreshTurn(descriptor: -1)

  /// Makes a turn from the descriptor of a file that this process has locked.
  init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }
}

/// Stores credentials in memory, until the process ends.
final class MemoryCredentials: CredentialStore {
  private let book = NIOLockedValueBox(CredentialBook())

  let isShared = false

  func read() -> CredentialBook { book.withLockedValue(\.self) }

  func change(_ body: (inout CredentialBook) -> Void) { book.withLockedValue { body(&$0) } }

  func refreshTurn(uid: String, of server: String) async -> RefreshTurn { .unshared }
}

/// A user who is signed in on this machine, without the tokens.
package struct KeptAccount: Hashable, Sendable {
  /// The address and the name of the database.
  package let server: String
  package let uid: String
  /// The email address, or nil for guests.
  package let email: String?
  package let displayName: String?
}
