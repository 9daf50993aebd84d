import Foundation
import RealtimeCore
import RealtimeTransport

/// One REST request of a scene, on its own connection, and the expected response.
///
/// `+ Name: value` is a header line and `= text` the body. Then comes the status, with the text of
/// the error if there is one, or `unanswered` when the connection is closed without a response, and
/// after it `- name: value` and `-! name` for lines that must or must not exist, `~ JSON` and `~~
/// text` for the body, `~* JSON` for some of its members, and `! CODE` for the error of a request
/// about accounts. In a text, \n stands for a line break and \0 for the byte 0.
final class RESTTalk {
  static let methods: Set = ["GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE"]

  private let method: String
  private let target: String
  private let port: Int
  private var lines: [String] = []
  private var body: String?
  private var probe: HTTPProbe?
  private var answer: HTTPProbeAnswer?
  private var unread = ""

  init(port: Int, _ method: String, _ target: String) {
    self.port = port
    self.method = method
    self.target = target
  }

  /// Whether a line belongs to the request above it.
  static func isExpectation(_ word: String) -> Bool {
    ["+", "=", "-", "-!", "~", "~~", "~*", "!", "unanswered"].contains(word)
      || (word.count == 3 && Int(word) != nil)
  }

  /// Processes the next line of the transcript.
  func take(_ word: String, _ rest: String, _ pattern: inout Pattern) async throws {
    switch word {
    case "+": lines.append(pattern.filled(rest))
    case "=":
      body = pattern.filled(rest).replacing("\\n", with: "\n").replacing("\\0", with: "\0")
    case "-":
      let parts = rest.components(separatedBy: ": ")
      let value = try await received().lines[parts[0].lowercased()]
      let wanted = parts.dropFirst().joined(separator: ": ")
      guard let value, pattern.matches(header: wanted, value) else {
        throw SceneFailure("the header has \(value ?? "no such line")")
      }
    case "-!":
      let value = try await received().lines[rest.lowercased()]
      guard value == nil else { throw SceneFailure("the header has \(value ?? "")") }
    case "~", "~~":
      let text = try await received().body
      let wanted = rest.replacing("\\n", with: "\n")
      guard word == "~" ? pattern.matches(rest, text) : pattern.filled(wanted) == text else {
        throw SceneFailure("the body is \(text)")
      }
    case "~*":
      let text = try await received().body
      guard pattern.matches(rest, text, isPartial: true) else {
        throw SceneFailure("the body is \(text)")
      }
    case "!": try await expectRefusal(rest)
    case "unanswered":
      let text = try await send().rest()
      guard text.isEmpty else { throw SceneFailure("the answer is \(text)") }
    default:
      let answer = try await received()
      let error = JSONValue.object(("error", .string(rest))).text
      guard "\(answer.status)" == word, rest.isEmpty || answer.body == error else {
        throw SceneFailure("the answer is \(answer)")
      }
    }
  }

  /// Expects the code of an error, which the response repeats in several ways.
  private func expectRefusal(_ code: String) async throws {
    let answer = try await received()
    let error = try JSONParser.parse(answer.body)["error"]
    let message = error?["message"]?.string ?? ""
    let first = error?["errors"]?.elements?.first
    guard error?["code"]?.integer == Int64(answer.status),
      message.prefix(while: { $0 != " " }) == code,
      first?["message"]?.string == message, first?["domain"]?.string == "global"
    else { throw SceneFailure("the answer is \(answer)") }
  }

  /// Sends the request if the transcript expects nothing of its response.
  func finish(_ pattern: inout Pattern) async throws {
    if probe == nil { _ = try await received() }
  }

  private func send() async throws -> HTTPProbe {
    let probe = try await HTTPProbe(.loopback(port: port))
    self.probe = probe
    probe.send(HTTPProbe.text(method, target, body, lines: lines))
    return probe
  }

  private func received() async throws -> HTTPProbeAnswer {
    if let answer { return answer }
    let answer = try await send().answer(hasBody: method != "HEAD")
    self.answer = answer
    return answer
  }

  // MARK: Streams

  /// Requests an event stream.
  func openStream() async throws {
    lines.append("Accept: text/event-stream")
    let answer = try await received()
    guard answer.status == 200,
      answer.lines["content-type"]?.hasPrefix("text/event-stream") == true,
      answer.lines["cache-control"] == "no-cache", answer.lines["x-accel-buffering"] == "no"
    else { throw SceneFailure("the answer is \(answer)") }
  }

  /// The next event: its name and its data as one JSON array.
  func event() async throws -> String {
    guard let probe else { throw SceneFailure("there is no stream") }
    while true {
      if let end = unread.range(of: "\n\n") {
        let event = unread[..<end.lowerBound].components(separatedBy: "\n")
        unread = String(unread[end.upperBound...])
        guard event.count == 2, event[0].hasPrefix("event: "), event[1].hasPrefix("data: ") else {
          throw SceneFailure("an event has another form: \(event)")
        }
        return "[\"\(event[0].dropFirst(7))\",\(event[1].dropFirst(6))]"
      }
      let chunk = try await probe.chunk()
      guard !chunk.isEmpty else { throw SceneFailure("the stream has ended") }
      unread += chunk
    }
  }

  func cut() { probe?.cut() }

  /// Whether the stream ends without another event.
  func isEnded() async throws -> Bool {
    try await probe?.chunk().isEmpty == true
  }
}
