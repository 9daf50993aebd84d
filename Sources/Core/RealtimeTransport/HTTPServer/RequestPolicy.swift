internal import NIOHTTP1

/// Which requests a server lets in.
///
/// A web page in a browser could reach it too: a browser always names the page in `Origin` or, where
/// that is left out, says in `Sec-Fetch-Site` that one asks. A server that is meant for this machine
/// also looks at `Host`, which shows a name that was pointed here afterwards.
package struct RequestPolicy: Sendable {
  /// The pages that may ask, as browsers name them in small letters: `http://localhost:5173`.
  private let allowedOrigins: Set<String>
  /// Whether every page that this machine serves itself may ask as well.
  private let allowsLoopbackPages: Bool
  /// Whether clients may call the server what they like.
  private let allowsAnyHost: Bool

  /// Makes a policy; without arguments no page may ask, and the host must be this machine.
  package init(
    allowedOrigins: [String] = [],
    allowsLoopbackPages: Bool = false,
    allowsAnyHost: Bool = false
  ) {
    self.allowedOrigins = Set(allowedOrigins.map { $0.lowercased() })
    self.allowsLoopbackPages = allowsLoopbackPages
    self.allowsAnyHost = allowsAnyHost
  }

  /// Whether a text can be the origin of a page: a scheme and a host, with a port if need be.
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

  /// The refusal of a request, or nil.
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

  /// Whether no page asks, or one that may.
  private func isFromAllowedPage(_ request: HTTPRequest) -> Bool {
    // What a page embeds without asking for it by a script has no origin, and is nobody's wish.
    guard request.headers.contains(name: "Origin") else {
      return request.headers["Sec-Fetch-Site"].allSatisfy { $0 == "none" }
    }
    return allowedOrigin(in: request.headers) != nil
  }

  /// The page that a header names, if it names one that may ask, and no other.
  private func allowedOrigin(in headers: HTTPHeaders) -> String? {
    let origins = headers["Origin"]
    guard origins.count == 1 else { return nil }
    if allowedOrigins.contains(origins[0].lowercased()) { return origins[0] }
    guard allowsLoopbackPages, Self.authority(ofOrigin: origins[0])?.isLoopback == true else {
      return nil
    }
    return origins[0]
  }

  /// The lines that let the page read an answer that asked for it.
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
