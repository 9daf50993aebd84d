import NIOConcurrencyHelpers
import RealtimeTransport

/// A WebSocket client written from RFC 6455 alone, which sends and exposes single frames, and reads
/// only when told to.
final class RawWebSocket: Sendable {
  struct Frame: Sendable, Equatable {
    var opcode: UInt8
    var payload: [UInt8]
  }

  /// The server broke the rules of the RFC.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The sizes of the last message's segments in UTF-16 code units; one element if it was not
  /// segmented.
  var lastSegments: [Int] { segments.withLockedValue { $0 } }

  private let connection: ByteConnection
  private let segments = NIOLockedValueBox<[Int]>([])

  /// Opens a WebSocket.
  ///
  /// - Parameters:
  ///   - address: Where the server listens.
  ///   - target: The path and the parameters.
  ///   - earlier: The targets of plain requests that are sent over the same connection before.
  ///   - waits: Whether each of those is answered before the next request is sent.
  ///   - lines: Further header lines.
  /// - Throws: A failure when the handshake is refused.
  init(
    _ address: ListenAddress,
    target: String = "/.ws?v=5",
    after earlier: [String] = [],
    waits: Bool = true,
    lines: [String] = []
  ) async throws {
    connection = try await ByteConnection(address)
    var unanswered = 0
    for request in earlier {
      connection.send(Array(HTTPProbe.text("GET", request).utf8))
      unanswered += 1
      if waits {
        _ = try await connection.take { HTTPProbeAnswer.parse($0, hasBody: true) }
        unanswered = 0
      }
    }
    connection.send(Array(Self.request(target, lines: lines).utf8))
    for _ in 0..<unanswered {
      _ = try await connection.take { HTTPProbeAnswer.parse($0, hasBody: true) }
    }
    let answer = try await connection.take { HTTPProbeAnswer.parse($0, hasBody: false) }
    guard answer.status == 101,
      answer.lines["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    else { throw Failure(description: "the handshake was answered with \(answer)") }
  }

  /// The request that opens a WebSocket, with the key from the RFC's own example.
  static func request(_ target: String, lines: [String]) -> String {
    let isPlain = !lines.contains { $0.lowercased().hasPrefix("connection:") }
    let upgrade = [
      "Upgrade: websocket", "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]
    return HTTPProbe.text(
      "GET",
      target,
      lines: (isPlain ? ["Connection: Upgrade"] : []) + lines + upgrade
    )
  }

  /// Sends one frame.
  func send(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) {
    connection.send(Self.bytes(opcode, payload, isFinal: isFinal))
  }

  func send(_ text: String) { send(1, Array(text.utf8)) }

  /// Sends bytes that need not be a frame.
  func send(bytes: [UInt8]) { connection.send(bytes) }

  /// One frame in a client's encoding; long ones are masked with zeros, which takes no time.
  static func bytes(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
    var bytes = [opcode | (isFinal ? 0x80 : 0)]
    switch payload.count {
    case 0...125: bytes.append(0x80 | UInt8(payload.count))
    case 126...0xFFFF:
      bytes += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default:
      bytes.append(0x80 | 127)
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    if payload.count > 1_024 { return bytes + [0, 0, 0, 0] + payload }
    let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
    return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
  }

  /// Stops or resumes reading.
  func setReading(_ isReading: Bool) async throws { try await connection.setReading(isReading) }

  /// Receives one frame.
  func frame() async throws -> Frame {
    try await connection.take { try Self.frame($0[...]) }
  }

  /// The frame at the start of some bytes, which a server must not mask, fragment or mark, and its
  /// length.
  private static func frame(_ bytes: ArraySlice<UInt8>) throws -> (Frame, Int)? {
    let start = bytes.startIndex
    guard bytes.count >= 2 else { return nil }
    guard bytes[start] & 0xF0 == 0x80, bytes[start + 1] & 0x80 == 0 else {
      throw Failure(description: "a frame begins with \(bytes.prefix(2))")
    }
    var length = Int(bytes[start + 1])
    var head = 2
    if length >= 126 {
      head += length == 126 ? 2 : 8
      guard bytes.count >= head else { return nil }
      length = bytes[(start + 2)..<(start + head)].reduce(0) { $0 << 8 | Int($1) }
    }
    guard bytes.count >= head + length else { return nil }
    let payload = Array(bytes[(start + head)..<(start + head + length)])
    return (Frame(opcode: bytes[start] & 15, payload: payload), head + length)
  }

  /// Receives the next text message, reassembled from its segments; pongs are skipped.
  func next() async throws -> String {
    let first = try await textFrame()
    guard first.utf8.count <= 6, let count = Int(first) else {
      segments.withLockedValue { $0 = [first.utf16.count] }
      return first
    }
    var parts: [String] = []
    for _ in 0..<count { parts.append(try await textFrame()) }
    segments.withLockedValue { $0 = parts.map(\.utf16.count) }
    return parts.joined()
  }

  private func textFrame() async throws -> String {
    var frame = try await frame()
    while frame.opcode == 10 { frame = try await self.frame() }
    guard frame.opcode == 1, let text = String(validating: frame.payload, as: UTF8.self) else {
      throw Failure(
        description: "not text but a frame of kind \(frame.opcode) came: \(frame.payload)"
      )
    }
    return text
  }

  /// Reads until the server closes, and returns its close code, or 0 without one.
  func closeCode() async throws -> Int {
    try await connection.take(atEnd: true) { bytes in
      var rest = bytes[...]
      while let (frame, length) = try Self.frame(rest) {
        if frame.opcode == 8 {
          return (frame.payload.prefix(2).reduce(0) { $0 << 8 | Int($1) }, bytes.count)
        }
        rest = rest.dropFirst(length)
      }
      return (0, bytes.count)
    }
  }

  /// Whether the server closes the connection without another frame.
  func isEnded() async throws -> Bool {
    try await connection.take(atEnd: true) { ($0.isEmpty, $0.count) }
  }

  /// Closes the connection without a goodbye.
  func cut() { connection.cut() }
}
