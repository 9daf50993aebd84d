package import RealtimeCore

/// Identifies one connection of a hub; it is never reused for another.
package struct PeerID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let number: Int

  /// Makes an identifier from a number that no other connection of the hub has had.
  package init(_ number: Int) {
    self.number = number
  }

  package static func < (left: PeerID, right: PeerID) -> Bool { left.number < right.number }

  package var description: String { "peer \(number)" }
}

/// The peer and the request that a response belongs to.
struct RequestOrigin: Sendable {
  let peer: PeerID
  let request: Int64
  /// Whether the peer lives in the server.
  let isInternal: Bool
}

/// Why a request is refused: the status and the reason in the response.
package struct RequestError: Error, Equatable {
  package let status: StatusCode
  package let reason: String

  init(_ status: StatusCode, reason: String) {
    self.status = status
    self.reason = reason
  }

  static func invalidToken(_ reason: String) -> RequestError {
    RequestError(.invalidToken, reason: reason)
  }

  /// The refusal of a request whose response would be longer than allowed.
  static func tooLong(_ bytes: Int) -> RequestError {
    RequestError(.tooBig, reason: "the data is longer than \(bytes) bytes")
  }

  var response: ServerMessage.Response {
    ServerMessage.Response(status, payload: .json(.string(reason)))
  }
}
