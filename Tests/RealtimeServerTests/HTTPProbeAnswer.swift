import Testing

/// A response as an HTTP client reads it.
struct HTTPProbeAnswer: Sendable {
  let status: Int
  /// The values of the header lines by their names in lowercase; several of a name are joined.
  let lines: [String: String]
  let body: String

  /// Parses a complete response, and returns its length in bytes; nil when bytes are missing.
  static func parse(_ bytes: [UInt8], hasBody: Bool) -> (HTTPProbeAnswer, Int)? {
    let end = bytes.indices.dropLast(3).first { bytes[$0...].starts(with: "\r\n\r\n".utf8) }
    guard let end else { return nil }
    let head = String(decoding: bytes[..<end], as: UTF8.self)
    var lines: [String: String] = [:]
    let texts = head.split(separator: "\r\n")
    for line in texts.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      let value = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
      let name = parts[0].lowercased()
      lines[name] = lines[name].map { $0 + ", " + value } ?? value
    }
    let words = (texts.first ?? "").split(separator: " ")
    let status = words.count > 1 ? Int(words[1]) ?? 0 : 0
    let length = hasBody ? lines["content-length"].flatMap { Int($0) } ?? 0 : 0
    guard bytes.count >= end + 4 + length else { return nil }
    let body = String(decoding: bytes[(end + 4)..<(end + 4 + length)], as: UTF8.self)
    return (HTTPProbeAnswer(status: status, lines: lines, body: body), end + 4 + length)
  }
}

/// What a test expects of a response: a number is its status, a text its body.
protocol Expectation {
  func isMet(by answer: HTTPProbeAnswer) -> Bool
}

extension Int: Expectation {
  func isMet(by answer: HTTPProbeAnswer) -> Bool { answer.status == self }
}

extension String: Expectation {
  func isMet(by answer: HTTPProbeAnswer) -> Bool { answer.body == self }
}

extension HTTPProbeAnswer {
  /// Expects this to be the response to a request.
  func giving(
    _ expected: some Expectation,
    to request: String,
    _ sourceLocation: SourceLocation
  ) -> Self {
    let isMet = expected.isMet(by: self)
    #expect(
      isMet,
      "\(request) gives \(status) \(body.prefix(300))",
      sourceLocation: sourceLocation
    )
    return self
  }
}
