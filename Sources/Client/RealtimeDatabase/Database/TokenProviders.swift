internal import NIOConcurrencyHelpers
package import RealtimeTransport

/// Matches databases with the token providers that are registered for them.
///
/// The original finds both by the name of an app. Here they share the address and the name of the
/// database, so that nothing else needs to be configured.
package enum TokenProviders {
  private struct Table {
    var providers: [String: any DatabaseTokenProvider] = [:]
    var repos: [String: [WeakRepo]] = [:]
  }

  private struct WeakRepo {
    weak var repo: Repo?
  }

  // The two sides are created independently of each other, which takes one table per process.
  private static let table = NIOLockedValueBox(Table())

  /// Makes all databases of an address, present and future, use a provider.
  ///
  /// - Parameters:
  ///   - provider: The provider, which is kept until the process ends.
  ///   - identity: What ``Database/identity`` is for the databases.
  package static func register(_ provider: any DatabaseTokenProvider, for identity: String) {
    let repos = table.withLockedValue { table in
      table.providers[identity] = provider
      return table.repos[identity, default: []].compactMap(\.repo)
    }
    for repo in repos { repo.useTokens(of: provider) }
  }

  /// Makes a database use the provider that is, or will be, registered for it.
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
  /// The address and the name of a database, by which things that belong to it are found.
  package var identity: String { "\(self)?ns=\(namespace ?? "")" }
}
