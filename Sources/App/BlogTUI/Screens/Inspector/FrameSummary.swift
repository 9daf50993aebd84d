import RealtimeCore

/// A frame in a few words: which request it is, or which one it answers, and about what.
struct FrameSummary: Equatable {
  /// What the frame is.
  enum Role: Equatable {
    /// A request of that number.
    case request(Int64)
    /// The answer to the request of that number.
    case answer(Int64)
    /// Neither: told without being asked.
    case push
  }

  let role: Role
  /// What it says.
  let text: String

  /// Reads a frame; nil when it is cut off, or of an unknown form.
  ///
  /// - Complexity: O(n) in the length of the frame
  init?(_ frame: String) {
    guard let json = try? JSONParser.parse(Array(frame.utf8)), let type = json["t"]?.string else {
      return nil
    }
    let data = json["d"]
    if type == "c" {
      role = .push
      text = "control \(data?["t"]?.string ?? "")"
    } else if let number = data?["r"]?.integer, let action = data?["a"]?.string {
      role = .request(number)
      text = Self.words(Self.requests[action] ?? action, about: data?["b"])
    } else if let number = data?["r"]?.integer {
      role = .answer(number)
      let status = data?["b"]?["s"]?.string ?? "ok"
      let reason = status == "ok" ? nil : data?["b"]?["d"]?.string
      text = reason.map { "\(status): \($0)" } ?? status
    } else if let action = data?["a"]?.string {
      role = .push
      text = Self.words(Self.pushes[action] ?? action, about: data?["b"])
    } else {
      return nil
    }
  }

  /// What clients ask for, by the letters of the protocol.
  private static let requests = [
    "q": "listen", "n": "stop listening", "g": "get", "p": "set", "m": "update",
    "o": "set at the end", "om": "update at the end", "oc": "cancel what is due at the end",
    "auth": "sign in", "gauth": "sign in", "unauth": "sign out", "s": "statistics",
  ]
  /// What servers tell, by the letters of the protocol.
  private static let pushes = [
    "d": "data", "m": "changes", "rm": "ranges of data", "c": "the listen ended",
    "ac": "signed out", "sd": "a note",
  ]

  private static func words(_ verb: String, about body: JSONValue?) -> String {
    guard let path = body?["p"]?.string else { return verb }
    return "\(verb) \(path.hasPrefix("/") ? path : "/" + path)"
  }
}

/// Which requests are not answered, so that an answer can be told with what it is about.
struct OpenRequests: Equatable, Sendable {
  private struct Request: Equatable {
    let text: String
    let time: Int64
  }

  /// How many are remembered; a server that never answers must not fill the memory.
  private static let limit = 10_000

  private var requests: [Int64: Request] = [:]

  /// Tells a frame in words: of an answer, what it answers and how long that took.
  mutating func described(_ event: WireEvent) -> WireEvent {
    switch event.kind {
    case .sent, .received: break
    case .connection:
      // Numbers begin anew with each connection.
      requests = [:]
      return event
    case .event, .listener, .write, .transaction: return event
    }
    guard let summary = FrameSummary(event.title) else { return event }
    switch summary.role {
    case .push: return event.titled(summary.text)
    case .request(let number):
      if requests.count >= Self.limit { requests = [:] }
      requests[number] = Request(text: summary.text, time: event.time)
      return event.titled("#\(number) \(summary.text)")
    case .answer(let number):
      guard let request = requests.removeValue(forKey: number) else {
        return event.titled("#\(number) \(summary.text)")
      }
      let time = max(0, event.time - request.time)
      return event.titled("#\(number) \(summary.text), after \(time) ms: \(request.text)")
    }
  }
}

extension WireEvent {
  fileprivate func titled(_ title: String) -> WireEvent {
    WireEvent(
      time: time,
      kind: kind,
      title: title,
      detail: detail.isEmpty ? self.title : detail,
      change: change,
      group: group
    )
  }
}
