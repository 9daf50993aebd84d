internal import RealtimeCore

/// One whole message for a client; clients that get the same message share the bytes.
package struct HubMessage: Sendable, Equatable {
  /// What becomes of a message for a client that is behind.
  enum Kind: Sendable {
    /// It is dropped: a push of data, which later data replaces.
    case change
    /// It is sent before the current data: an answer that shows data.
    case reading
    /// It is sent after the current data: an acknowledgement, a refusal, the end of a listen, or
    /// anything else.
    case other
  }

  /// JSON in UTF-8.
  package let bytes: [UInt8]
  let kind: Kind
}

extension HubMessage {
  init(_ message: ServerMessage) {
    bytes = message.encoded()
    kind =
      switch message {
      case .push(.data), .push(.merge), .push(.rangeMerge): .change
      case .response(_, let response): response.showsData ? .reading : .other
      case .hello, .reset, .shutdown, .error, .pong, .push: .other
      }
  }
}

extension ServerMessage.Response {
  fileprivate var showsData: Bool {
    if case .node = payload { status == .ok } else { false }
  }
}
