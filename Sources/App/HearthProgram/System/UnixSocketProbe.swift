package import Foundation

/// Determines which process listens on a Unix socket.
package enum UnixSocketProbe {
  package enum Finding: Equatable {
    /// Nothing, or a socket on which no process listens.
    case nobody
    case process(pid_t)
    case notASocket
    /// A path that cannot be used.
    case unusable(String)
  }

  /// The kernel's limit on the length of a path, in bytes.
  static let pathBytes = 107

  /// Inspects a path and connects to the socket there.
  package static func look(at path: String) -> Finding {
    guard path.utf8.count <= pathBytes else {
      return .unusable("the path is longer than \(pathBytes) bytes")
    }
    var information = stat()
    guard lstat(path, &information) == 0 else { return .nobody }
    guard information.st_mode & S_IFMT == S_IFSOCK else { return .notASocket }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return .unusable(String(cString: strerror(errno))) }
    defer { close(descriptor) }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
    }
    guard result == 0 else {
      return errno == ECONNREFUSED || errno == ENOENT
        ? .nobody : .unusable(String(cString: strerror(errno)))
    }
    return .process(peer(of: descriptor))
  }

  /// The process at the other end: the first of three 32-bit numbers (pid, uid, gid).
  private static func peer(of descriptor: Int32) -> pid_t {
    var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
    var length = socklen_t(MemoryLayout.size(ofValue: credentials))
    let result = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
    return result == 0 ? credentials.0 : 0
  }
}
