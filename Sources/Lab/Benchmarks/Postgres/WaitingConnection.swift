import Foundation
import Glibc
import NIOCore
import RealtimeCore

/// A connection that the benchmark thread uses, which waits for each response.
final class WaitingConnection {
  struct Response {
    let status: Int
    /// The address that the request is redirected to.
    let location: String?
    let body: [UInt8]
  }

  private let descriptor: Int32
  private var received: [UInt8] = []
  private var chunk = [UInt8](repeating: 0, count: 16 * 1_024)

  convenience init(port: Int) throws {
    let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
    try self.init(to: LoadTarget(address: address, dialect: .webSocket))
  }

  init(to target: LoadTarget) throws {
    descriptor = try target.connectedSocket()
  }

  deinit {
    close(descriptor)
  }

  func send(_ bytes: ByteBuffer) throws { try bytes.send(over: descriptor) }

  func request(_ method: String, at target: String, body: String = "") throws -> Response {
    try send(
      ByteBuffer(
        string: """
          \(method) \(target) HTTP/1.1\r
          Host: 127.0.0.1\r
          Content-Length: \(body.utf8.count)\r
          \r
          \(body)
          """
      )
    )
    let head = try upgraded()
    let lines = head.split(separator: "\r\n")
    let fields = lines.dropFirst().map { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (parts[0].lowercased(), parts.last.map { $0.trimmingCharacters(in: .whitespaces) })
    }
    func field(_ name: String) -> String? { fields.first { $0.0 == name }?.1 }
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }),
      let length = field("content-length").flatMap({ Int($0) })
    else { throw LoadError("not an answer with a length: \(head)") }
    while received.count < length { try receive() }
    let bytes = Array(received.prefix(length))
    received.removeFirst(length)
    return Response(status: status, location: field("location"), body: bytes)
  }

  /// Waits for the head of a response.
  func upgraded() throws -> String {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let range = received.firstRange(of: end) {
        defer { received.removeFirst(range.upperBound) }
        return String(decoding: received[..<range.upperBound], as: UTF8.self)
      }
      try receive()
    }
  }

  /// Waits for the next WebSocket message.
  func message() throws -> ServerMessage {
    while true {
      let answer = try received.withUnsafeBytes { try Dialect.webSocket.answer(in: $0, at: 0) }
      if let answer {
        defer { received.removeFirst(answer.length) }
        return try ServerMessage(decoding: Array(received[answer.start..<answer.length]))
      }
      try receive()
    }
  }

  private func receive() throws {
    let count = recv(descriptor, &chunk, chunk.count, 0)
    guard count > 0 else { throw LoadError("the server closed a connection, or answers nothing") }
    received += chunk[..<count]
  }
}
