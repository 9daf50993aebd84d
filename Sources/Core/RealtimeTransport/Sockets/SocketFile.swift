private import Glibc

/// The file of a listening Unix socket, accessible only to this user and removed by its creator.
struct SocketFile: Sendable {
  /// The kernel's limit on the length of a path, in bytes.
  static let pathBytes = 107

  let path: String
  /// The listening socket.
  let descriptor: Int32
  private let device: UInt64
  private let inode: UInt64

  /// Binds and listens, replacing a stale socket file.
  ///
  /// The mode is set before the socket is bound. No other user can therefore ever connect, and the
  /// umask of the process need not change.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - waits: Whether to wait for another server that is about to listen there.
  /// - Throws: ``ListenError`` if something else is at the path, or the file cannot be made.
  init(listeningAt path: String, waits: Bool = true) throws(ListenError) {
    guard !path.isEmpty, path.utf8.count <= Self.pathBytes, !path.utf8.contains(0) else {
      throw ListenError(
        .unusablePath,
        description: "the socket path must be 1 to \(Self.pathBytes) bytes long, "
          + "not \(path.utf8.count): \(path)"
      )
    }
    let lock = try Self.lock(path, waits: waits)
    defer { Glibc.close(lock) }
    try Self.clear(path)
    let descriptor = try Self.makeSocket(path)
    guard fchmod(descriptor, 0o600) == 0,
      Self.withAddress(of: path, { bind(descriptor, $0, $1) }) == 0
    else { throw Self.failure("cannot create the socket \(path)", closing: descriptor) }
    var status = stat()
    guard lstat(path, &status) == 0, listen(descriptor, 4_096) == 0 else {
      throw Self.failure("cannot listen on the socket \(path)", closing: descriptor)
    }
    self.path = path
    self.descriptor = descriptor
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// Whether clients still find this socket at the path.
  var isInPlace: Bool {
    var status = stat()
    return lstat(path, &status) == 0 && UInt64(status.st_dev) == device
      && UInt64(status.st_ino) == inode
  }

  /// Binds again where something has removed the file, with its directory if that is gone as well;
  /// does not block.
  ///
  /// - Throws: ``ListenError`` if something else is at the path now, or it cannot be made.
  func restored() throws(ListenError) -> SocketFile {
    if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex {
      mkdir(String(path[..<slash]), 0o700)
    }
    return try SocketFile(listeningAt: path, waits: false)
  }

  /// Removes the file, unless another one has replaced it.
  func remove() {
    if isInPlace { unlink(path) }
  }

  /// Keeps two servers that start simultaneously from removing each other's socket.
  private static func lock(_ path: String, waits: Bool) throws(ListenError) -> Int32 {
    let descriptor = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure("cannot create the socket \(path)") }
    while flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
      guard errno == EINTR else {
        throw failure("cannot lock the socket \(path)", closing: descriptor)
      }
    }
    return descriptor
  }

  /// Removes the socket of a server that is no longer running.
  private static func clear(_ path: String) throws(ListenError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT else { throw failure("cannot create the socket \(path)") }
      return
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw ListenError(
        .unusablePath,
        description: "\(path) is not a socket; remove it or choose another path"
      )
    }
    let probe = try makeSocket(path)
    defer { Glibc.close(probe) }
    guard withAddress(of: path, { connect(probe, $0, $1) }) != 0 else {
      throw ListenError(.inUse, description: "another server is listening on \(path)")
    }
    guard errno == ECONNREFUSED else {
      throw failure("cannot tell whether a server uses the socket \(path)")
    }
    guard unlink(path) == 0 || errno == ENOENT else {
      throw failure("cannot remove the stale socket \(path)")
    }
  }

  private static func makeSocket(_ path: String) throws(ListenError) -> Int32 {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_UNIX, kind | Int32(SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw failure("cannot create the socket \(path)") }
    return descriptor
  }

  private static func withAddress(
    of path: String,
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // Safety: the path is at most one byte shorter than the field, which is filled with zeros.
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    return withUnsafePointer(to: &address) { pointer in
      // Safety: every socket address begins with the fields of the general one.
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }

  /// Describes the last failure of the system, and closes what it has left open.
  private static func failure(_ what: String, closing descriptor: Int32? = nil) -> ListenError {
    let reason = String(cString: strerror(errno))
    if let descriptor { Glibc.close(descriptor) }
    return ListenError(.failed, description: "\(what): \(reason)")
  }
}

/// Why a server cannot listen at an address.
package struct ListenError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Sendable {
    /// Another program already listens at the address.
    case inUse
    /// The path of a socket is empty or too long, or another kind of file exists there.
    case unusablePath
    case failed
  }

  package let kind: Kind
  /// The reason, with advice where there is any.
  package let description: String

  init(_ kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }
}
