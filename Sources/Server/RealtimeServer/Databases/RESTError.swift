internal import RealtimeCore
internal import RealtimeHub
internal import RealtimeTransport

/// Why a REST request is not carried out.
struct RESTError: Error, Equatable {
  let status: Int
  let reason: String

  init(_ status: Int, reason: String) {
    self.status = status
    self.reason = reason
  }

  static let invalidData = RESTError(
    400,
    reason: "Invalid data; couldn't parse JSON object, array, or value."
  )
  static let missingData = RESTError(
    400,
    reason: "Missing data; Perhaps you forgot to send the data."
  )

  /// A write above the size limit that it asked for; clients know this text.
  static let writeTooBig = RESTError(
    400,
    reason: "Data to write exceeds the maximum size that can be modified with a single request."
  )

  /// An answer beyond the size that one may have.
  static let answerTooBig = RESTError(
    413,
    reason: "Data requested exceeds the maximum size that can be accessed with a single request."
  )

  /// A read that took longer than it asked to.
  static let readTooSlow = RESTError(
    400,
    reason: "the data could not be read in the time that timeout allows"
  )

  static let permissionDenied = RESTError(401, reason: "Permission denied")

  /// A credential that does not count.
  init(_ error: CredentialError) {
    self.init(ServerMessage.Response(error.status, payload: .json(.string(error.reason))))
  }

  /// A refusal of the hub.
  init(_ response: ServerMessage.Response) {
    let reason: String
    switch response.payload {
    case .json(let json): reason = json.string ?? ""
    case .node: reason = ""
    }
    switch response.status {
    case .permissionDenied: self.init(401, reason: reason)
    case .invalidToken: self.init(401, reason: reason)
    case .expiredToken: self.init(401, reason: "Auth token is expired")
    case .dataStale: self.init(412, reason: reason)
    case .invalidData, .tooBig, .failure: self.init(400, reason: reason)
    case .unavailable, .disconnect: self.init(503, reason: reason)
    default: self.init(500, reason: reason)
    }
  }

  var answer: HTTPAnswer {
    let body = JSONValue.object(("error", .string(reason)))
    var answer = HTTPAnswer.json(status, body: Array(body.text.utf8))
    switch status {
    case 405: answer.headerLines.append(HTTPAnswer.HeaderLine("Allow", RESTMethod.allowed))
    case 429: answer.headerLines.append(HTTPAnswer.HeaderLine("Retry-After", "1"))
    default: break
    }
    return answer
  }
}

extension RESTError {
  /// What a client at the socket is told, who cannot be sent to another machine.
  init(_ redirection: Redirection) {
    self.init(503, reason: "the database is led by the server at \(redirection.host): ask there")
  }
}

extension Redirection {
  /// Sends a client to the other server, with everything that it has asked for.
  ///
  /// - Parameters:
  ///   - request: What the client has asked for.
  ///   - target: The path and the parameters for the other server.
  ///   - isSecure: Whether this server is reached with encryption.
  /// - Returns: An answer with status 307, or 503 at a socket.
  func answer(to request: HTTPRequest, target: String, isSecure: Bool) -> HTTPAnswer {
    guard !request.peer.isLocal else { return RESTError(self).answer }
    // A load balancer may take the encryption off.
    let forwarded = request.headerList("X-Forwarded-Proto").first?.lowercased()
    let scheme = isSecure || forwarded == "https" ? "https" : "http"
    let location = "\(scheme)://\(host)\(target)"
    var answer = HTTPAnswer.json(
      307,
      body: Array(#"{"error":"another server leads the database"}"#.utf8)
    )
    answer.headerLines = [
      HTTPAnswer.HeaderLine("Location", location),
      HTTPAnswer.HeaderLine("Cache-Control", "no-store"),
    ]
    return answer
  }
}

extension DatabaseCore {
  /// What a refusal of the hub is over HTTP; where the store has failed, the status says how.
  func restError(_ response: ServerMessage.Response) -> RESTError {
    let error = RESTError(response)
    guard let storeFailure, error.reason == storeFailure.publicReason else { return error }
    return storeFailure.kind == .full ? RESTError(507, reason: error.reason) : error
  }
}

extension HTTPAnswer {
  /// An answer with JSON, which nobody is to keep.
  static func json(_ status: Int, body: [UInt8], etag: String? = nil) -> HTTPAnswer {
    var answer = HTTPAnswer(
      status: status,
      contentType: "application/json; charset=utf-8",
      headerLines: [HeaderLine("Cache-Control", "no-cache")],
      body: body
    )
    if let etag { answer.headerLines.append(HeaderLine("ETag", etag)) }
    return answer
  }

  /// An answer without a body.
  static func empty(_ status: Int, etag: String? = nil) -> HTTPAnswer {
    var answer = HTTPAnswer.json(status, body: [], etag: etag)
    answer.contentType = nil
    return answer
  }

  static let notREST = HTTPAnswer(
    status: 404,
    contentType: "text/plain; charset=utf-8",
    body: Array("append .json to your request URI to use the REST API.\n".utf8)
  )
}

/// What a REST request does.
enum RESTMethod: String, CaseIterable {
  /// Reads.
  case get = "GET"
  /// Reads, for the header only.
  case head = "HEAD"
  /// Replaces.
  case put = "PUT"
  /// Adds a child with a new key.
  case post = "POST"
  /// Changes children, each by its path.
  case patch = "PATCH"
  /// Removes.
  case delete = "DELETE"
  /// Asks what is possible.
  case options = "OPTIONS"

  var isRead: Bool {
    switch self {
    case .get, .head: true
    case .put, .post, .patch, .delete, .options: false
    }
  }

  /// What stands in an `Allow` line.
  static let allowed = allCases.map(\.rawValue).joined(separator: ", ")
}
