internal import RealtimeTransport

/// The addresses that a server listens at, and its settings.
public struct ServerOptions: Sendable {
  /// The path of a Unix socket to listen at, to which only processes of the same user can connect.
  ///
  /// These processes are administrators.
  public var socketPath: String?
  /// The port to listen at; 0 lets the system choose one.
  public var port: Int?
  /// The address of this machine that ``port`` is bound to; `0.0.0.0` and `::` mean all of them.
  ///
  /// If other machines can reach it, ``tls`` or ``allowsPlaintext`` must be set.
  public var host = "127.0.0.1"
  /// The certificate for connections to ``port``; nil means no encryption.
  public var tls: TLS?
  /// Whether other machines may connect without encryption.
  ///
  /// Anyone on the network between them can then read and change what is sent, credentials
  /// included.
  public var allowsPlaintext = false
  /// The default database, for clients that name none: 1 to 63 small letters, digits and hyphens.
  public var namespace: String
  /// What clients other than administrators may do while a database has no rules of its own.
  public var rules: Rules
  /// The rules for clients at the socket that name the user they act for, instead of the
  /// database's.
  package var localRules = RuleSet.open
  /// Whether the server acts as the Firebase emulator.
  ///
  /// It then believes every credential, creates databases on first use, and allows everything until
  /// a database has rules of its own.
  public private(set) var isEmulator = false
  /// The accounts and tokens of the server's users.
  public var identities = IdentityOptions()
  /// Verifies credentials, instead of the default verifier.
  package var credentialVerifier: (any CredentialVerifier)?
  /// The origins of web pages that may use the server, such as `http://localhost:5173`; others are
  /// refused.
  public var allowedOrigins: [String] = []
  /// The names at which clients reach the server, apart from those of this machine.
  ///
  /// A server that only this machine can reach refuses requests that name another host, unless they
  /// name an address. Web pages of these hosts may use the server.
  public var allowedHosts: [String] = []
  /// Serves web pages from the default database to readers who have not signed in; nil serves none.
  package var pages: (any PageSource)?
  /// The version of the program, for the metrics.
  public var version = ""
  /// How often metrics are logged; nil means never.
  public var metricsInterval: Duration?
  /// The host of the proxy through which clients reach the server, for the greeting; or, where
  /// several servers share a storage, the host at which the others reach this one.
  ///
  /// It includes the port, unless that is the default one. With ``redirectsClients``, clients reach
  /// this server there as well; if the name then begins with `s-`, Firebase clients for JavaScript
  /// fall back to the original address when this host disappears.
  public var advertisedHost: String?
  /// Whether clients are sent to the server that leads their database, where several share a
  /// storage; otherwise this server forwards to that one what they say.
  public var redirectsClients = false
  /// The timing of leases, where several servers share a storage.
  package var leadership = LeaseTiming()
  /// How long the server runs without connections before it stops; nil means it never stops for
  /// that.
  public var idleExit: Duration?
  /// The bounds on what clients may ask for.
  public var limits: ServerLimits

  /// Makes options; at least one of the socket and the port must be given.
  public init(
    socketPath: String? = nil,
    port: Int? = nil,
    namespace: String = "hearth",
    rules: Rules = .locked,
    idleExit: Duration? = nil,
    limits: ServerLimits = ServerLimits()
  ) {
    self.socketPath = socketPath
    self.port = port
    self.namespace = namespace
    self.rules = rules
    self.idleExit = idleExit
    self.limits = limits
  }

  /// Options of a server that acts as the Firebase emulator.
  ///
  /// Any client that reaches its port can do everything with its data.
  public static func emulator(port: Int = 9_000) -> ServerOptions {
    var options = ServerOptions(port: port, rules: .open)
    options.isEmulator = true
    return options
  }

  /// The certificate and key files that encrypt a server's connections.
  public struct TLS: Hashable, Sendable {
    /// A PEM file with the server's certificate, followed by its intermediate certificates.
    public var certificateChain: String
    /// A PEM file with the certificate's key, without a passphrase.
    ///
    /// A file that other users can read is refused.
    public var privateKey: String
    /// A PEM file with the authority of the other servers' certificates, where several share a
    /// storage; nil for the authorities that the system trusts.
    public var authority: String?

    /// Names the files.
    public init(certificateChain: String, privateKey: String, authority: String? = nil) {
      self.certificateChain = certificateChain
      self.privateKey = privateKey
      self.authority = authority
    }
  }

  /// Security rules that a server starts with.
  ///
  /// A document takes effect at the start and replaces the rules of the default database. The other
  /// two apply to databases that have no rules of their own.
  public enum Rules: Sendable, Hashable {
    /// Only administrators are allowed anything.
    case locked
    /// Everything is allowed to everyone.
    case open
    /// The text of a rules document, for the default database.
    case source(String)
  }
}

extension ServerOptions {
  func validate() throws(DatabaseServerError) {
    guard socketPath != nil || port != nil else {
      throw .invalid("a server needs a socket or a port to listen on")
    }
    if let port, !(0...65_535).contains(port) {
      throw .invalid("\(port) is not a port")
    }
    try checkExposure()
    guard DatabaseName.isValid(namespace) else {
      throw .invalid("\"\(namespace)\" cannot name a database: only \(DatabaseName.rule) can")
    }
    for origin in allowedOrigins where !RequestPolicy.isOrigin(origin) {
      throw .invalid("\"\(origin)\" is not the origin of a web page, such as http://localhost:5173")
    }
    for host in allowedHosts + [advertisedHost].compactMap(\.self)
    where !RequestPolicy.isOrigin("http://\(host)") {
      throw .invalid(
        "\"\(host)\" is not a host with or without a port, such as s-1.example.org:9000"
      )
    }
    _ = try rules.compiled()
    try identities.validate()
    try limits.validate()
  }

  /// Whether other machines can reach this server.
  package var isPublic: Bool { port != nil && !ListenAddress.isLoopback(host) }

  /// Whether traffic between this server and other machines can be read in transit.
  package var isExposed: Bool { isPublic && tls == nil }

  /// Checks that the host has neither brackets nor a port, as in a URL, and is not blank.
  ///
  /// - Throws: ``DatabaseServerError`` of kind `invalidOptions`.
  package func checkHost() throws(DatabaseServerError) {
    let isHost = !host.contains { $0.isWhitespace || "[]/".contains($0) }
    guard !host.isEmpty, isHost, host.count(where: { $0 == ":" }) != 1 else {
      throw .invalid(
        "\"\(host)\" is not an address of this machine, such as 0.0.0.0 or ::1, without brackets "
          + "and port"
      )
    }
  }

  /// Checks that nothing that is only safe locally is exposed to other machines.
  ///
  /// - Throws: ``DatabaseServerError`` of kind `invalidOptions`.
  package func checkExposure() throws(DatabaseServerError) {
    if port == nil, tls != nil { throw .invalid("a certificate requires a port") }
    guard isPublic else { return }
    try checkHost()
    guard !isEmulator else {
      throw .invalid(
        "an emulator accepts every credential, so it must listen on this machine only, "
          + "not on \(host)"
      )
    }
    guard !isExposed || allowsPlaintext else {
      throw .invalid(
        "other machines can reach \(host), so connections must be encrypted: set a "
          + "certificate and its key, or explicitly allow plaintext"
      )
    }
  }
}

extension IdentityOptions {
  private static let lifetimes = Duration.seconds(1)...Duration.seconds(86_400)

  func validate() throws(DatabaseServerError) {
    guard Self.lifetimes.contains(tokenLifetime) else {
      throw .invalid("a token must be valid for a second to a day, not \(tokenLifetime)")
    }
    if let administratorKey, AdministratorKey(administratorKey) == nil {
      throw .invalid(
        "the administrators' key must be \(AdministratorKey.minimumBytes) or more visible "
          + "characters"
      )
    }
  }
}

package enum DatabaseName {
  /// The database of the blog, which is also the default database.
  package static let standard = "hearth"

  /// A description of valid names, for messages.
  package static let rule = "1 to 63 lowercase letters, digits and hyphens"

  /// Whether a text is a valid name of a database.
  ///
  /// A valid name is also safe as a file name.
  package static func isValid(_ name: String) -> Bool {
    (1...63).contains(name.utf8.count)
      && name.unicodeScalars.allSatisfy {
        ("a"..."z").contains($0) || ("0"..."9").contains($0) || $0 == "-"
      }
  }
}

extension ServerOptions.Rules {
  /// The compiled document, or nil when there is none; an error has line and column of a mistake.
  func compiled() throws(DatabaseServerError) -> RuleSet? {
    guard case .source(let source) = self else { return nil }
    do throws(RulesError) {
      return try RuleSet(source: source)
    } catch {
      throw DatabaseServerError(
        .invalidRules,
        description: "\(error.line):\(error.column): \(error.message)"
      )
    }
  }
}
