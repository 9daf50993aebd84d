/// The hosts of the hosted service, as documented.
///
/// All that is particular to it is in this folder. The way its URLs are read (a name before the domain,
/// no port, always TLS) is ``DatabaseURL``'s, since private servers may be named in the same way.
package enum HostedService {
  /// Where databases without a region in their URL are: `NAME.firebaseio.com`.
  package static let databaseDomain = "firebaseio.com"
  /// Where databases with a region in their URL are: `NAME.REGION.firebasedatabase.app`.
  package static let regionalDatabaseDomain = "firebasedatabase.app"
  /// A domain that is often taken for that of databases.
  static let mistakenDomain = "firebase.com"

  /// The URL of the database that a project has unless it says otherwise.
  package static func defaultDatabase(ofProject id: String) -> String {
    "https://\(id)-default-rtdb.\(databaseDomain)"
  }

  /// Whether a host is the hosted service's: that of a database, or one of those it redirects to.
  package static func isDatabaseHost(_ host: String) -> Bool {
    [databaseDomain, regionalDatabaseDomain].contains { isHost(host, in: $0) }
  }

  /// Whether a host is a domain or in it.
  static func isHost(_ host: String, in domain: String) -> Bool {
    let host = host.lowercased()
    return host == domain || host.hasSuffix(".\(domain)")
  }

  /// The base URL of the accounts.
  static let accounts = "https://identitytoolkit.googleapis.com"
  /// The base URL of the exchange of tokens.
  static let tokens = "https://securetoken.googleapis.com"
}
