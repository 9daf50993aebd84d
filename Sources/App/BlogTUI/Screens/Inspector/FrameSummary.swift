import RealtimeCore

/// A frame in a few words: the request that it makes or answers, and the path it concerns.
struct FrameSummary: Equatable {
  /// The role of the frame.
  enum Role: Equatable {
    /// A request with that number.
    case request(Int64)
    /// The response to the request with that number.
    case answer(Int64)
    /// Neither: sent by the server on its own initiative.
    case push
  }

  let role: Role
  /// The content in a few words.
  let text: String

  /// Parses a frame; nil if it is cut off or of an unknown form.
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

  private static func words(_ verb: String, about body: JSONValue?) -> String {
    guard let path = body?["p"]?.string else { return verb }
    return "\(verb) \(path.hasPrefix("/") ? path : "/" + path)"
  }
}

/// The unanswered requests, so that a response can be shown with its request.
struct OpenRequests: Equatable, Sendable {
  private struct Request: Equatable {
    let text: String
    let time: Int64
  }

  /// The largest number that is remembered, so that a server that never answers cannot fill memory.
  private static let limit = 10_000

  private var requests: [Int64: Request] = [:]

  /// Puts a frame into words; for a response, these include its request and how long it took.
  mutating func described(_ event: WireEvent) -> WireEvent {
    switch event.kind {
    case .sent, .received: break
    case .connection:
      // Each connection numbers its requests from the start.
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
