internal import RealtimeCore
internal import RealtimeHub
internal import RealtimeTransport

/// Why a REST request is not carried out.
struct RESTError: Error, Equatable {
  let status: Int
  let reason: String

  init(_ status: Int, _ reason: String) {
    self.status = status
    self.reason = reason
  }

  static let invalidData = RESTError(
    400,
    "Invalid data; couldn't parse JSON object, array, or value."
  )
  static let missingData = RESTError(400, "Missing data; Perhaps you forgot to send the data.")

  /// A write above the size limit that it asked for; clients know this text.
  static let writeTooBig = RESTError(
    400,
    "Data to write exceeds the maximum size that can be modified with a single request."
  )

  /// An answer beyond the size that one may have.
  static let answerTooBig = RESTError(
    413,
    "Data requested exceeds the maximum size that can be accessed with a single request."
  )

  /// A read that took longer than it asked to.
  static let readTooSlow = RESTError(
    400,
    "the data could not be read in the time that timeout allows"
  )

  static let permissionDenied = RESTError(401, "Permission denied")

  /// A credential that does not count.
  init(_ error: CredentialError) {
    self.init(ServerMessage.Response(error.status, .json(.string(error.reason))))
  }

  /// A refusal of the hub.
  init(_ response: ServerMessage.Response) {
    let reason: String
    switch response.payload {
    case .json(let json): reason = json.string ?? ""
    case .node: reason = ""
    }
    switch response.status {
    case .permissionDenied: self.init(401, reason)
    case .invalidToken: self.init(401, reason)
    case .expiredToken: self.init(401, "Auth token is expired")
    case .dataStale: self.init(412, reason)
    case .invalidData, .tooBig, .failure: self.init(400, reason)
    case .unavailable, .disconnect: self.init(503, reason)
    default: self.init(500, reason)
    }
  }

  var answer: HTTPAnswer {
    let body = JSONValue.object(("error", .string(reason)))
    var answer = HTTPAnswer.json(status, Array(body.text.utf8))
    switch status {
    case 405: answer.headerLines.append(HTTPAnswer.HeaderLine("Allow", RESTMethod.allowed))
    case 429: answer.headerLines.append(HTTPAnswer.HeaderLine("Retry-After", "1"))
    default: break
    }
    return answer
  }
}

extension DatabaseCore {
  /// What a refusal of the hub is over HTTP; where the store has failed, the status says how.
  func restError(_ response: ServerMessage.Response) -> RESTError {
    let error = RESTError(response)
    guard let storeFailure, error.reason == storeFailure.publicReason else { return error }
    return storeFailure.kind == .full ? RESTError(507, error.reason) : error
  }
}

extension HTTPAnswer {
  /// An answer with JSON, which nobody is to keep.
  static func json(_ status: Int, _ body: [UInt8], etag: String? = nil) -> HTTPAnswer {
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
    var answer = HTTPAnswer.json(status, [], etag: etag)
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
