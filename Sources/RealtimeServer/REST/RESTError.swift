internal import RealtimeHub
internal import RealtimeProtocol
internal import RealtimeTransport
internal import RealtimeTree

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
    if status == 405 {
      answer.headerLines.append(HTTPAnswer.HeaderLine("Allow", RESTMethod.allowed))
    }
    return answer
  }
}
