import RealtimeTransport

/// A WebSocket that sends exactly the given frames, and reads only when told to.
final class RawWebSocket: Sendable {
  private let connection: ByteConnection

  /// Connects and requests a WebSocket upgrade.
  init(
    _ address: ListenAddress,
    target: String = "/.ws?v=5",
    host: String = "localhost"
  ) async throws {
    connection = try await ByteConnection(address)
    let lines = [
      "GET \(target) HTTP/1.1", "Host: \(host)", "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAECAwQFBgcICQoLDA0ODw==", "", "",
    ]
    send(bytes: Array(lines.joined(separator: "\r\n").utf8))
    let head = try await connection.take { bytes -> (String, Int)? in
      let end = Array("\r\n\r\n".utf8)
      guard bytes.count >= 4,
        let start = (0...(bytes.count - 4)).first(where: {
          bytes[$0..<($0 + 4)].elementsEqual(end)
        })
      else { return nil }
      return (String(decoding: bytes[..<start], as: UTF8.self), start + 4)
    }
    guard head.hasPrefix("HTTP/1.1 101 ") else { throw ByteConnection.Closed() }
  }

  func send(bytes: [UInt8]) { connection.send(bytes) }

  /// Sends a text frame, masked with zeros.
  func send(_ text: String) { send(frame: 0x81, Array(text.utf8)) }

  /// Sends a frame with the given first byte.
  func send(frame first: UInt8, _ payload: [UInt8], isMasked: Bool = true) {
    let mask: UInt8 = isMasked ? 0x80 : 0
    var bytes = [first]
    switch payload.count {
    case 0...125: bytes.append(mask | UInt8(payload.count))
    case 126...0xFFFF:
      bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default:
      bytes.append(mask | 127)
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    send(bytes: bytes + (isMasked ? [0, 0, 0, 0] : []) + payload)
  }

  func setReading(_ isReading: Bool) async throws { try await connection.setReading(isReading) }

  /// The next message, reassembled if it was split into frames.
  func next() async throws -> String {
    let first = try await frame()
    guard first.count <= 6, let count = Int(first), count > 0 else { return first }
    var text = ""
    for _ in 0..<count { text += try await frame() }
    return text
  }

  /// The payload of the next text frame; throws when the connection ends.
  private func frame() async throws -> String {
    try await connection.take { bytes -> (String, Int)? in
      guard bytes.count >= 2 else { return nil }
      var start = 2
      var count = Int(bytes[1])
      let extra = count == 126 ? 2 : count == 127 ? 8 : 0
      guard bytes.count >= 2 + extra else { return nil }
      if extra > 0 { count = bytes[2..<(2 + extra)].reduce(0) { $0 << 8 | Int($1) } }
      start += extra
      guard bytes.count >= start + count else { return nil }
      let text = String(decoding: bytes[start..<(start + count)], as: UTF8.self)
      return (bytes[0] & 0x0F == 8 ? "closed" : text, start + count)
    }
  }

  /// Reads until the server closes, and returns its close code, or 0 without one.
  func closeCode() async throws -> Int {
    try await connection.take(atEnd: true) { bytes -> (Int, Int)? in
      var start = 0
      while bytes.count >= start + 2 {
        var count = Int(bytes[start + 1])
        var head = 2
        if count == 126, bytes.count >= start + 4 {
          count = Int(bytes[start + 2]) << 8 | Int(bytes[start + 3])
          head = 4
        }
        if bytes[start] & 0x0F == 8, count >= 2, bytes.count >= start + 4 {
          return (Int(bytes[start + 2]) << 8 | Int(bytes[start + 3]), bytes.count)
        }
        start += head + count
      }
      return (0, bytes.count)
    }
  }
}
