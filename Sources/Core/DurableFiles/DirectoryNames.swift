internal import Foundation

/// Makes directory entries durable, which an `fsync` of the files themselves does not do.
///
/// After a power failure, a synchronized file is still lost if its directory entry is lost.
package enum DirectoryNames {
  /// Waits until the entries of a directory are on disk.
  package static func synchronize(_ directory: String) throws(FileFailure) {
    let action = "cannot write \(directory)"
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileFailure(errno, action: action) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw FileFailure(errno, action: action) }
  }

  /// Waits until the entries of a directory are on disk, if the system supports and permits this.
  ///
  /// - Throws: ``FileFailure`` if the disk fails.
  package static func synchronizeIfPossible(_ directory: String) throws(FileFailure) {
    do {
      try synchronize(directory)
    } catch {
      // Opening the directory may not be permitted, and some file systems cannot synchronize it.
      if [EIO, ENOSPC, EDQUOT].contains(error.code) { throw error }
    }
  }

  /// Waits until the entries of a file, behind links, and of all directories above it are on disk.
  ///
  /// - Throws: ``FileFailure`` if the disk fails.
  static func synchronize(
    above path: String,
    with synchronize: (String) throws(FileFailure) -> Void
  ) throws(FileFailure) {
    var location = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    while location.path != "/" {
      location.deleteLastPathComponent()
      try synchronize(location.path)
    }
  }
}
