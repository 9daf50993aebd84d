import Foundation
import TestSupport

/// A WebSocket to a server's Unix socket that sends and receives single messages, and nothing more.
final class WireClient {
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  /// Whether the server has said goodbye.
  private var isEnded = false

  /// Connects and waits for the greeting; nil when no server answers.
  init?(socket path: String) {
    guard let descriptor = Self.connect(to: path) else { return nil }
    self.descriptor = descriptor
    let request = """
      GET /.ws?v=5&ns=hearth HTTP/1.1\r
      Host: localhost\r
      Upgrade: websocket\r
      Connection: Upgrade\r
      Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r
      Sec-WebSocket-Version: 13\r
      \r

      """
    guard write(Array(request.utf8)) else { return nil }
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let range = buffer.firstRange(of: end) {
        guard buffer.starts(with: "HTTP/1.1 101 ".utf8) else { return nil }
        buffer.removeSubrange(..<range.upperBound)
        break
      }
      guard read() else { return nil }
    }
    guard receive() != nil else { return nil }
  }

  deinit { close(descriptor) }

  /// A connected socket, or nil when no server listens.
  static func connect(to path: String) -> Int32? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard withUnixAddress(path, { Foundation.connect(descriptor, $0, $1) }) == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  /// Sends a message as one frame; false when the connection is gone.
  func send(_ text: String) -> Bool {
    let payload = Array(text.utf8)
    var frame: [UInt8] = [0x81]
    if payload.count < 126 {
      frame.append(0x80 | UInt8(payload.count))
    } else {
      frame += [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
    }
    // A mask of zeros leaves the bytes as they are.
    return write(frame + [0, 0, 0, 0] + payload)
  }

  /// The next message, or nil when the connection is gone.
  func receive() -> String? {
    while true {
      if let text = takeFrame() { return text }
      guard !isEnded, read() else { return nil }
    }
  }

  private func takeFrame() -> String? {
    guard buffer.count >= 2 else { return nil }
    var start = 2
    var length = Int(buffer[1] & 127)
    if length >= 126 {
      start = length == 126 ? 4 : 10
      guard buffer.count >= start else { return nil }
      length = buffer[2..<start].reduce(0) { $0 << 8 | Int($1) }
    }
    guard buffer.count >= start + length else { return nil }
    if buffer[0] & 15 == 8 { isEnded = true }
    guard !isEnded else { return nil }
    let text = String(decoding: buffer[start..<(start + length)], as: UTF8.self)
    buffer.removeSubrange(..<(start + length))
    return text
  }

  private func read() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = Foundation.recv(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return false }
    buffer += bytes[..<count]
    return true
  }

  private func write(_ bytes: [UInt8]) -> Bool {
    Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
  }
}
