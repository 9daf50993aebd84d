private import Glibc

/// The file of a listening Unix socket: made for this user alone, removed only by who made it.
struct SocketFile: Sendable {
  /// Longest path that the kernel takes, in bytes.
  static let pathBytes = 107

  let path: String
  /// The listening socket.
  let descriptor: Int32
  private let device: UInt64
  private let inode: UInt64

  /// Binds and listens; a socket file that nobody answers at is replaced.
  ///
  /// A file gets the mode that its socket has when it is bound, so that nobody else can ever connect
  /// and the mask for new files, which belongs to the whole process, stays as it is.
  init(listeningAt path: String) throws(ListenError) {
    guard !path.isEmpty, path.utf8.count <= Self.pathBytes, !path.utf8.contains(0) else {
      throw ListenError(
        .unusablePath,
        "the path of the socket has \(path.utf8.count) bytes; it must have 1 to "
          + "\(Self.pathBytes): \(path)"
      )
    }
    let lock = try Self.lock(path)
    defer { Glibc.close(lock) }
    try Self.clear(path)
    let descriptor = try Self.makeSocket(path)
    guard fchmod(descriptor, 0o600) == 0,
      Self.withAddress(of: path, { bind(descriptor, $0, $1) }) == 0
    else {
      let code = errno
      Glibc.close(descriptor)
      throw Self.failure("the socket \(path) cannot be made", code)
    }
    var status = stat()
    guard lstat(path, &status) == 0, listen(descriptor, 4_096) == 0 else {
      let code = errno
      Glibc.close(descriptor)
      throw Self.failure("the socket \(path) cannot listen", code)
    }
    self.path = path
    self.descriptor = descriptor
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// Removes the file, unless another one has taken its place.
  func remove() {
    var status = stat()
    guard lstat(path, &status) == 0, UInt64(status.st_dev) == device,
      UInt64(status.st_ino) == inode
    else { return }
    unlink(path)
  }

  /// Keeps two servers that start at once from removing each other's socket.
  private static func lock(_ path: String) throws(ListenError) -> Int32 {
    let descriptor = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw failure("the socket \(path) cannot be made", errno)
    }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else {
        let code = errno
        Glibc.close(descriptor)
        throw failure("the socket \(path) cannot be locked", code)
      }
    }
    return descriptor
  }

  /// Makes room at a path, if what is there is a socket of a server that is gone.
  private static func clear(_ path: String) throws(ListenError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT else { throw failure("the socket \(path) cannot be made", errno) }
      return
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw ListenError(
        .unusablePath,
        "\(path) is a file and not a socket; remove it or choose another path"
      )
    }
    let probe = try makeSocket(path)
    defer { Glibc.close(probe) }
    guard withAddress(of: path, { connect(probe, $0, $1) }) != 0 else {
      throw ListenError(.inUse, "another server is listening at \(path)")
    }
    guard errno == ECONNREFUSED else {
      throw failure("the socket \(path) is there and cannot be tried", errno)
    }
    guard unlink(path) == 0 || errno == ENOENT else {
      throw failure("the socket \(path) of a server that is gone cannot be removed", errno)
    }
  }

  private static func makeSocket(_ path: String) throws(ListenError) -> Int32 {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_UNIX, kind | Int32(SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw failure("the socket \(path) cannot be made", errno) }
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
      // Safety: every socket address starts as the general one does.
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }

  private static func failure(_ what: String, _ code: Int32) -> ListenError {
    ListenError(.failed, "\(what): \(String(cString: strerror(code)))")
  }
}
