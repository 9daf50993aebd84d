internal import RealtimeCore

/// The URL of a database, or of a location in one.
///
/// The forms are `https://NS.firebaseio.com`, `https://NS.REGION.firebasedatabase.app`,
/// `http://HOST:PORT?ns=NS`, and `unix:/path/to/socket?ns=NS`. A location is written as a path
/// after a host, and as a fragment after a Unix socket: `unix:/path/to/socket#/a/b`.
package struct DatabaseURL: Hashable, Sendable, CustomStringConvertible {
  package let target: ConnectionTarget
  /// The keys of the location, unescaped; empty for the root.
  package let path: [String]

  /// Parses a URL.
  ///
  /// - Parameter text: The URL; the scheme defaults to `http` on this machine, else to `https`.
  /// - Throws: ``DatabaseURLError`` with the reason.
  package init(_ text: String) throws(DatabaseURLError) {
    if text[...].begins(with: "unix:") {
      self = try Self.unix(text)
    } else {
      self = try Self.network(text)
    }
  }

  private init(target: ConnectionTarget, path: [String]) {
    self.target = target
    self.path = path
  }

  /// The URL, escaped and without the namespace.
  package var description: String { target.url(at: path) }

  private static func unix(_ text: String) throws(DatabaseURLError) -> DatabaseURL {
    var rest = Substring(text.unicodeScalars.dropFirst("unix:".unicodeScalars.count))
    if rest.begins(with: "//") { rest = Substring(rest.unicodeScalars.dropFirst(2)) }
    let (beforeLocation, location) = rest.parted(at: "#")
    let (escaped, query) = beforeLocation.parted(at: "?")
    let path = PercentEncoding.decode(escaped) ?? String(escaped)
    guard path[...].begins(with: "/"), !path.utf8.contains(0) else {
      throw DatabaseURLError(text, reason: "the socket path must start with \"/\"")
    }
    // Two slashes at the start would be parsed as the start of a host.
    let socket = "/" + String(path.unicodeScalars.drop { $0 == "/" })
    let namespace = try namespace(in: query ?? "", of: text)
    return DatabaseURL(
      target: ConnectionTarget(unixSocket: socket, namespace: namespace),
      path: keys(of: location ?? "")
    )
  }

  private static func network(_ text: String) throws(DatabaseURLError) -> DatabaseURL {
    let (scheme, rest) = try split(text)
    let ends = "/?".unicodeScalars
    let authorityEnd = rest.unicodeScalars.firstIndex(where: ends.contains) ?? rest.endIndex
    guard let authority = Authority(rest[..<authorityEnd]) else {
      throw DatabaseURLError(text, reason: "\"\(rest[..<authorityEnd])\" is not a host")
    }
    // A "#" would cut off the path, perhaps unintentionally; keys never contain it.
    guard !rest.unicodeScalars.contains("#") else {
      throw DatabaseURLError(text, reason: "it must not contain \"#\"")
    }
    let (location, query) = rest[authorityEnd...].parted(at: "?")
    var namespace = try namespace(in: query ?? "", of: text)
    if namespace == nil { namespace = try subdomain(of: authority, in: text) }
    let isSecure: Bool
    if authority.port == nil {
      guard scheme == .https || !authority.isLoopback else {
        throw DatabaseURLError(
          text,
          reason: "a server on this machine needs a port, as in \(example)"
        )
      }
      isSecure = true
    } else {
      isSecure = scheme.map { $0 == .https } ?? !authority.isLoopback
    }
    #if !TLS
    guard !isSecure else {
      throw DatabaseURLError(description: "\"\(text)\" needs TLS, but \(TLSFailure.leftOut)")
    }
    #endif
    return DatabaseURL(
      target: ConnectionTarget(
        host: authority.host,
        port: authority.port ?? 443,
        isSecure: isSecure,
        namespace: namespace
      ),
      path: keys(of: location)
    )
  }

  private enum Scheme {
    case http
    case https
  }

  private static let example = "http://localhost:9000?ns=NAME"

  private static func split(
    _ text: String
  ) throws(DatabaseURLError) -> (scheme: Scheme?, rest: Substring) {
    var rest = text[...]
    guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
      return (nil, rest)
    }
    rest = text[colon...].dropFirst(3)
    switch text[..<colon].lowercased() {
    case "http", "ws": return (.http, rest)
    case "https", "wss": return (.https, rest)
    case let other:
      throw DatabaseURLError(
        text,
        reason: "the scheme must be http, https or unix, not \"\(other)\""
      )
    }
  }

  private static func subdomain(
    of authority: Authority,
    in text: String
  ) throws(DatabaseURLError) -> String? {
    if authority.isAddress || authority.host == "localhost" { return nil }
    let labels = authority.host.split(separator: ".")
    if HostedService.isHost(authority.host, in: HostedService.mistakenDomain) {
      throw DatabaseURLError(
        text,
        reason:
          "databases are at \(HostedService.databaseDomain), not at \(HostedService.mistakenDomain)"
      )
    }
    // DNS labels have at most 63 bytes.
    guard labels.count >= 3, labels[0].utf8.count <= 63 else {
      throw DatabaseURLError(text, reason: "it names no database; add one, as in \(example)")
    }
    return String(labels[0])
  }

  private static func namespace(
    in query: Substring,
    of text: String
  ) throws(DatabaseURLError) -> String? {
    for parameter in query.split(at: "&") where parameter.hasPrefix("ns=") {
      guard let name = PercentEncoding.decode(parameter.dropFirst(3), plusIsSpace: true),
        !name.isEmpty, name.utf8.count <= 128, name.utf8.allSatisfy(isParameterByte)
      else {
        throw DatabaseURLError(text, reason: "the database name after \"ns=\" is not valid")
      }
      return name
    }
    return nil
  }

  private static func keys(of path: Substring) -> [String] {
    path.split(at: "/").map {
      PercentEncoding.decode($0, plusIsSpace: true) ?? String($0)
    }
  }

  /// Whether a byte may appear unescaped in a parameter of the handshake.
  static func isParameterByte(_ byte: UInt8) -> Bool {
    byte.isAlphanumeric || "-_.:".utf8.contains(byte)
  }
}

// These work on scalars, because a combining mark after a delimiter would form another character.
extension Substring {
  /// Whether the text begins with an ASCII prefix.
  fileprivate func begins(with prefix: StaticString) -> Bool {
    prefix.withUTF8Buffer { utf8.starts(with: $0) }
  }

  /// The text before the first delimiter, and the text after it, or nil if there is no delimiter.
  fileprivate func parted(at delimiter: Unicode.Scalar) -> (head: Substring, tail: Substring?) {
    guard let index = unicodeScalars.firstIndex(of: delimiter) else { return (self, nil) }
    return (self[..<index], self[unicodeScalars.index(after: index)...])
  }

  /// The non-empty parts between delimiters.
  fileprivate func split(at delimiter: Unicode.Scalar) -> [Substring] {
    unicodeScalars.split(separator: delimiter).map { Substring($0) }
  }
}

package struct DatabaseURLError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason, and the expected form.
  package let description: String
}

extension DatabaseURLError {
  init(_ url: String, reason: String) {
    self.init(description: "\"\(url)\" is not a database URL: \(reason)")
  }
}

/// The documented hosts of the hosted service.
///
/// ``DatabaseURL`` parses URLs of their form (a name before the domain, no port, always TLS) for
/// every domain, because private servers may have such names too.
package enum HostedService {
  /// The domain of databases without a region in their URL: `NAME.firebaseio.com`.
  static let databaseDomain = "firebaseio.com"
  /// The domain of databases with a region in their URL: `NAME.REGION.firebasedatabase.app`.
  static let regionalDatabaseDomain = "firebasedatabase.app"
  /// A domain that is often mistaken for the one that serves databases.
  static let mistakenDomain = "firebase.com"

  /// Whether a host belongs to the hosted service, as a database or as a redirection target.
  package static func isDatabaseHost(_ host: String) -> Bool {
    [databaseDomain, regionalDatabaseDomain].contains { isHost(host, in: $0) }
  }

  /// Whether a host is the domain itself or one of its subdomains.
  static func isHost(_ host: String, in domain: String) -> Bool {
    let host = host.lowercased()
    return host == domain || host.hasSuffix(".\(domain)")
  }

  /// The base URL of the accounts API.
  static let accounts = "https://identitytoolkit.googleapis.com"
  /// The base URL of the token API.
  static let tokens = "https://securetoken.googleapis.com"
}
