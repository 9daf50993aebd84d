internal import NIOConcurrencyHelpers
internal import RealtimeTransport

/// Who signs in to which databases, so that a database finds its provider and the other way round.
///
/// The original finds both by the name of an app. Here it is the address and the name of the database
/// that they have in common, since nothing else needs to be configured.
package enum TokenProviders {
  private struct Table {
    var providers: [String: any DatabaseTokenProvider] = [:]
    var repos: [String: [WeakRepo]] = [:]
  }

  private struct WeakRepo {
    weak var repo: Repo?
  }

  // The two sides are made independently of each other, so that one table per process is needed.
  private static let table = NIOLockedValueBox(Table())

  /// Has all databases of an address, those of now and those to come, use a provider.
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

  /// Has a database use what is or will be registered for it.
  static func attach(_ repo: Repo, as identity: String) {
    let provider = table.withLockedValue { table in
      table.repos[identity, default: []].removeAll { $0.repo == nil }
      table.repos[identity, default: []].append(WeakRepo(repo: repo))
      return table.providers[identity]
    }
    if let provider { repo.useTokens(of: provider) }
  }
}
