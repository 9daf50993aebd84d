private import Glibc
package import NIOCore

extension SocketAddress {
  /// A blocking socket that is connected to this address; nil when nobody listens there.
  ///
  /// - Parameter patience: How many seconds receiving may wait; nil for no limit.
  /// - Returns: The descriptor, which belongs to the caller.
  package func connectedSocket(waitingAtMost patience: Int? = nil) -> Int32? {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(self.protocol.rawValue, kind, 0)
    guard withSockAddr({ connect(descriptor, $0, socklen_t($1)) == 0 }) else {
      close(descriptor)
      return nil
    }
    if let patience {
      var limit = timeval(tv_sec: patience, tv_usec: 0)
      let size = socklen_t(MemoryLayout<timeval>.size)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    }
    return descriptor
  }
}
