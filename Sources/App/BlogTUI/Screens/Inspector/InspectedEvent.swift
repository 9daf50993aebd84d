import RealtimeCore

/// An event as the inspector keeps it: with its paths and the writes that it belongs to.
struct InspectedEvent: Equatable, Sendable {
  /// The event, whose title is in words.
  let event: WireEvent
  /// The path that it names; an answer has that of its request.
  var path: String?
  /// The locations that it is about.
  var places: [String] = []
  /// The names of the writes and transactions that it is a part of.
  var writes: [String] = []
  /// The milliseconds from the request to this answer; nil for anything else.
  var roundTrip: Int64?
  /// Whether it may be the echo of a write: data that the server pushed, or that changed here.
  var isNews = false
  var isKeepalive = false

  /// Whether it ends a write or a transaction.
  var endsWrite: Bool {
    if case .ended? = event.change { return event.kind == .write }
    return event.kind == .transaction && event.title.hasPrefix("transaction ")
      && !event.title.hasSuffix(" begins")
  }
}

extension InspectedEvent {
  /// The event as a line of JSON; members that are unknown or do not apply are left out.
  ///
  /// A body that was cut off, or is not JSON, is a string.
  var line: String {
    var members = [
      JSONMember("time", .string(Clock.isoText(event.time))),
      JSONMember("kind", .string(event.kind.rawValue)),
      JSONMember("title", .string(event.title)),
    ]
    func add(_ name: String, _ value: JSONValue?) {
      if let value { members.append(JSONMember(name, value)) }
    }
    add("direction", direction.map { .string($0) })
    add("path", path.map { .string($0) })
    add("bytes", event.size.map { .integer(Int64($0)) })
    add("roundTrip", roundTrip.map { .integer($0) })
    add("writes", writes.isEmpty ? nil : .array(writes.map { .string($0) }))
    add("cause", event.cause.map { .string($0) })
    add("body", body)
    return JSONValue.object(members).text + "\n"
  }

  private var direction: String? {
    switch event.kind {
    case .sent: "out"
    case .received: "in"
    case .event, .listener, .write, .transaction, .connection: nil
    }
  }

  private var body: JSONValue? {
    guard !event.detail.isEmpty else { return nil }
    if direction != nil { return Self.parsed(event.detail) }
    let lines = event.detail.split(separator: "\n")
    var names: Set<String> = []
    var parts: [JSONMember] = []
    for line in lines {
      guard let colon = line.firstIndex(of: ":"),
        line[colon...].hasPrefix(": "), names.insert(String(line[..<colon])).inserted
      else { return .string(event.detail) }
      let value = Self.parsed(String(line[colon...].dropFirst(2)))
      parts.append(JSONMember(String(line[..<colon]), value))
    }
    return .object(parts)
  }

  private static func parsed(_ text: String) -> JSONValue {
    (try? JSONParser.parse(Array(text.utf8))) ?? .string(text)
  }
}
