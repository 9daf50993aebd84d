package enum ServerMessage: Sendable, Equatable {
  /// The first message on every connection.
  case hello(ServerHello)
  /// Tells the client to connect to another host.
  case reset(host: String)
  /// Tells the client not to connect again.
  case shutdown(reason: String)
  case error(String)
  case pong
  case response(id: Int64, Response)
  /// Notifies the client of something that it did not request.
  case push(ServerPush)

  package struct Response: Sendable, Equatable {
    package var status: StatusCode
    /// Data, a reason or warnings.
    package var payload: Payload

    package init(_ status: StatusCode, payload: Payload = .json(.string(""))) {
      self.status = status
      self.payload = payload
    }

    /// Whether it reports success and nothing else, as most responses do.
    var isPlain: Bool {
      guard case .json(.string(let text)) = payload, text.isEmpty else { return false }
      return status == .ok
    }
  }

  package enum Payload: Sendable, Equatable {
    case json(JSONValue)
    /// Data, written in export form.
    case node(Node)
  }
}

package struct ServerHello: Sendable, Equatable {
  /// The server's clock, in milliseconds since 1970.
  package var timestamp: Int64
  package var version: String
  /// The host to which the client must connect from now on.
  package var host: String
  /// The session ID of the connection.
  package var session: String
  /// The protocol extensions that the server offers.
  package var extensions: Set<Extension>

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

  /// An extension of the published protocol that both ends must support.
  package enum Extension: String, Sendable, CaseIterable {
    /// A write with a ``WriteKey`` is applied only once, even if it is sent repeatedly.
    case writeOnce = "once"
  }
}

/// A message that the server sends without a request.
package enum ServerPush: Sendable, Equatable {
  /// New data at a path; a tag restricts it to the query with that tag.
  case data(path: Path, Node, tag: Int64?)
  /// New data at several paths below a path, all of which change at once.
  case merge(path: Path, [Change], tag: Int64?)
  /// New data for ranges below a path.
  case rangeMerge(path: Path, [RangeMerge], tag: Int64?)
  /// The server ended listens at a path; nil means the listen of the default query.
  case listenRevoked(path: Path, queries: [Query]?)
  /// The credential has become invalid.
  case authenticationRevoked(StatusCode, reason: String)
  /// The App Check token has become invalid.
  case appCheckRevoked(StatusCode, reason: String)
  /// A message about security rules, for the log.
  case securityDebug(String)
  /// An action that this version does not know.
  case unknown(action: String)
}

package struct StatusCode: Hashable, Sendable, CustomStringConvertible {
  /// The status as it is written on the wire, such as "ok".
  package let text: String

  /// Makes a status from its wire form.
  package init(_ text: String) {
    self.text = text
  }

  package static let ok = StatusCode("ok")
  package static let permissionDenied = StatusCode("permission_denied")
  /// The data changed after the transaction had read it.
  package static let dataStale = StatusCode("datastale")
  package static let invalidData = StatusCode("invalid_data")
  package static let unavailable = StatusCode("unavailable")
  package static let tooBig = StatusCode("too_big")
  package static let invalidToken = StatusCode("invalid_token")
  package static let expiredToken = StatusCode("expired_token")
  package static let failure = StatusCode("failure")
  /// Client side: the connection was lost before the response arrived.
  package static let disconnect = StatusCode("disconnect")
  /// Client side: a later write to the same path cancelled the transaction.
  package static let overriddenBySet = StatusCode("set")
  /// Client side: the transaction was tried too many times.
  package static let maximumRetries = StatusCode("maxretry")
  /// Client side: the write was purged before it was acknowledged.
  package static let writeCanceled = StatusCode("write_canceled")

  package var description: String { text }
}

extension ServerMessage {
  /// Decodes a message from JSON.
  ///
  /// Clients in JavaScript store halves of surrogate pairs, which UTF-8 does not have; `�` stands for
  /// them, since a client would miss a change that it leaves out.
  ///
  /// - Parameter bytes: The UTF-8 text of one message.
  /// - Throws: ``MessageError`` with the reason.
  /// - Complexity: O(bytes)
  package init(decoding bytes: [UInt8]) throws(MessageError) {
    do throws(MessageError) {
      try self.init(strictlyDecoding: bytes)
    } catch {
      let repaired = JSONParser.replacingLoneSurrogates(in: bytes)
      guard repaired != bytes else { throw error }
      try self.init(strictlyDecoding: repaired)
    }
  }

  private init(strictlyDecoding bytes: [UInt8]) throws(MessageError) {
    self = try MessageEnvelope.read(bytes, from: .server) { (envelope) throws(MessageError) in
      let body = envelope.body
      if let data = body.data, envelope.kind == .data, envelope.requestID == nil {
        let path = body.path ?? .root
        return .push(.data(path: path, try data.node(at: path), tag: body["t"]?.integer))
      }
      do throws(NodeError) {
        switch envelope.kind {
        case .control: return try Self.control(envelope)
        case .data: return try Self.data(envelope)
        }
      } catch {
        throw MessageError(error.description)
      }
    }
  }

  private static func control(_ envelope: MessageEnvelope) throws(NodeError) -> ServerMessage {
    guard let kind = envelope["t"]?.string, let payload = envelope["d"] else {
      throw NodeError(description: "a control message needs \"t\" and \"d\"")
    }
    switch kind {
    case "h":
      guard let timestamp = payload["ts"]?.integer else {
        throw NodeError(description: "a hello needs the time \"ts\"")
      }
      let names = payload["x"]?.elements?.compactMap(\.string) ?? []
      return .hello(
        ServerHello(
          timestamp: timestamp,
          version: payload["v"]?.string ?? "",
          host: payload["h"]?.string ?? "",
          session: payload["s"]?.string ?? "",
          extensions: Set(names.compactMap(ServerHello.Extension.init(rawValue:)))
        )
      )
    case "r": return .reset(host: payload.string ?? "")
    case "s": return .shutdown(reason: payload.string ?? "")
    case "o": return .pong
    case "e": return .error(payload.string ?? payload.text)
    default: return .error("unknown control message \"\(kind)\"")
    }
  }

  private static func data(_ envelope: MessageEnvelope) throws(NodeError) -> ServerMessage {
    if let id = envelope.requestID {
      let answer = envelope.body
      guard let status = answer["s"]?.string else {
        throw NodeError(description: "an answer needs a status \"s\"")
      }
      return .response(id: id, Response(StatusCode(status), payload: .json(answer["d"] ?? .null)))
    }
    if let action = envelope.action {
      return .push(try ServerPush(action: action, body: envelope.body))
    }
    return .error(envelope["error"]?.string ?? "the message is neither a response nor a push")
  }

  /// Encodes the message as JSON.
  ///
  /// - Complexity: O(size)
  package func encoded() -> [UInt8] {
    // Enough for a response without data, which is what most messages are.
    var writer = JSONWriter(capacity: 64)
    switch self {
    case .hello(let hello): writer.writeControl("h", payload: hello.json)
    case .reset(let host): writer.writeControl("r", payload: .string(host))
    case .shutdown(let reason): writer.writeControl("s", payload: .string(reason))
    case .error(let text): writer.writeControl("e", payload: .string(text))
    case .pong: writer.writeControl("o", payload: .object([]))
    case .response(let id, let response):
      writer.raw(Self.responseHead)
      writer.write(id)
      if response.isPlain {
        writer.raw(",\"b\":{\"s\":\"ok\",\"d\":\"\"}}}")
        break
      }
      writer.raw(",\"b\":{\"s\":")
      writer.write(response.status.text)
      writer.raw(",\"d\":")
      switch response.payload {
      case .json(let json): writer.write(json)
      case .node(let node): node.write(to: &writer)
      }
      writer.raw("}}}")
    case .push(let push):
      writer.raw(Self.pushHead)
      writer.write(push.action)
      writer.raw(",\"b\":")
      push.write(to: &writer)
      writer.raw("}}")
    }
    return writer.bytes
  }
}

extension ServerMessage {
  private static let responseHead: StaticString = "{\"t\":\"d\",\"d\":{\"r\":"
  private static let pushHead: StaticString = "{\"t\":\"d\",\"d\":{\"a\":"
  private static let revocationHead: StaticString = "{\"t\":\"d\",\"d\":{\"a\":\"c\""
  private static let signOutHead: StaticString = "{\"t\":\"d\",\"d\":{\"a\":\"ac\""
  private static let helloHead: StaticString = "{\"t\":\"c\",\"d\":{\"t\":\"h\""

  /// What a message is, as far as its first bytes show.
  package enum Glance: Equatable {
    case hello
    case response(id: Int64)
    case listenRevoked
    /// The end of a credential.
    case authenticationRevoked
    case other
  }

  /// How many bytes ``glance(at:)`` needs.
  package static let glanceBytes = 48

  /// Tells what a message of this program is, from its first ``glanceBytes`` bytes.
  ///
  /// It knows the form in which ``encoded()`` writes messages, and no other.
  package static func glance(at text: UnsafeRawBufferPointer) -> Glance {
    if text.begins(with: responseHead) {
      let isNegative = text.dropFirst(responseHead.utf8CodeUnitCount).first == UInt8(ascii: "-")
      var id: Int64 = 0
      for byte in text.dropFirst(responseHead.utf8CodeUnitCount + (isNegative ? 1 : 0)) {
        guard (0x30...0x39).contains(byte) else { break }
        id = id &* 10 &+ Int64(byte - 0x30)
      }
      return .response(id: isNegative ? 0 &- id : id)
    }
    if text.begins(with: revocationHead) { return .listenRevoked }
    if text.begins(with: signOutHead) { return .authenticationRevoked }
    return text.begins(with: helloHead) ? .hello : .other
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func begins(with text: StaticString) -> Bool {
    starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}

extension ServerHello {
  fileprivate var json: JSONValue {
    let names = extensions.map(\.rawValue).sorted().map { JSONValue.string($0) }
    return .object(
      ("ts", .integer(timestamp)),
      ("v", .string(version)),
      ("h", .string(host)),
      ("s", .string(session)),
      ("x", names.isEmpty ? nil : .array(names))
    )
  }
}

extension ServerPush {
  fileprivate init(action: String, body: MessageBody) throws(NodeError) {
    let path = body.path ?? .root
    let tag = body["t"]?.integer
    switch action {
    case "d": self = .data(path: path, .empty, tag: tag)
    case "m":
      self = .merge(path: path, try Change.changes(json: body["d"] ?? .object([])), tag: tag)
    case "rm":
      let ranges = try (body["d"]?.elements ?? []).map { (range) throws(NodeError) in
        RangeMerge(
          start: range["s"]?.string.map { Path(wire: $0) },
          end: range["e"]?.string.map { Path(wire: $0) },
          node: try Node(json: range["m"] ?? .null)
        )
      }
      self = .rangeMerge(path: path, ranges, tag: tag)
    case "c":
      let queries = try body["q"]?.elements?.map { (query) throws(NodeError) in
        try Query(json: query)
      }
      self = .listenRevoked(path: path, queries: queries)
    case "ac", "apc":
      let status = StatusCode(body["s"]?.string ?? "")
      let reason = body["d"]?.string ?? ""
      self =
        action == "ac"
        ? .authenticationRevoked(status, reason: reason) : .appCheckRevoked(status, reason: reason)
    case "sd": self = .securityDebug(body["msg"]?.string ?? "")
    default: self = .unknown(action: action)
    }
  }

  fileprivate var action: String {
    switch self {
    case .data: "d"
    case .merge: "m"
    case .rangeMerge: "rm"
    case .listenRevoked: "c"
    case .authenticationRevoked: "ac"
    case .appCheckRevoked: "apc"
    case .securityDebug: "sd"
    case .unknown(let action): action
    }
  }

  fileprivate func write(to writer: inout JSONWriter) {
    switch self {
    case .data(let path, let node, let tag):
      writer.writePushStart(path)
      node.write(to: &writer)
      writer.writePushEnd(tag)
    case .merge(let path, let changes, let tag):
      writer.writePushStart(path)
      writer.writeChanges(changes)
      writer.writePushEnd(tag)
    case .rangeMerge(let path, let ranges, let tag):
      writer.writePushStart(path)
      writer.write(.array(ranges.map(\.json)))
      writer.writePushEnd(tag)
    case .listenRevoked(let path, let queries):
      let list = queries.map { JSONValue.array($0.map(\.json)) }
      writer.write(.object(("p", .string(path.wireText)), ("q", list)))
    case .authenticationRevoked(let status, let reason), .appCheckRevoked(let status, let reason):
      writer.write(.object(("s", .string(status.text)), ("d", .string(reason))))
    case .securityDebug(let text): writer.write(.object(("msg", .string(text))))
    case .unknown: writer.raw("{}")
    }
  }
}

extension RangeMerge {
  fileprivate var json: JSONValue {
    .object(
      ("s", start.map { .string($0.wireText) }),
      ("e", end.map { .string($0.wireText) }),
      ("m", node.json(.export))
    )
  }
}

extension JSONWriter {
  fileprivate mutating func writeControl(_ kind: String, payload: JSONValue) {
    write(.object(("t", .string("c")), ("d", .object(("t", .string(kind)), ("d", payload)))))
  }

  fileprivate mutating func writePushStart(_ path: Path) {
    raw("{\"p\":")
    write(path.wireText)
    raw(",\"d\":")
  }

  fileprivate mutating func writePushEnd(_ tag: Int64?) {
    if let tag {
      raw(",\"t\":")
      write(tag)
    }
    raw("}")
  }
}
