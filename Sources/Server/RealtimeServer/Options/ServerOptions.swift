package import RealtimeHub
internal import RealtimeTransport
package import SecurityRules

/// Where a server listens, and as what.
public struct ServerOptions: Sendable {
  /// The path of a Unix socket to listen at; only processes of the same user may connect to it.
  ///
  /// They are administrators.
  public var socketPath: String?
  /// The port to listen at; 0 lets the system choose one.
  public var port: Int?
  /// The address of this machine that ``port`` belongs to; `0.0.0.0` and `::` are all of them.
  ///
  /// Unless other machines cannot reach it, ``tls`` or ``allowsPlaintext`` must be set.
  public var host = "127.0.0.1"
  /// What the connections to ``port`` are encrypted with; nil for nothing.
  public var tls: TLS?
  /// Whether other machines may connect without encryption, so that everyone in between can read
  /// and change what is sent, credentials included.
  public var allowsPlaintext = false
  /// The database that clients reach who name none: 1 to 63 small letters, digits and hyphens.
  public var namespace: String
  /// What others than administrators may do while a database has no rules of its own.
  public var rules: Rules
  /// The rules for those at the socket who say which user they are, in place of the database's.
  package var localRules = RuleSet.open
  /// Whether the server stands in for the emulator: it believes every credential, makes databases
  /// when they are first used, and allows everything until a database has rules of its own.
  public private(set) var isEmulator = false
  /// The accounts and tokens of the server's users.
  public var identities = IdentityOptions()
  /// Verifies credentials, instead of the verifier that this kind of server has.
  package var credentialVerifier: (any CredentialVerifier)?
  /// The web pages that may use the server, such as `http://localhost:5173`; others are refused.
  public var allowedOrigins: [String] = []
  /// Pages for readers who have not signed in, made of the default database; nil for none.
  package var pages: (any PageSource)?
  /// How often the log tells what the server has done; nil for never.
  public var metricsInterval: Duration?
  /// The host, and the port unless it is the usual one, under which clients reach this server and no
  /// other, where several share a storage.
  ///
  /// Clients of others fall back to the address that they know when such a host disappears, if its
  /// name begins with `s-`.
  public var advertisedHost: String?
  /// The pace of leases, where several servers share a storage.
  package var leadership = LeaseTiming()
  /// How long nobody may be connected before the server stops by itself; nil for ever.
  public var idleExit: Duration?
  /// The bounds of what clients may ask for.
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

  /// Options of a server that stands in for the emulator.
  ///
  /// Whoever reaches its port can do everything with its data.
  public static func emulator(port: Int = 9_000) -> ServerOptions {
    var options = ServerOptions(port: port, rules: .open)
    options.isEmulator = true
    return options
  }

  /// The files that encrypt the connections of a server.
  public struct TLS: Hashable, Sendable {
    /// A PEM file: the certificate of the server, then those that lead to its authority.
    public var certificateChain: String
    /// A PEM file with the key of the certificate, without a pass phrase.
    ///
    /// A file that others can read is refused.
    public var privateKey: String

    /// Names the files.
    public init(certificateChain: String, privateKey: String) {
      self.certificateChain = certificateChain
      self.privateKey = privateKey
    }
  }

  /// Security rules that a server starts with.
  ///
  /// A document is put in force at the start, in place of what the database has; the other two are
  /// for databases that have no rules of their own.
  public enum Rules: Sendable, Hashable {
    /// Nothing is allowed to anyone but administrators.
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
      throw DatabaseServerError(
        .invalidOptions,
        description: "a server needs a socket or a port to listen at"
      )
    }
    if let port, !(0...65_535).contains(port) {
      throw DatabaseServerError(.invalidOptions, description: "\(port) is not a port")
    }
    try checkExposure()
    guard DatabaseName.isValid(namespace) else {
      throw DatabaseServerError(
        .invalidOptions,
        description: "\"\(namespace)\" cannot name a database: only \(DatabaseName.rule) can"
      )
    }
    for origin in allowedOrigins where !RequestPolicy.isOrigin(origin) {
      throw DatabaseServerError(
        .invalidOptions,
        description: "\"\(origin)\" is not the origin of a web page, such as http://localhost:5173"
      )
    }
    if let advertisedHost, !RequestPolicy.isOrigin("http://\(advertisedHost)") {
      throw DatabaseServerError(
        .invalidOptions,
        description:
          "\"\(advertisedHost)\" is not a host with or without a port, such as s-1.example.org:9000"
      )
    }
    _ = try rules.compiled()
    try identities.validate()
    try limits.validate()
  }

  /// Whether others can read what is sent between a client on another machine and the server.
  package var isExposed: Bool {
    port != nil && tls == nil && !ListenAddress.isLoopback(host)
  }

  /// Checks that nothing is exposed to other machines that is only safe on this one.
  ///
  /// - Throws: ``DatabaseServerError`` of kind `invalidOptions`.
  package func checkExposure() throws(DatabaseServerError) {
    guard port != nil else {
      guard tls == nil else {
        throw DatabaseServerError(
          .invalidOptions,
          description: "a certificate is of use only with a port"
        )
      }
      return
    }
    guard !ListenAddress.isLoopback(host) else { return }
    guard !isEmulator else {
      throw DatabaseServerError(
        .invalidOptions,
        description:
          "an emulator believes every credential, so it listens on this machine only, "
          + "not at \(host)"
      )
    }
    guard !isExposed || allowsPlaintext else {
      throw DatabaseServerError(
        .invalidOptions,
        description:
          "other machines can reach \(host), so connections must be encrypted: it takes a "
          + "certificate and its key, or the explicit wish to do without"
      )
    }
  }
}

extension IdentityOptions {
  private static let lifetimes = Duration.seconds(1)...Duration.seconds(86_400)

  func validate() throws(DatabaseServerError) {
    guard Self.lifetimes.contains(tokenLifetime) else {
      throw DatabaseServerError(
        .invalidOptions,
        description: "tokens must count for a second to a day, not \(tokenLifetime)"
      )
    }
    if let administratorKey, AdministratorKey(administratorKey) == nil {
      throw DatabaseServerError(
        .invalidOptions,
        description:
          "the administrators' key must be \(AdministratorKey.minimumBytes) or more visible "
          + "characters"
      )
    }
  }
}

/// The names that databases can have.
package enum DatabaseName {
  /// The database of the blog, and the one that a server opens for clients that name none.
  package static let standard = "hearth"

  /// What a valid name consists of, for messages.
  package static let rule = "1 to 63 small letters, digits and hyphens"

  /// Whether a text can name a database.
  ///
  /// Such a name is also safe as the name of a file.
  package static func isValid(_ name: String) -> Bool {
    (1...63).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}

extension ServerOptions {
  /// The rules of a database that has none of its own.
  var initialRules: RuleSet {
    switch rules {
    case .open: .open
    case .locked, .source: .closed
    }
  }
}

extension ServerOptions.Rules {
  /// The compiled document, or nil when there is none.
  ///
  /// - Throws: ``DatabaseServerError`` with the line and the column of a mistake.
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
