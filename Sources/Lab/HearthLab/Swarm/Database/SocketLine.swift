private import Foundation
private import NIOConcurrencyHelpers
private import NIOCore

/// A connection to a server's socket, opened before the server is frozen.
///
/// A request on it is the first thing the server finds when it wakes, before any of its timers: a
/// new connection would have to be accepted first. All calls block, and belong on threads that may.
final class SocketLine: Sendable {
  private let descriptor: Int32
  /// Bytes received beyond the last response.
  private let rest = NIOLockedValueBox<[UInt8]>([])

  /// How long a response may take, in seconds.
  private static let patience = 30

  /// Connects; nil when nothing listens at the path.
  init?(to path: String) {
    let address = try? SocketAddress(unixDomainSocketPath: path)
    guard let descriptor = address?.connectedSocket(waitingAtMost: Self.patience) else {
      return nil
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Sends a request without waiting for the response.
  func send(_ method: String, to path: String, body: String = "") {
    let text =
      "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
      + body
    _ = text.withCString { Foundation.send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
  }

  /// Waits for the response to a request; nil when the connection ends or nothing arrives in time.
  func answer() -> (status: Int, body: String)? {
    var bytes = rest.withLockedValue { $0 }
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.range(of: "\r\n\r\n") {
        let head = text[..<end.lowerBound].lowercased()
        let length = head.firstMatch(of: #/content-length: *(\d+)/#).flatMap { Int($0.1) } ?? 0
        let body = text[end.upperBound...]
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        if body.utf8.count >= length {
          rest.withLockedValue { $0 = Array(body.utf8.dropFirst(length)) }
          return status.map { ($0, String(decoding: body.utf8.prefix(length), as: UTF8.self)) }
        }
      }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      bytes += buffer[..<count]
    }
  }
}
