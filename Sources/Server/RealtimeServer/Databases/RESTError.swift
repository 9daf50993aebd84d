internal import RealtimeCore
internal import RealtimeTransport

/// Why a REST request is not carried out.
struct RESTError: Error, Equatable {
  let status: Int
  let reason: String
  /// The methods that an answer with status 405 names.
  private let allowed: [RESTMethod]

  init(_ status: Int, reason: String, allowed: [RESTMethod] = RESTMethod.allCases) {
    self.status = status
    self.reason = reason
    self.allowed = allowed
  }

  static let invalidData = RESTError(
    400,
    reason: "Invalid data; couldn't parse JSON object, array, or value."
  )
  static let missingData = RESTError(
    400,
    reason: "Missing data; Perhaps you forgot to send the data."
  )

  /// The end of a request that nobody waits for any more.
  static let clientHasLeft = RESTError(
    503,
    reason: "the client has ended its side of the connection"
  )

  /// A write that exceeds the size limit it asked for; clients know this text.
  static let writeTooBig = RESTError(
    400,
    reason: "Data to write exceeds the maximum size that can be modified with a single request."
  )

  /// A response that exceeds the maximum size.
  static let answerTooBig = RESTError(
    413,
    reason: "Data requested exceeds the maximum size that can be accessed with a single request."
  )

  /// A read that took longer than the timeout it asked for.
  static let readTooSlow = RESTError(
    400,
    reason: "reading the data took longer than timeout allows"
  )

  static let permissionDenied = RESTError(401, reason: "Permission denied")

  /// Makes the error for an invalid credential.
  init(_ error: RequestError) {
    self.init(error.response)
  }

  /// Makes the error for a refusal by the hub.
  init(_ response: ServerMessage.Response) {
    let reason = if case .json(let json) = response.payload { json.string ?? "" } else { "" }
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
    case 405:
      let methods = RESTMethod.list(allowed)
      answer.headerLines.append(HTTPAnswer.HeaderLine("Allow", methods))
    case 429: answer.headerLines.append(HTTPAnswer.HeaderLine("Retry-After", "1"))
    default: break
    }
    return answer
  }
}

extension RESTError {
  /// Makes the error for a client at the socket, which cannot be redirected to another machine.
  init(_ redirection: Redirection) {
    self.init(
      503,
      reason: "the server at \(redirection.host) leads the database: send the request there"
    )
  }
}

extension Redirection {
  /// Redirects a client to the other server, with its complete request.
  ///
  /// - Returns: An answer with status 307, or 503 at a socket.
  func answer(to request: HTTPRequest, target: String, isSecure: Bool) -> HTTPAnswer {
    guard !request.peer.isLocal else { return RESTError(self).answer }
    // A load balancer may terminate TLS.
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
  /// The HTTP error for a refusal by the hub.
  ///
  /// If the store has failed, the status tells how.
  func restError(_ response: ServerMessage.Response) -> RESTError {
    let error = RESTError(response)
    guard let failure = batcher.progress.failure, error.reason == failure.publicReason else {
      return error
    }
    return failure.kind == .full ? RESTError(507, reason: error.reason) : error
  }
}

extension HTTPAnswer {
  /// A JSON response that caches must revalidate before they reuse it.
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

  static func empty(_ status: Int, etag: String? = nil) -> HTTPAnswer {
    var answer = HTTPAnswer.json(status, body: [], etag: etag)
    answer.contentType = nil
    return answer
  }

  /// The response to the question which methods there are.
  static let allowedMethods: HTTPAnswer = {
    var answer = HTTPAnswer.empty(200)
    answer.headerLines.append(HeaderLine("Allow", RESTMethod.allowed))
    return answer
  }()

  static let notREST = HTTPAnswer(
    status: 404,
    contentType: "text/plain; charset=utf-8",
    body: Array("append .json to your request URI to use the REST API.\n".utf8)
  )
}

enum RESTMethod: String, CaseIterable {
  case get = "GET"
  /// Reads, but returns only the header.
  case head = "HEAD"
  case put = "PUT"
  /// Adds a child with a new key.
  case post = "POST"
  /// Changes children, each given by its path.
  case patch = "PATCH"
  case delete = "DELETE"
  /// Asks which methods are allowed.
  case options = "OPTIONS"

  var isRead: Bool { self == .get || self == .head }

  /// The value of an `Allow` header.
  static let allowed = list(allCases)

  static func list(_ methods: [RESTMethod]) -> String {
    methods.map(\.rawValue).joined(separator: ", ")
  }
}
