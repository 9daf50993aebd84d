import RealtimeTransport
import Testing

/// A connection that sends and receives HTTP as raw bytes.
final class HTTPProbe: Sendable {
  private let connection: ByteConnection

  init(_ address: ListenAddress, isReading: Bool = true, staysOpen: Bool = false) async throws {
    connection = try await ByteConnection(address, isReading: isReading, staysOpen: staysOpen)
  }

  func send(_ bytes: [UInt8]) { connection.send(bytes) }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// Stops or resumes reading.
  func setReading(_ isReading: Bool) async throws { try await connection.setReading(isReading) }

  /// Ends this side of the connection, unless the other end has closed it.
  func endOutput() async { await connection.endOutput() }

  /// Closes the connection, unless the other end has done so.
  func close() async { await connection.close() }

  /// Closes the connection without waiting.
  func cut() { connection.cut() }

  /// Sends a request and reads the response.
  func request(
    _ method: String,
    _ target: String,
    _ body: String? = nil,
    lines: [String] = []
  ) async throws -> HTTPProbeAnswer {
    send(Self.text(method, target, body, lines: lines))
    return try await answer(hasBody: method != "HEAD")
  }

  /// Sends a request, reads the response and expects its status or its body.
  @discardableResult
  func request(
    _ method: String,
    _ target: String,
    _ body: String? = nil,
    lines: [String] = [],
    gives expected: some Expectation,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> HTTPProbeAnswer {
    let answer = try await request(method, target, body, lines: lines)
    return answer.giving(expected, to: "\(method) \(target)", sourceLocation)
  }

  /// Reads a response, and expects its status or its body.
  @discardableResult
  func answer(
    hasBody: Bool = true,
    gives expected: some Expectation,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> HTTPProbeAnswer {
    try await answer(hasBody: hasBody).giving(expected, to: "a request", sourceLocation)
  }

  /// A request, to localhost unless a line names another host.
  static func text(
    _ method: String,
    _ target: String,
    _ body: String? = nil,
    lines: [String] = []
  ) -> String {
    let isElsewhere = lines.contains { $0.lowercased().hasPrefix("host:") }
    let hosts = isElsewhere ? [] : ["Host: localhost"]
    var text = (["\(method) \(target) HTTP/1.1"] + hosts + lines).joined(separator: "\r\n")
    if let body { text += "\r\nContent-Length: \(body.utf8.count)" }
    return text + "\r\n\r\n" + (body ?? "")
  }

  /// Reads a response, including its body if the header states the length.
  func answer(hasBody: Bool = true) async throws -> HTTPProbeAnswer {
    try await connection.take { HTTPProbeAnswer.parse($0, hasBody: hasBody) }
  }

  /// Reads a chunk of a body; an empty one is the last.
  func chunk() async throws -> String {
    try await connection.take { bytes in
      guard let end = bytes.firstIndex(of: 10), end > 0,
        let count = Int(String(decoding: bytes[..<(end - 1)], as: UTF8.self), radix: 16),
        bytes.count >= end + 1 + count + 2
      else { return nil }
      let body = bytes[(end + 1)..<(end + 1 + count)]
      return (String(decoding: body, as: UTF8.self), end + 1 + count + 2)
    }
  }

  /// Reads the head of a response, then the first chunk of its body.
  func chunkAfterHead() async throws -> String {
    _ = try await connection.take { HTTPProbeAnswer.parse($0, hasBody: false) }
    return try await chunk()
  }

  /// Reads until the other end closes.
  func rest() async throws -> String {
    try await connection.take(atEnd: true) { (String(decoding: $0, as: UTF8.self), $0.count) }
  }
}
