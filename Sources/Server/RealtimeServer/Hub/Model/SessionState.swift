internal import RealtimeCore

/// What a client has open at one server when another one takes over.
struct SessionState: Sendable, Equatable {
  /// The most listens of a client that changes its server.
  static let mostListens = 1_000

  let identity: Identity
  /// When its credential expires, in milliseconds since 1970; nil means never.
  let expires: Int64?
  /// Whether the rules have allowed it nothing so far.
  let hasDoneNothing: Bool
  /// Its listens; it has their data.
  let listens: [ListenRequest]

  /// The form in which servers pass it on.
  var encoded: [UInt8] {
    let requests = listens.map { listen in
      let message = ClientMessage.request(id: 0, .listen(listen))
      return JSONValue.string(String(decoding: message.encoded(), as: UTF8.self))
    }
    let json = JSONValue.object(
      ("i", identity.json),
      ("x", expires.map { .integer($0) } ?? .null),
      ("n", .bool(hasDoneNothing)),
      ("l", .array(requests))
    )
    return Array(json.text.utf8)
  }
}

extension SessionState {
  /// Parses what another server passes on; nil if it is none.
  init?(_ bytes: some Collection<UInt8>) {
    guard let json = try? JSONParser.parse(Array(bytes)),
      let identity = json["i"].flatMap({ Identity(json: $0) }),
      let elements = json["l"]?.elements, case .bool(let hasDoneNothing)? = json["n"]
    else { return nil }
    var listens: [ListenRequest] = []
    for element in elements {
      guard let text = element.string,
        case .request(_, .listen(let listen))? = try? ClientMessage(decoding: Array(text.utf8))
      else { return nil }
      listens.append(listen)
    }
    self.init(
      identity: identity,
      expires: json["x"]?.integer,
      hasDoneNothing: hasDoneNothing,
      listens: listens
    )
  }
}
