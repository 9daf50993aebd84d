internal import Foundation

/// Files that only their owner may read.
package enum PrivateFile {
  /// Makes an empty file with mode 0600 unless there is one.
  ///
  /// As long as it is empty, its name and those of all directories above are made durable, whoever has
  /// made them: what is written later would go with them when the power does.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - followsLink: Whether the file may be a symbolic link to one that lies elsewhere.
  ///   - synchronize: What waits for the names in a directory.
  /// - Throws: ``FileFailure`` when it cannot be made, or the disk does not keep the names.
  package static func create(
    _ path: String,
    followsLink: Bool,
    synchronize: (String) throws(FileFailure) -> Void = DirectoryNames.synchronizeIfPossible
  ) throws(FileFailure) {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW)
    let descriptor = open(path, flags, 0o600)
    guard descriptor >= 0 else { throw FileFailure(errno, "cannot open \(path)") }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileFailure(errno, "cannot read \(path)") }
    if status.st_size == 0 { try DirectoryNames.synchronize(above: path, synchronize) }
  }

  /// Replaces a file as a whole with one of mode 0600: a reader sees the old content or the new one.
  ///
  /// The new content has the name with ".new" at its end until it is complete; two processes that
  /// replace the same file at the same time need a lock.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - bytes: Its new content.
  ///   - isDurable: Whether the new content is waited for, so that it is also there, or the old one is,
  ///     when the power goes. Without that it only outlives the process.
  /// - Throws: ``FileFailure``. The old content is there then, unless it was the disk that did not keep
  ///   the new name.
  package static func replace(
    _ path: String,
    with bytes: [UInt8],
    isDurable: Bool
  ) throws(FileFailure) {
    let draft = path + ".new"
    // What is there was left by a process that ended in the middle.
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw FileFailure(errno, "cannot write \(draft)") }
    var code = writeAll(bytes, to: descriptor)
    if code == 0, isDurable, fsync(descriptor) != 0 { code = errno }
    if close(descriptor) != 0, code == 0 { code = errno }
    if code == 0, rename(draft, path) != 0 { code = errno }
    guard code == 0 else {
      unlink(draft)
      throw FileFailure(code, "cannot write \(path)")
    }
    guard isDurable else { return }
    let directory = (path as NSString).deletingLastPathComponent
    try DirectoryNames.synchronize(directory.isEmpty ? "." : directory)
  }

  /// Writes all of some bytes, in as many calls as that takes.
  ///
  /// - Parameters:
  ///   - bytes: What to write.
  ///   - descriptor: An open file or pipe.
  /// - Returns: The number of the system's error, or 0.
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
