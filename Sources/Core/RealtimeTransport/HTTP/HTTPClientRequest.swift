private import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

package struct HTTPClientRequest: Hashable, Sendable {
  package var method: String
  package var target: ConnectionTarget
  /// The path and query, escaped; it starts with a slash.
  package let path: String
  package var headerLines: [HTTPAnswer.HeaderLine]
  package var body: [UInt8]

  /// Makes a request.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: An absolute, escaped http or https URL; its fragment is ignored.
  ///   - headerLines: Lines such as `Content-Type`; `Host` and `Content-Length` are added.
  ///   - body: The body.
  /// - Throws: ``HTTPClientError`` of kind `invalidURL`.
  package init(
    _ method: String,
    url: String,
    headerLines: [HTTPAnswer.HeaderLine] = [],
    body: [UInt8] = []
  ) throws(HTTPClientError) {
    let refusal = HTTPClientError(
      .invalidURL,
      description: "\"\(url)\" is not an http or https URL"
    )
    guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { throw refusal }
    let isSecure: Bool
    switch url[..<colon].lowercased() {
    case "https": isSecure = true
    case "http": isSecure = false
    default: throw refusal
    }
    let rest = url[colon...].dropFirst(3).prefix { $0 != "#" }
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    guard let authority = Authority(rest[..<end]),
      rest[end...].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw refusal }
    self.method = method
    target = ConnectionTarget(
      host: authority.host,
      port: authority.port ?? (isSecure ? 443 : 80),
      isSecure: isSecure
    )
    path = rest[end...].hasPrefix("/") ? String(rest[end...]) : "/\(rest[end...])"
    self.headerLines = headerLines
    self.body = body
  }

  /// Makes a request to a server, which may listen on a Unix socket; its namespace is ignored.
  ///
  /// It is a programmer error to pass a path and query that do not start with a slash.
  package init(
    _ method: String,
    to target: ConnectionTarget,
    path: String,
    headerLines: [HTTPAnswer.HeaderLine] = [],
    body: [UInt8] = []
  ) {
    precondition(path.hasPrefix("/"), "the path of a resource starts with a slash")
    self.method = method
    self.target = target
    self.path = path
    self.headerLines = headerLines
    self.body = body
  }

  /// What is sent before the body, without the header lines that describe it.
  var head: HTTPRequestHead {
    var headers = HTTPHeaders(headerLines.map { ($0.name, $0.value) })
    headers.replaceOrAdd(name: "Host", value: target.host)
    let method = HTTPMethod(rawValue: method)
    return HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: headers)
  }
}

package struct HTTPClientAnswer: Hashable, Sendable {
  package var status: Int
  package var headerLines: [HTTPAnswer.HeaderLine] = []
  package var body: [UInt8] = []

  /// The value of the first header line with the given name, ignoring case; nil if there is none.
  package func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headerLines.first { $0.name.lowercased() == name }?.value
  }
}

/// Why a plain HTTP request got no response.
package struct HTTPClientError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// The text is not an absolute http or https URL.
    case invalidURL
    case unknownHost
    /// Nothing listens at the address.
    case refused
    case unreachable
    case timedOut
    /// TLS could not be established, or the server cannot be trusted.
    case insecure(TLSFailure.Kind)
    case notHTTP
    case tooLarge
    /// The connection ended before the response was complete.
    case lost
    case cancelled
  }

  package let kind: Kind
  /// What happened, in a sentence that names the server.
  package let description: String

  init(_ kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }
}

extension HTTPClientError.Kind {
  init(connecting error: any Error) {
    switch error {
    case let error as NIOConnectionError:
      // The error from an address that was tried says more than the error from the lookup.
      self = error.connectionErrors.last.map { Self(connecting: $0.error) } ?? .unknownHost
    case let error as IOError: self = error.errnoCode == ECONNREFUSED ? .refused : .unreachable
    case ChannelError.connectTimeout: self = .timedOut
    default: self = .unreachable
    }
  }
}
