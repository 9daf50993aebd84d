internal import Foundation

/// Files that only their owner may read.
package enum PrivateFile {
  /// Creates an empty file with mode 0600 unless it exists.
  ///
  /// While the file is empty, its directory entry and those of all directories above it are made
  /// durable, whoever created them. Otherwise a power failure could lose them along with everything
  /// written later.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - followsLink: Whether the file may be a symbolic link.
  ///   - synchronize: Waits until the entries of a directory are on disk.
  /// - Throws: ``FileFailure`` if the file cannot be created or the disk fails.
  package static func create(
    _ path: String,
    followsLink: Bool,
    synchronize: (String) throws(FileFailure) -> Void = DirectoryNames.synchronizeIfPossible
  ) throws(FileFailure) {
    let descriptor = open(path, O_RDWR | (followsLink ? 0 : O_NOFOLLOW))
    guard descriptor >= 0 else { throw FileFailure(errno, action: "cannot open \(path)") }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw FileFailure(errno, action: "cannot read \(path)")
    }
    if status.st_size == 0 { try DirectoryNames.synchronize(above: path, with: synchronize) }
  }

  /// Opens a file, which is created with mode 0600 if it is missing.
  ///
  /// - Returns: The descriptor; negative when the system refuses, for the reason in `errno`.
  package static func open(_ path: String, _ flags: CInt) -> CInt {
    let flags = flags | O_CREAT | O_CLOEXEC
    let created = Foundation.open(path, flags | O_EXCL, 0o600)
    guard created >= 0 else { return Foundation.open(path, flags, 0o600) }
    inheritOwner(created, at: path)
    return created
  }

  /// Gives what root has created to the owner of its directory.
  ///
  /// SQLite does so with the files beside a database. Otherwise a command that an administrator runs
  /// would leave files behind that the owner cannot open.
  package static func inheritOwner(_ descriptor: CInt, at path: String) {
    guard geteuid() == 0 else { return }
    let parent = Foundation.open(FilePath.directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard parent >= 0 else { return }
    defer { close(parent) }
    var (directory, entry, made) = (stat(), stat(), stat())
    // Whoever may change a link above could have exchanged the directory in the meantime.
    guard fstat(parent, &directory) == 0, directory.st_uid != 0,
      fstatat(parent, FilePath.name(of: path), &entry, AT_SYMLINK_NOFOLLOW) == 0,
      fstat(descriptor, &made) == 0, entry.st_dev == made.st_dev, entry.st_ino == made.st_ino
    else { return }
    _ = fchown(descriptor, directory.st_uid, directory.st_gid)
  }

  /// Reads a whole file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - limit: The most bytes that it may have: a device like /dev/zero never ends.
  ///   - waits: Whether it may be a pipe, whose writer is waited for.
  /// - Returns: Its content; nil if there is no file.
  /// - Throws: ``FileFailure`` if there is one that cannot be read.
  package static func read(
    _ path: String,
    atMost limit: Int = 256 * 1_024 * 1_024,
    waits: Bool = false
  ) throws(FileFailure) -> [UInt8]? {
    let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK))
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw FileFailure(errno, action: "cannot open \(path)")
    }
    defer { close(descriptor) }
    var status = stat()
    if !waits, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO {
      throw FileFailure(EINVAL, action: "cannot read \(path)", reason: "it is a pipe")
    }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 * 1_024)
    while true {
      let count = Foundation.read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileFailure(errno, action: "cannot read \(path)") }
      if count == 0 { return bytes }
      guard bytes.count + count <= limit else {
        throw FileFailure(EFBIG, action: "cannot read \(path)")
      }
      bytes += piece[..<count]
    }
  }

  /// Atomically replaces a file with one of mode 0600: readers see the old or the new content.
  ///
  /// The new content is first written to a file with the suffix ".new". Processes that replace the
  /// same file concurrently need a lock.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - bytes: The new content.
  ///   - isDurable: Whether to wait for the disk, so that the old or the new content survives a
  ///     power failure. Otherwise it survives only the end of the process.
  /// - Throws: ``FileFailure``. The old content is then intact, unless the disk failed to keep the
  ///   new directory entry.
  package static func replace(
    _ path: String,
    with bytes: [UInt8],
    isDurable: Bool
  ) throws(FileFailure) {
    let draft = path + ".new"
    // An interrupted process may have left a draft behind.
    unlink(draft)
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let descriptor = Foundation.open(draft, flags, 0o600)
    guard descriptor >= 0 else { throw FileFailure(errno, action: "cannot write \(draft)") }
    inheritOwner(descriptor, at: draft)
    var code = writeAll(bytes, to: descriptor)
    if code == 0, isDurable, fsync(descriptor) != 0 { code = errno }
    if close(descriptor) != 0, code == 0 { code = errno }
    if code == 0, rename(draft, path) != 0 { code = errno }
    guard code == 0 else {
      unlink(draft)
      throw FileFailure(code, action: "cannot write \(path)")
    }
    guard isDurable else { return }
    try DirectoryNames.synchronize(FilePath.directory(of: path))
  }

  /// Writes all bytes, with as many system calls as necessary.
  ///
  /// - Returns: The `errno` of the failure, or 0.
  package static func writeAll(_ bytes: [UInt8], to descriptor: CInt) -> CInt {
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes {
        Foundation.write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count < 0 ? errno : EIO }
      start += count
    }
    return 0
  }
}

/// Directories that only their owner may enter.
package enum PrivateDirectory {
  /// Creates a directory, and missing ones above it, with mode 0700.
  ///
  /// Each new directory is private from the start, because other programs may look into it.
  /// Existing directories are left as they are.
  ///
  /// - Throws: ``FileFailure``, which names the directory that could not be created.
  package static func create(_ path: String) throws(FileFailure) {
    var current = path.hasPrefix("/") ? "" : "."
    for component in path.split(separator: "/") {
      current += "/" + component
      if mkdir(current, 0o700) == 0 {
        let descriptor = open(current, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if descriptor >= 0 {
          PrivateFile.inheritOwner(descriptor, at: current)
          close(descriptor)
        }
        continue
      }
      let code = errno
      // On a read-only file system, `mkdir` fails even for an existing directory.
      if access(current, F_OK) == 0 { continue }
      throw FileFailure(code, action: "cannot create the directory \(current)")
    }
  }
}

package struct FileFailure: Error, Equatable {
  /// The `errno` of the failure.
  package let code: CInt
  /// What failed, with the path: "cannot open /a/b".
  package let action: String
  /// Why it failed, in words.
  package let reason: String

  /// Makes a failure; a reason is given if the system has no good words for it.
  package init(_ code: CInt, action: String, reason: String? = nil) {
    self.code = code
    self.action = action
    self.reason = reason ?? String(cString: strerror(code))
  }
}
