import Glibc
import NIOConcurrencyHelpers
import NIOPosix

/// A plain TCP connection to a local port that shares no code with the code under test.
///
/// Calls block a thread of a pool, each until a deadline.
final class RawSocket: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The other end has closed.
  struct Ended: Error {}

  private let descriptor: Int32
  private let input = NIOLockedValueBox<[UInt8]>([])

  /// Connects to a port of 127.0.0.1.
  init(port: Int) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(description: "no socket can be made") }
    var deadline = timeval(tv_sec: 20, tv_usec: 0)
    let length = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &deadline, length)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &deadline, length)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Failure(description: "nothing answers at port \(port)") }
  }

  deinit { close(descriptor) }

  /// Sends all bytes; the other end may close in the meantime.
  func send(_ bytes: [UInt8]) async throws {
    try await NIOThreadPool.singleton.runIfActive { [descriptor] in
      var sent = 0
      while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes {
          Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return }
        sent += count
      }
    }
  }

  /// Consumes what a parser finds at the start of the input, reading until it finds it.
  ///
  /// The parser returns the length of what it found, and is told whether the input has ended.
  func take<Value: Sendable>(
    _ parse: @escaping @Sendable ([UInt8], _ isAtEnd: Bool) throws -> (Value, Int)?
  ) async throws -> Value {
    try await NIOThreadPool.singleton.runIfActive { [descriptor, input] in
      var isAtEnd = false
      while true {
        let bytes = input.withLockedValue { $0 }
        if let (value, count) = try parse(bytes, isAtEnd) {
          input.withLockedValue { $0.removeFirst(count) }
          return value
        }
        if isAtEnd { throw Ended() }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        let isTimeout = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)
        if isTimeout { throw Failure(description: "nothing came in time") }
        isAtEnd = count <= 0
        if count > 0 { input.withLockedValue { $0 += chunk[..<count] } }
      }
    }
  }

  /// Reads until the other end closes, and returns the bytes received.
  func rest() async throws -> [UInt8] {
    try await take { bytes, isAtEnd in isAtEnd ? (bytes, bytes.count) : nil }
  }

  /// Closes the connection without a goodbye.
  func cut() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
