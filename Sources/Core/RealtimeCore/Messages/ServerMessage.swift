/// What a server sends.
package enum ServerMessage: Sendable, Equatable {
  /// The first message on every connection.
  case hello(ServerHello)
  /// Connect to another host.
  case reset(host: String)
  /// Do not connect again.
  case shutdown(reason: String)
  /// Something for the log.
  case error(String)
  /// Answers a ping.
  case pong
  /// Answers a request.
  case response(id: Int64, Response)
  /// Says something unasked.
  case push(ServerPush)

  /// The answer to a request.
  package struct Response: Sendable, Equatable {
    /// The outcome.
    package var status: StatusCode
    /// What belongs to it: data, a reason, or warnings.
    package var payload: Payload

    /// Makes an answer.
    package init(_ status: StatusCode, _ payload: Payload = .json(.string(""))) {
      self.status = status
      self.payload = payload
    }
  }

  /// The data of an answer.
  package enum Payload: Sendable, Equatable {
    /// Any JSON.
    case json(JSONValue)
    /// Data of the tree, written in export form.
    case node(Node)
  }
}

/// The greeting of a server.
package struct ServerHello: Sendable, Equatable {
  /// The server's clock, in milliseconds since 1970.
  package var timestamp: Int64
  /// The version of the protocol.
  package var version: String
  /// The host to use from now on.
  package var host: String
  /// The name of the connection.
  package var session: String
  /// Extensions that the server offers.
  package var extensions: Set<Extension>

  /// Makes a greeting.
  package init(
    timestamp: Int64,
    version: String = "5",
    host: String,
    session: String,
    extensions: Set<Extension> = []
  ) {
    self.timestamp = timestamp
    self.version = version
    self.host = host
    self.session = session
    self.extensions = extensions
  }

  /// Something beyond the published protocol that both ends must agree on.
  package enum Extension: String, Sendable, CaseIterable {
    /// Writes that carry a ``WriteKey`` are applied once, however often they are sent.
    case writeOnce = "once"
  }
}

/// Something that a server says unasked.
package enum ServerPush: Sendable, Equatable {
  /// The data at a path are now these; with a tag, for that query only.
  case data(path: Path, Node, tag: Int64?)
  /// The data at paths below are now these, all at once.
  case merge(path: Path, [Change], tag: Int64?)
  /// Ranges of the data below a path are now these.
  case rangeMerge(path: Path, [RangeChange], tag: Int64?)
  /// A listen has ended; with nil, the default one.
  case listenRevoked(path: Path, queries: [Query]?)
  /// The credential is no longer valid.
  case authenticationRevoked(StatusCode, reason: String)
  /// The App Check token is no longer valid.
  case appCheckRevoked(StatusCode, reason: String)
  /// A message about security rules, for the log.
  case securityDebug(String)
  /// An action that this version does not know.
  case unknown(action: String)
}

/// New data for a range of paths, start exclusive and end inclusive.
package struct RangeChange: Sendable, Equatable {
  /// After which path, or nil from the beginning.
  package var start: Path?
  /// Up to which path, or nil to the end.
  package var end: Path?
  /// The data within the range.
  package var node: Node

  /// Makes a range change.
  package init(start: Path?, end: Path?, node: Node) {
    self.start = start
    self.end = end
    self.node = node
  }
}
