internal import RealtimeCore

/// Names one connection of a hub, never to be used again for another.
package struct PeerID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number of the connection.
  package let number: Int

  /// Makes an identifier of a number that no other connection of the hub has had.
  package init(_ number: Int) {
    self.number = number
  }

  package static func < (left: PeerID, right: PeerID) -> Bool { left.number < right.number }

  package var description: String { "peer \(number)" }
}

/// Which request of which peer an answer belongs to.
struct RequestOrigin: Sendable {
  let peer: PeerID
  /// The number of the request.
  let request: Int64
  /// Whether the peer lives in the server.
  let isInternal: Bool
}

/// Why a request is refused: the status and the reason of the answer.
struct RequestError: Error, Equatable {
  let status: StatusCode
  let reason: String

  init(_ status: StatusCode, reason: String) {
    self.status = status
    self.reason = reason
  }

  /// The refusal of a request whose answer is longer than it may be.
  static func tooLong(_ bytes: Int) -> RequestError {
    RequestError(.tooBig, reason: "the data are longer than \(bytes) bytes")
  }

  var response: ServerMessage.Response {
    ServerMessage.Response(status, payload: .json(.string(reason)))
  }
}
