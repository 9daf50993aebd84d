import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// A Unix socket in front of another one, which keeps what the server says, or swallows it.
final class Relay: Sendable {
  let path: String
  private let listener: Int32
  private let said = NIOLockedValueBox<[UInt8]>([])
  private let isDeaf = NIOLockedValueBox(false)

  /// Starts to relay between a new socket and one where a server listens.
  init(_ path: String, to server: String) throws {
    self.path = path
    listener = try Self.socket(path) { bind($0, $1, $2) }
    guard listen(listener, 8) == 0 else { throw POSIXError(.EIO) }
    Thread.detachNewThread { [listener] in
      while case let client = accept(listener, nil, nil), client >= 0 {
        guard let upstream = try? Self.socket(server, { connect($0, $1, $2) }) else { return }
        Thread.detachNewThread { Self.copy(client, upstream) { _ in true } }
        Thread.detachNewThread {
          Self.copy(upstream, client) { bytes in
            self.said.withLockedValue { $0 += bytes }
            return !self.isDeaf.withLockedValue { $0 }
          }
        }
      }
    }
  }

  deinit { stop() }

  /// What the server has said since the last call, frames and all.
  func takeSaid() -> String {
    said.withLockedValue { bytes in
      defer { bytes = [] }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// Whether what the server says is kept from the client.
  func setDeaf(_ isOn: Bool) {
    isDeaf.withLockedValue { $0 = isOn }
  }

  /// Accepts no more connections.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  private static func copy(_ from: Int32, _ to: Int32, _ isPassed: ([UInt8]) -> Bool) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(from, &buffer, buffer.count), count > 0 {
      let bytes = Array(buffer.prefix(count))
      if isPassed(bytes), send(to, bytes, count, Int32(MSG_NOSIGNAL)) != count { break }
    }
    shutdown(from, Int32(SHUT_RDWR))
    shutdown(to, Int32(SHUT_RDWR))
  }

  private static func socket(
    _ path: String,
    _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws -> Int32 {
    let descriptor = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0 else { throw POSIXError(.EIO) }
    return descriptor
  }
}
