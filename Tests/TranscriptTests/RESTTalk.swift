import Foundation

/// One REST request of a scene, on its own connection, and the expected response.
///
/// `+ Name: value` is a header line and `= text` the body. Then comes the status, or `unanswered`
/// when the connection is closed without a response, and after it `- name: value` and `-! name` for
/// lines that must or must not exist, `~ JSON` and `~~ text` for the body.
final class RESTTalk {
  static let methods: Set = ["GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE"]

  private let method: String
  private let target: String
  private let port: Int
  private var lines: [String] = []
  private var body: String?
  private var socket: RawSocket?
  private var answer: HTTPText.Answer?
  private var unread = ""

  init(port: Int, _ method: String, _ target: String) {
    self.port = port
    self.method = method
    self.target = target
  }

  /// Whether a line belongs to the request above it.
  static func isExpectation(_ word: String) -> Bool {
    ["+", "=", "-", "-!", "~", "~~", "unanswered"].contains(word)
      || (word.count == 3 && Int(word) != nil)
  }

  /// Processes the next line of the transcript.
  func take(_ word: String, _ rest: String, _ pattern: inout Pattern) async throws {
    switch word {
    case "+": lines.append(pattern.filled(rest))
    case "=": body = pattern.filled(rest)
    case "-":
      let parts = rest.components(separatedBy: ": ")
      let values = try await received().head.lines[parts[0].lowercased()] ?? []
      let wanted = parts.dropFirst().joined(separator: ": ")
      guard values.count == 1, pattern.matches(header: wanted, values[0]) else {
        throw SceneFailure("the header has \(values)")
      }
    case "-!":
      let values = try await received().head.lines[rest.lowercased()]
      guard values == nil else { throw SceneFailure("the header has \(values ?? [])") }
    case "~", "~~":
      let text = String(decoding: try await received().body, as: UTF8.self)
      let wanted = rest.replacing("\\n", with: "\n")
      guard word == "~" ? pattern.matches(rest, text) : pattern.filled(wanted) == text else {
        throw SceneFailure("the body is \(text)")
      }
    case "unanswered":
      let bytes = try await send().rest()
      guard bytes.isEmpty else {
        throw SceneFailure("the answer is \(String(decoding: bytes, as: UTF8.self))")
      }
    default:
      let answer = try await received()
      guard "\(answer.head.status)" == word else {
        let text = String(decoding: answer.body, as: UTF8.self)
        throw SceneFailure("the answer is \(answer.head) \(text)")
      }
    }
  }

  /// Sends the request if the transcript expects nothing of its response.
  func finish(_ pattern: inout Pattern) async throws {
    if socket == nil { _ = try await received() }
  }

  private func send() async throws -> RawSocket {
    let socket = try RawSocket(port: port)
    self.socket = socket
    let hosts =
      lines.contains { $0.lowercased().hasPrefix("host:") } ? [] : ["Host: localhost:\(port)"]
    var head = ["\(method) \(target) HTTP/1.1"] + hosts + lines
    if let body { head.append("Content-Length: \(body.utf8.count)") }
    try await socket.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")).utf8))
    return socket
  }

  private func received() async throws -> HTTPText.Answer {
    if let answer { return answer }
    let socket = try await send()
    let isHead = method == "HEAD"
    let answer = try await socket.take { bytes, _ in HTTPText.answer(bytes, toHead: isHead) }
    self.answer = answer
    return answer
  }

  // MARK: Streams

  /// Requests an event stream.
  func openStream() async throws {
    lines.append("Accept: text/event-stream")
    let head = try await send().take { bytes, _ in HTTPText.head(bytes) }
    guard head.status == 200,
      head.lines["content-type"]?.first?.hasPrefix("text/event-stream") == true
    else { throw SceneFailure("the answer is \(head)") }
  }

  /// The next event: its name and its data as one JSON array.
  func event() async throws -> String {
    guard let socket else { throw SceneFailure("there is no stream") }
    while true {
      if let end = unread.range(of: "\n\n") {
        let event = unread[..<end.lowerBound].components(separatedBy: "\n")
        unread = String(unread[end.upperBound...])
        guard event.count == 2, event[0].hasPrefix("event: "), event[1].hasPrefix("data: ") else {
          throw SceneFailure("an event has another form: \(event)")
        }
        return "[\"\(event[0].dropFirst(7))\",\(event[1].dropFirst(6))]"
      }
      let chunk = try await socket.take { bytes, _ in HTTPText.chunk(bytes) }
      guard !chunk.isEmpty else { throw SceneFailure("the stream has ended") }
      unread += String(decoding: chunk, as: UTF8.self)
    }
  }

  func cut() { socket?.cut() }

  /// Whether the stream ends without another event.
  func isEnded() async throws -> Bool {
    guard let socket else { return false }
    let chunk = try await socket.take { bytes, _ in HTTPText.chunk(bytes) }
    return chunk.isEmpty && unread.isEmpty
  }
}
