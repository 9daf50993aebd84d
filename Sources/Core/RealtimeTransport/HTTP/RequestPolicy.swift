internal import NIOHTTP1

/// Decides which requests a server accepts.
///
/// Web pages in browsers could reach the server as well. A browser always names the page in
/// `Origin` or, where that is omitted, reveals in `Sec-Fetch-Site` that a page is involved. A
/// server for this machine only also checks `Host`, which reveals DNS rebinding.
package struct RequestPolicy: Sendable {
  /// The origins of allowed pages in lower case, such as `http://localhost:5173`.
  private let allowedOrigins: Set<String>
  /// Whether all pages served by this machine are allowed as well.
  private let allowsLoopbackPages: Bool
  /// Whether any `Host` is allowed.
  private let allowsAnyHost: Bool
  /// Whether everyone may read a path (still escaped), so that any page may link to it.
  private let isPublic: @Sendable (String) -> Bool

  /// Makes a policy; by default, no pages are allowed and the host must be this machine.
  package init(
    allowedOrigins: [String] = [],
    allowsLoopbackPages: Bool = false,
    allowsAnyHost: Bool = false,
    isPublic: @escaping @Sendable (String) -> Bool = { _ in false }
  ) {
    self.isPublic = isPublic
    self.allowedOrigins = Set(allowedOrigins.map { $0.lowercased() })
    self.allowsLoopbackPages = allowsLoopbackPages
    self.allowsAnyHost = allowsAnyHost
  }

  /// Whether a text can be the origin of a page: a scheme and a host, optionally with a port.
  package static func isOrigin(_ text: String) -> Bool {
    authority(ofOrigin: text) != nil
  }

  private static func authority(ofOrigin text: String) -> Authority? {
    let lowercased = text.lowercased()
    for scheme in ["http://", "https://"] where lowercased.hasPrefix(scheme) {
      return Authority(lowercased.dropFirst(scheme.count))
    }
    return nil
  }

  /// The response that refuses a request, or nil if the request is accepted.
  func refusal(of request: HTTPRequest) -> HTTPAnswer? {
    guard isFromAllowedPage(request) else {
      return HTTPAnswer(status: 403, error: "requests from web pages are not allowed")
    }
    switch request.peer {
    case .local: return nil
    case .network where allowsAnyHost: return nil
    case .network:
      let hosts = request.headers["Host"]
      guard hosts.count == 1, let host = Authority(hosts[0]), host.isLoopback else {
        return HTTPAnswer(status: 403, error: "the host must be localhost, 127.0.0.1 or [::1]")
      }
      return nil
    }
  }

  /// Whether the request comes from an allowed page, or not from a page.
  private func isFromAllowedPage(_ request: HTTPRequest) -> Bool {
    // Requests for embedded resources have no origin; no page needs to embed this server.
    guard request.headers.contains(name: "Origin") else {
      // A request from a followed link has no origin either, but reveals that it comes from a page.
      if request.method == "GET" || request.method == "HEAD", isPublic(request.path) { return true }
      return request.headers["Sec-Fetch-Site"].allSatisfy { $0 == "none" }
    }
    return allowedOrigin(in: request.headers) != nil
  }

  /// The origin in the header if there is exactly one and it is allowed.
  private func allowedOrigin(in headers: HTTPHeaders) -> String? {
    let origins = headers["Origin"]
    guard origins.count == 1 else { return nil }
    if allowedOrigins.contains(origins[0].lowercased()) { return origins[0] }
    guard allowsLoopbackPages, Self.authority(ofOrigin: origins[0])?.isLoopback == true else {
      return nil
    }
    return origins[0]
  }

  /// The header lines that let an allowed page read the response.
  func lines(for head: HTTPRequestHead?) -> [HTTPAnswer.HeaderLine] {
    guard let head, let origin = allowedOrigin(in: head.headers) else { return [] }
    var lines = [
      HTTPAnswer.HeaderLine("Access-Control-Allow-Origin", origin),
      HTTPAnswer.HeaderLine("Access-Control-Expose-Headers", "ETag"),
      HTTPAnswer.HeaderLine("Vary", "Origin"),
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
