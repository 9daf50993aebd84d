internal import NIOConcurrencyHelpers

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
