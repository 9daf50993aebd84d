import NIOConcurrencyHelpers

/// A WebSocket client written from RFC 6455 alone, which sends and exposes single frames.
final class RawWebSocket: Sendable {
  struct Frame: Sendable, Equatable {
    var opcode: UInt8
    var payload: [UInt8]

    var text: String { String(decoding: payload, as: UTF8.self) }
  }

  /// The sizes of the last message's segments in UTF-16 code units; one element if it was not
  /// segmented.
  var lastSegments: [Int] { segments.withLockedValue { $0 } }

  private let socket: RawSocket
  private let segments = NIOLockedValueBox<[Int]>([])

  private init(_ socket: RawSocket) { self.socket = socket }

  private static let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

  /// The request that opens a WebSocket, with the key from the RFC's own example.
  static func request(_ target: String, host: String, lines: [String]) -> String {
    func isGiven(_ name: String) -> Bool {
      lines.contains { $0.lowercased().hasPrefix(name + ":") }
    }
    let defaults = [("host", "Host: \(host)"), ("connection", "Connection: Upgrade")]
    let all =
      ["GET \(target) HTTP/1.1"] + defaults.filter { !isGiven($0.0) }.map(\.1) + lines + [
        "Upgrade: websocket", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "",
      ]
    return all.joined(separator: "\r\n")
  }

  /// Opens a WebSocket.
  static func open(
    port: Int,
    _ target: String,
    host: String,
    lines: [String]
  ) async throws -> RawWebSocket {
    let socket = try RawSocket(port: port)
    try await socket.send(Array(request(target, host: host, lines: lines).utf8))
    let head = try await socket.take { bytes, _ in HTTPText.head(bytes) }
    guard head.status == 101,
      head.lines["sec-websocket-accept"] == ["s3pPLMBiTxaQ9kYGzzhZRbK+xOo="]
    else { throw RawSocket.Failure(description: "the handshake was answered with \(head)") }
    return RawWebSocket(socket)
  }

  /// Sends one frame.
  func send(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) async throws {
    try await socket.send(Self.bytes(opcode, payload, isFinal: isFinal))
  }

  /// One frame in a client's encoding.
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
    return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
  }

  /// Sends bytes that need not be a frame.
  func sendRaw(_ bytes: [UInt8]) async throws { try await socket.send(bytes) }

  func send(_ text: String) async throws { try await send(1, Array(text.utf8)) }

  /// Receives one frame, which a server must not mask, fragment or mark.
  func frame() async throws -> Frame {
    try await socket.take { bytes, _ in
      guard bytes.count >= 2 else { return nil }
      guard bytes[0] & 0xF0 == 0x80, bytes[1] & 0x80 == 0 else {
        throw RawSocket.Failure(description: "a frame begins with \(bytes.prefix(2))")
      }
      var length = Int(bytes[1])
      var start = 2
      if length >= 126 {
        let size = length == 126 ? 2 : 8
        start += size
        guard bytes.count >= start else { return nil }
        length = bytes[2..<start].reduce(0) { $0 << 8 | Int($1) }
      }
      guard bytes.count >= start + length else { return nil }
      return (
        Frame(opcode: bytes[0] & 15, payload: Array(bytes[start..<(start + length)])),
        start + length
      )
    }
  }

  /// Receives a text message, reassembled from its segments.
  func message() async throws -> String {
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
    let frame = try await frame()
    guard frame.opcode == 1, let text = String(validating: frame.payload, as: UTF8.self) else {
      throw RawSocket.Failure(
        description: "not text but a frame of kind \(frame.opcode) came: \(frame.payload)"
      )
    }
    return text
  }

  /// Whether the other end closes without another frame.
  func isEnded() async throws -> Bool { try await socket.rest().isEmpty }

  func cut() { socket.cut() }
}
