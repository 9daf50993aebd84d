internal import NIOHTTP1
private import Synchronization

/// A request to a server: a plain one or a WebSocket handshake.
package struct HTTPRequest: Sendable {
  package let method: String
  /// The path and the parameters, as received.
  package let target: String
  /// The path, still escaped.
  package let path: String
  /// The query parameters, in order and unescaped.
  package let parameters: [(name: String, value: String)]
  let headers: HTTPHeaders
  /// Whether the client need not name a host, as before HTTP/1.1.
  let mayOmitHost: Bool
  package let body: [UInt8]
  package let peer: Peer
  /// The connection; nil for a WebSocket handshake.
  package let connection: Connection?

  /// Whether the client still waits for the answer; nil if that is unknown.
  package let reader: Reader?

  /// Where a client has connected that may be served by one server after the other; only a server
  /// says so.
  package var origin: Origin?

  /// Where a client has connected, and what it goes on with.
  package struct Origin: Sendable {
    /// The run of the server that it has reached.
    package let server: String
    /// The session that it goes on with; then it is not greeted again.
    package let session: String?
    /// Whether it counts on writes that it has scheduled for its disconnect in that session.
    package let hasScheduled: Bool

    package init(server: String, session: String? = nil, hasScheduled: Bool = false) {
      self.server = server
      self.session = session
      self.hasScheduled = hasScheduled
    }
  }

  /// Identifies a connection among those that are open.
  package typealias Connection = ObjectIdentifier

  /// Tells whether a client has closed its connection; may be asked on any thread.
  package final class Reader: Sendable {
    private let hasLeft = Atomic<Bool>(false)

    /// Whether the client has closed its connection.
    package var isGone: Bool { hasLeft.load(ordering: .relaxed) }

    func leave() { hasLeft.store(true, ordering: .relaxed) }
  }

  init(
    head: HTTPRequestHead,
    body: [UInt8] = [],
    peer: Peer,
    connection: Connection? = nil,
    reader: Reader? = nil
  ) {
    self.connection = connection
    self.reader = reader
    method = head.method.rawValue
    target = Self.originForm(of: head.uri)
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = parts.first.map(String.init) ?? "/"
    let query = parts.count > 1 ? parts[1] : ""
    parameters = Self.parameters(of: query)
    headers = head.headers
    mayOmitHost = head.version == .http1_0
    self.body = body
    self.peer = peer
  }

  /// Makes the request that another server has received, to be answered here.
  package init(
    forwarded method: String,
    target: String,
    headerLines: [HTTPAnswer.HeaderLine],
    body: [UInt8],
    peer: Peer
  ) {
    let headers = HTTPHeaders(headerLines.map { ($0.name, $0.value) })
    self.init(
      head: HTTPRequestHead(
        version: .http1_1,
        method: HTTPMethod(rawValue: method),
        uri: target,
        headers: headers
      ),
      body: body,
      peer: peer
    )
  }

  package var headerLines: [HTTPAnswer.HeaderLine] {
    headers.map { HTTPAnswer.HeaderLine($0.name, $0.value) }
  }

  /// The path and the parameters of a target, without the scheme and the host that a client sends
  /// first if it takes the server for a proxy.
  private static func originForm(of target: String) -> String {
    for scheme in ["http://", "https://"] where target.lowercased().hasPrefix(scheme) {
      let rest = target.dropFirst(scheme.count)
      guard let end = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
      return rest[end] == "/" ? String(rest[end...]) : "/\(rest[end...])"
    }
    return target
  }

  /// Parses query parameters; a name or value with a malformed escape is left as it is.
  package static func parameters(of text: some StringProtocol) -> [(name: String, value: String)] {
    text.split(separator: "&").map { parameter in
      let pair = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let texts = pair.map { PercentEncoding.decode($0, plusIsSpace: true) ?? String($0) }
      return (texts.first ?? "", texts.count > 1 ? texts[1] : "")
    }
  }

  package func parameter(_ name: String) -> String? {
    parameters.first { $0.name == name }?.value
  }

  /// The value of the first header line with the given name, ignoring case, or nil.
  package func header(_ name: String) -> String? {
    headers.first(name: name)
  }

  /// The host that the client named, as far as proxies pass it on.
  package var namedHost: String? {
    let forwarded = headerList("X-Forwarded-Host").first
    return forwarded.flatMap { Authority($0) == nil ? nil : $0 } ?? header("Host")
  }

  /// The origin of the page that embeds what is requested or links to it, as far as it is named.
  package var referringOrigin: String? {
    let parts = header("Referer")?.split(
      separator: "/",
      maxSplits: 3,
      omittingEmptySubsequences: false
    )
    guard let parts, parts.count >= 3, parts[1].isEmpty else { return nil }
    let origin = "\(parts[0])//\(parts[2])"
    return RequestPolicy.isOrigin(origin) ? origin : nil
  }

  /// The values of all header lines with the given name, split at commas and trimmed.
  package func headerList(_ name: String) -> [String] {
    headers[canonicalForm: name].map(String.init)
  }
}
