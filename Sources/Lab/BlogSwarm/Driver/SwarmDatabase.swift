package import RealtimeTransport

/// A database that is there already, and the ways into it.
package struct SwarmDatabase: Sendable {
  /// The URL, as it was given.
  package let url: String
  /// Where it is.
  package let target: ConnectionTarget
  /// The secret of its administrators; nil at a local socket and at an emulator, which need none.
  package var administratorKey: String?
  /// The key of its project, which the hosted service wants of people who sign in.
  package var apiKey: String?
  /// The file of the certificates to believe in place of the system's.
  package var caFile: String?

  /// Names a database.
  ///
  /// - Throws: `DatabaseURLError` for a URL that is none of a database.
  package init(_ url: String) throws(DatabaseURLError) {
    self.url = url
    target = try DatabaseURL(url).target
  }

  /// Whether people have accounts there, so that nobody is believed without one.
  package var hasAccounts: Bool { administratorKey != nil }

  /// Whether it is at a socket of this machine, where everybody is an administrator.
  package var isAtSocket: Bool {
    if case .unix = target.endpoint { true } else { false }
  }

  /// Whether it is a database of the hosted service.
  package var isHosted: Bool { IdentityService(of: target) == .hosted }

  /// The way to it as its administrator.
  package var door: AdministratorDoor {
    AdministratorDoor(target, key: administratorKey, trust: trust)
  }

  /// Whose certificates are believed.
  var trust: TrustRoots { caFile.map { .file($0) } ?? .system }
}
