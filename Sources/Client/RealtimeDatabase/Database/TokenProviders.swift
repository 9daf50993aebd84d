internal import NIOConcurrencyHelpers
package import RealtimeTransport

/// Connects databases with the token providers that are registered for them.
///
/// The original matches them by the name of an app. Here they share the address and the name of the
/// database, so nothing else needs to be configured.
package enum TokenProviders {
  private struct Table {
    var providers: [String: any DatabaseTokenProvider] = [:]
    var repos: [String: [WeakRepo]] = [:]
  }

  private struct WeakRepo {
    weak var repo: Repo?
  }

  // Databases and providers are created independently of each other: one table serves the process.
  private static let table = NIOLockedValueBox(Table())

  /// Makes all databases at an address, present and future, use a provider, which is retained.
  package static func register(_ provider: any DatabaseTokenProvider, for identity: String) {
    let repos = table.withLockedValue { table in
      table.providers[identity] = provider
      return table.repos[identity, default: []].compactMap(\.repo)
    }
    for repo in repos { repo.useTokens(of: provider) }
  }

  /// Makes a database use the provider that is registered for it, now or later.
  static func attach(_ repo: Repo, as identity: String) {
    let provider = table.withLockedValue { table in
      table.repos[identity, default: []].removeAll { $0.repo == nil }
      table.repos[identity, default: []].append(WeakRepo(repo: repo))
      return table.providers[identity]
    }
    if let provider { repo.useTokens(of: provider) }
  }
}

extension ConnectionTarget {
  /// The address and the name of a database, as a key for looking up what belongs to it.
  package var identity: String { "\(self)?ns=\(namespace ?? "")" }
}
