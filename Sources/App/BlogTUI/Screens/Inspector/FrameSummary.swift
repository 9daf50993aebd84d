import RealtimeCore

/// A frame in a few words: the request that it makes or answers, and the paths it concerns.
struct FrameSummary: Equatable {
  enum Role: Equatable {
    case request(Int64)
    /// The response to the request with that number.
    case answer(Int64)
    /// Neither: sent by the server on its own initiative.
    case push
    /// A sign of life, or the answer to one.
    case keepalive
  }

  let role: Role
  /// The content in a few words.
  let text: String
  /// The path it names; nil if it names none.
  let path: String?
  /// The locations with data for them, which are below the path.
  let places: [String]

  /// Parses a frame, or the beginning of one; nil if it is of an unknown form.
  ///
  /// - Complexity: O(n) in the length of the frame
  init?(_ frame: String) {
    let bytes = Array(frame.utf8)
    var body: JSONValue?
    guard bytes == [0x30] else {
      let isCut = bytes.suffix(Self.cut.count).elementsEqual(Self.cut)
      let head = isCut ? Self.closed(bytes.prefix(Self.headLength)) : bytes
      guard let head, let json = try? JSONParser.parse(head),
        let type = json["t"]?.string
      else { return nil }
      let data = json["d"]
      if type == "c" {
        let name = data?["t"]?.string ?? ""
        role = name == "p" || name == "o" ? .keepalive : .push
        text = name == "p" ? "ping" : name == "o" ? "pong" : "control \(name)"
      } else if let number = data?["r"]?.integer, let action = data?["a"]?.string {
        role = .request(number)
        body = data?["b"]
        text = Self.words(Self.requests[action] ?? action, about: body)
      } else if let number = data?["r"]?.integer {
        role = .answer(number)
        let status = data?["b"]?["s"]?.string ?? (isCut ? "answered" : "ok")
        let reason = ["ok", "answered"].contains(status) ? nil : data?["b"]?["d"]?.string
        text = reason.map { "\(status): \($0)" } ?? status
      } else if let action = data?["a"]?.string {
        role = .push
        body = data?["b"]
        text = Self.words(Self.pushes[action] ?? action, about: body)
      } else {
        return nil
      }
      let action = data?["a"]?.string ?? ""
      path = Self.path(in: body).map(WirePath.bounded)
      places =
        path.map { path in
          let isWhole = Self.merges.contains(action) && !isCut
          let names = isWhole ? body?["d"]?.members?.map(\.name) : nil
          return WirePath.places(below: path, named: names ?? [])
        } ?? []
      return
    }
    role = .keepalive
    text = "keepalive"
    path = nil
    places = []
  }

  /// The ellipsis at the end of a frame of which only the beginning was kept.
  private static let cut = Array("…".utf8)
  /// How much of such a frame is parsed; its path comes before its data.
  private static let headLength = 4_096

  /// The requests of clients, by their letters in the protocol.
  private static let requests = [
    "q": "listen", "n": "stop listening", "g": "get", "p": "set", "m": "update",
    "o": "set at the end", "om": "update at the end", "oc": "cancel what is due at the end",
    "auth": "sign in", "gauth": "sign in", "unauth": "sign out", "s": "statistics",
  ]
  /// The messages of servers, by their letters in the protocol.
  private static let pushes = [
    "d": "data", "m": "changes", "rm": "ranges of data", "c": "the listen ended",
    "ac": "signed out", "sd": "a note",
  ]
  /// The letters of messages that change several locations below their path.
  private static let merges: Set<String> = ["m", "om"]

  private static func path(in body: JSONValue?) -> String? {
    body?["p"]?.string.map { $0.hasPrefix("/") ? $0 : "/" + $0 }
  }

  private static func words(_ verb: String, about body: JSONValue?) -> String {
    path(in: body).map { "\(verb) \($0)" } ?? verb
  }

  /// The text up to its last comma, with what is open there closed; nil if it has no comma.
  private static func closed(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    guard let end = openings(in: bytes).comma else { return nil }
    let open = openings(in: bytes[..<end]).open
    return bytes[..<end]
      + open.reversed().map { $0 == UInt8(ascii: "{") ? UInt8(ascii: "}") : UInt8(ascii: "]") }
  }

  /// The brackets that are open at the end of a text, and its last comma outside of strings.
  private static func openings(in bytes: ArraySlice<UInt8>) -> (open: [UInt8], comma: Int?) {
    var open: [UInt8] = []
    var comma: Int?
    var isString = false
    var isEscaped = false
    for (index, byte) in zip(bytes.indices, bytes) {
      if isEscaped {
        isEscaped = false
      } else if isString {
        isEscaped = byte == UInt8(ascii: "\\")
        isString = byte != UInt8(ascii: "\"")
      } else {
        switch byte {
        case UInt8(ascii: "\""): isString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): open.append(byte)
        case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = open.popLast()
        case UInt8(ascii: ","): comma = index
        default: break
        }
      }
    }
    return (open, comma)
  }
}

/// Paths as the inspector compares them, bounded so that no frame makes it slow.
enum WirePath {
  /// The largest number of locations that are kept for one event.
  private static let limit = 16
  /// The longest path that is kept, in bytes.
  private static let lengthLimit = 256

  /// The locations of names below a path; the path itself if there are none, or too many.
  static func places(below path: String, named names: [String]) -> [String] {
    let prefix = path.hasSuffix("/") ? path : path + "/"
    let all =
      names.isEmpty || names.count > limit
      ? [path] : names.map { $0.hasPrefix("/") ? prefix + $0.dropFirst() : prefix + $0 }
    return all.map(bounded)
  }

  /// The path, or as much of it as is kept.
  static func bounded(_ path: String) -> String {
    guard path.utf8.count > lengthLimit else { return path }
    return String(decoding: path.utf8.prefix(lengthLimit), as: UTF8.self) + "…"
  }

  /// Whether one of the paths is the other, or above it.
  static func overlap(_ left: String, _ right: String) -> Bool {
    func isAbove(_ upper: String, _ lower: String) -> Bool {
      guard upper != "/" else { return true }
      guard lower.utf8.starts(with: upper.utf8) else { return false }
      let rest = lower.utf8.dropFirst(upper.utf8.count)
      return rest.isEmpty || rest.first == UInt8(ascii: "/")
    }
    return isAbove(left, right) || isAbove(right, left)
  }
}

/// The unanswered requests, so that a response can be shown with its request.
struct OpenRequests: Equatable, Sendable {
  private struct Request: Equatable {
    let text: String
    let time: Int64
    let path: String?
    let places: [String]
    let writes: [String]
  }

  /// The largest number that is remembered, so that a server that never answers cannot fill memory.
  private static let limit = 10_000

  private var requests: [Int64: Request] = [:]

  /// Puts a frame into words; for a response, these include its request and how long it took.
  mutating func described(_ event: WireEvent) -> InspectedEvent {
    switch event.kind {
    case .sent, .received: return describedFrame(event)
    case .connection:
      // Each connection numbers its requests from the start.
      requests = [:]
      return InspectedEvent(event: event)
    case .event, .listener, .write, .transaction:
      var described = InspectedEvent(event: event, path: event.path.map(WirePath.bounded))
      if let path = event.path {
        described.places = WirePath.places(below: path, named: event.changedNames)
      }
      described.isNews = event.kind == .event
      switch (event.kind, event.change) {
      case (.write, .begun(let name)?), (.write, .ended(let name)?): described.writes = [name]
      case (_, _): described.writes = event.group.map { [$0] } ?? []
      }
      return described
    }
  }

  private mutating func describedFrame(_ event: WireEvent) -> InspectedEvent {
    guard let summary = FrameSummary(event.title) else { return InspectedEvent(event: event) }
    func described(_ title: String) -> InspectedEvent {
      var frame = event
      frame.title = title
      if event.detail.isEmpty { frame.detail = event.title }
      return InspectedEvent(event: frame, path: summary.path, places: summary.places)
    }
    var result: InspectedEvent
    switch summary.role {
    case .push:
      result = described(summary.text)
      result.isNews = true
    case .keepalive:
      result = described(summary.text)
      result.isKeepalive = true
    case .request(let number):
      result = described("#\(number) \(summary.text)")
      result.writes = event.carried ?? []
      if requests.count >= Self.limit { requests = [:] }
      requests[number] = Request(
        text: summary.text,
        time: event.time,
        path: summary.path,
        places: summary.places,
        writes: result.writes
      )
    case .answer(let number):
      guard let request = requests.removeValue(forKey: number) else {
        return described("#\(number) \(summary.text)")
      }
      let time = max(0, event.time - request.time)
      result = described("#\(number) \(summary.text), after \(time) ms: \(request.text)")
      result.path = request.path
      result.places = request.places
      result.writes = request.writes
      result.roundTrip = time
    }
    return result
  }
}

extension WireEvent {
  /// The names before the data of an update, which are paths below its own.
  fileprivate var changedNames: [String] {
    guard kind == .write, detail.hasPrefix("/") else { return [] }
    return detail.split(separator: "\n").map { String($0.prefix { $0 != ":" }) }
      .filter { $0.hasPrefix("/") }
  }
}
