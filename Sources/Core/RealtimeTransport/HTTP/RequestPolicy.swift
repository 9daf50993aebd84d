internal import NIOHTTP1
internal import RealtimeCore

/// Decides which requests a server accepts.
///
/// Web pages in browsers could reach the server as well. A browser always names the page in
/// `Origin` or, where that is omitted, reveals in `Sec-Fetch-Site` that a page is involved. A
/// server for this machine only also checks `Host`, which reveals DNS rebinding: a name could be
/// rebound, an address cannot.
package struct RequestPolicy: Sendable {
  /// The origins of allowed pages in lower case, such as `http://localhost:5173`.
  private let allowedOrigins: Set<String>
  /// Whether all pages served by this machine are allowed as well.
  private let allowsLoopbackPages: Bool
  /// The names at which clients reach the server, apart from those of this machine.
  private let ownHosts: [Authority]
  private let allowsAnyHost: Bool
  /// Whether a certificate proves to clients that they have reached the host that they name.
  private let isEncrypted: Bool
  /// Whether everyone may read a path (still escaped), so that any page may link to it.
  private let isPublic: @Sendable (String) -> Bool

  /// Makes a policy; by default, no pages are allowed and the host must be an address or this
  /// machine.
  package init(
    allowedOrigins: [String] = [],
    allowsLoopbackPages: Bool = false,
    ownHosts: [String] = [],
    allowsAnyHost: Bool = false,
    isEncrypted: Bool = false,
    isPublic: @escaping @Sendable (String) -> Bool = { _ in false }
  ) {
    self.isPublic = isPublic
    self.allowedOrigins = Set(allowedOrigins.map(Self.asSent))
    self.allowsLoopbackPages = allowsLoopbackPages
    self.ownHosts = ownHosts.compactMap { Authority($0) }
    self.allowsAnyHost = allowsAnyHost
    self.isEncrypted = isEncrypted
  }

  /// Whether a text can be the origin of a page: a scheme and a host, optionally with a port.
  ///
  /// Apps that show pages of their own have schemes such as `capacitor`.
  package static func isOrigin(_ text: String) -> Bool {
    guard let mark = text.firstRange(of: "://"), let first = text.utf8.first,
      first.isAlphanumeric
    else { return false }
    return text[..<mark.lowerBound].utf8.allSatisfy { $0.isAlphanumeric || "+-.".utf8.contains($0) }
      && Authority(text[mark.upperBound...]) != nil
  }

  /// An origin in the form in which browsers send it, apart from case: without the usual port.
  private static func asSent(_ origin: String) -> String {
    let origin = origin.lowercased()
    for (scheme, port) in [("http://", ":80"), ("https://", ":443")]
    where origin.hasPrefix(scheme) && origin.hasSuffix(port) {
      return String(origin.dropLast(port.count))
    }
    return origin
  }

  private static func authority(ofOrigin text: String) -> Authority? {
    let lowercased = text.lowercased()
    for (scheme, port) in [("http://", 80), ("https://", 443)] where lowercased.hasPrefix(scheme) {
      return Authority(lowercased.dropFirst(scheme.count))?.withoutPort(port)
    }
    return nil
  }

  /// The path of long polling, which web pages embed as scripts.
  static let longPollingPath = "/.lp"

  enum Refusal {
    /// It comes from a web page.
    case page
    /// It names a foreign host.
    case host

    var answer: HTTPAnswer {
      switch self {
      case .page: HTTPAnswer(status: 403, error: "requests from web pages are not allowed")
      case .host:
        HTTPAnswer(
          status: 403,
          error: "the host must be localhost, an address, or a name that the server allows"
        )
      }
    }

    /// A sentence for the log, which never contains what clients send.
    var description: String {
      switch self {
      case .page: "refused a request from a web page whose origin is not allowed"
      case .host: "refused a request for a host that is neither an address nor allowed"
      }
    }
  }

  /// Why a request is refused, or nil if it is accepted.
  func refusal(of request: HTTPRequest) -> Refusal? {
    guard isFromAllowedPage(request) else { return .page }
    switch request.peer {
    case .local: return nil
    case .network:
      // A name that could be rebound is of use to a browser only, which always sends it.
      let names = !request.mayOmitHost || request.headers.contains(name: "Host")
      return allowsAnyHost || !names || ownHost(in: request.headers) != nil ? nil : .host
    }
  }

  /// The host that the request names, if it is certainly this server's.
  private func ownHost(in headers: HTTPHeaders) -> Authority? {
    let hosts = headers["Host"]
    guard hosts.count == 1, let host = Authority(hosts[0]) else { return nil }
    let isOwn =
      isEncrypted || host.isLoopback || host.isAddress
      || ownHosts.contains { $0.host == host.host }
    return isOwn ? host : nil
  }

  /// Whether the request comes from an allowed page, or not from a page.
  private func isFromAllowedPage(_ request: HTTPRequest) -> Bool {
    guard !request.headers.contains(name: "Origin") else {
      return allowedOrigin(in: request.headers) != nil
    }
    // What a page reads from its own host, embeds or links to is requested without an origin, but
    // names the page or at least reveals that there is one.
    if request.method == "GET" || request.method == "HEAD", isPublic(request.path) { return true }
    let page = request.referringOrigin
    if let page, isAllowed(page, to: request.headers) { return true }
    let isPolling = request.path == Self.longPollingPath
    let mayBeOwn = isPolling || pageHost(in: request.headers) != nil
    return (page == nil || !isPolling)
      && request.headers["Sec-Fetch-Site"].allSatisfy {
        $0 == "none" || $0 == "same-origin" && mayBeOwn
      }
  }

  /// The origin in the header if there is exactly one and it is allowed.
  private func allowedOrigin(in headers: HTTPHeaders) -> String? {
    let origins = headers["Origin"]
    guard origins.count == 1, isAllowed(origins[0], to: headers) else { return nil }
    return origins[0]
  }

  /// Whether the pages of an origin may use the server: those named, and the server's own.
  private func isAllowed(_ origin: String, to headers: HTTPHeaders) -> Bool {
    if allowedOrigins.contains(origin.lowercased()) { return true }
    guard let page = Self.authority(ofOrigin: origin) else { return false }
    if allowsLoopbackPages, page.isLoopback { return true }
    if ownHosts.contains(where: { isOwn(page, of: $0) }) { return true }
    return pageHost(in: headers).map { isOwn(page, of: $0) } ?? false
  }

  /// The host of a request, if its pages are certainly this server's.
  private func pageHost(in headers: HTTPHeaders) -> Authority? {
    // On this machine, only the port tells this server from others.
    ownHost(in: headers).flatMap { !$0.isLoopback || $0.port != nil ? $0 : nil }
  }

  /// Whether a page is served under the host of a request, with the same port.
  ///
  /// Neither names the port that is usual for the page's scheme, and a proxy may omit the other.
  private func isOwn(_ page: Authority, of host: Authority) -> Bool {
    page == host
      || page.port == nil && (page == host.withoutPort(80) || page == host.withoutPort(443))
  }

  /// The header lines that let an allowed page read the response, and keep caches from giving it
  /// one without them.
  func lines(for head: HTTPRequestHead?) -> [HTTPAnswer.HeaderLine] {
    var lines = [HTTPAnswer.HeaderLine("Vary", "Origin")]
    guard let head, let origin = allowedOrigin(in: head.headers) else { return lines }
    lines += [
      HTTPAnswer.HeaderLine("Access-Control-Allow-Origin", origin),
      HTTPAnswer.HeaderLine("Access-Control-Expose-Headers", "ETag"),
    ]
    if head.method == .OPTIONS {
      let methods = "GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS"
      lines.append(HTTPAnswer.HeaderLine("Access-Control-Allow-Methods", methods))
      let wanted = head.headers.first(name: "Access-Control-Request-Headers") ?? ""
      lines.append(HTTPAnswer.HeaderLine("Access-Control-Allow-Headers", wanted))
    }
    return lines
  }
}
