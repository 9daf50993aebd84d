internal import Foundation

/// The names in directories, which the disk keeps apart from what they name.
///
/// A file whose content was waited for is still lost with its name when the power goes.
package enum DirectoryNames {
  /// Waits until the names in a directory are on the disk.
  ///
  /// - Parameter directory: The path of a directory of ours.
  /// - Throws: ``FileFailure`` when it cannot be opened or the disk does not keep them.
  package static func synchronize(_ directory: String) throws(FileFailure) {
    let action = "cannot write \(directory)"
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileFailure(errno, action) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw FileFailure(errno, action) }
  }

  /// Waits until the names in a directory are on the disk, where the system can do that and lets us.
  ///
  /// - Parameter directory: The path of a directory that may be somebody else's.
  /// - Throws: ``FileFailure`` when the disk does not keep them.
  package static func synchronizeIfPossible(_ directory: String) throws(FileFailure) {
    do {
      try synchronize(directory)
    } catch {
      // Others may let us only pass through theirs, and some file systems know no waiting for names.
      if [EIO, ENOSPC, EDQUOT].contains(error.code) { throw error }
    }
  }

  /// Waits until the name of a file and those of all directories above it are on the disk.
  ///
  /// - Parameters:
  ///   - path: The path of the file; links in it are followed.
  ///   - synchronize: What waits for the names in a directory.
  /// - Throws: ``FileFailure`` when the disk does not keep them.
  static func synchronize(
    above path: String,
    _ synchronize: (String) throws(FileFailure) -> Void
  ) throws(FileFailure) {
    var place = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    while place.path != "/" {
      place.deleteLastPathComponent()
      try synchronize(place.path)
    }
  }
}
