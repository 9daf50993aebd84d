internal import RealtimeCore

/// Why a request is not carried out: the status and the reason of the answer.
struct Refusal: Error, Equatable {
  let status: StatusCode
  let reason: String

  init(_ status: StatusCode, _ reason: String) {
    self.status = status
    self.reason = reason
  }

  /// The refusal of a request whose answer is longer than it may be.
  static func tooLong(_ bytes: Int) -> Refusal {
    Refusal(.tooBig, "the data are longer than \(bytes) bytes")
  }

  var response: ServerMessage.Response {
    ServerMessage.Response(status, .json(.string(reason)))
  }
}
