import DurableFiles
import Foundation

/// A file that is written completely or not at all.
///
/// Its name ends in ".partial" until it is finished. Anything other than a regular file, such as a
/// pipe, is written to directly.
final class OutputFile {
  /// The final path of the file.
  let path: String
  /// The path of the file until it is finished.
  let partialPath: String
  private let descriptor: Int32
  private let isDirect: Bool
  private var isFinished = false

  /// Creates an empty file that only its owner may read.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be written, or another process is writing it.
  init(_ path: String) throws(CommandFailure) {
    self.path = path
    var status = stat()
    isDirect = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    partialPath = isDirect ? path : path + ".partial"
    descriptor = open(partialPath, O_RDWR | (isDirect ? 0 : O_CREAT) | O_CLOEXEC, 0o600)
    let code = errno
    guard !isDirect || descriptor < 0 else { return }
    // The partial file belongs to another process until this one has locked it.
    isFinished = true
    guard descriptor >= 0 else { throw .unwritable(path, code, .failed) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, ftruncate(descriptor, 0) == 0 else {
      throw CommandFailure(.conflict, "another process is writing \(path)")
    }
    isFinished = false
  }

  deinit {
    if !isFinished, !isDirect { unlink(partialPath) }
    close(descriptor)
  }

  /// Appends text.
  func write(_ text: String) throws(CommandFailure) {
    let code = PrivateFile.writeAll(Array(text.utf8), to: descriptor)
    guard code == 0 else { throw .unwritable(path, code, .failed) }
  }

  /// Syncs the file to disk and renames it to its final path.
  func finish() throws(CommandFailure) {
    isFinished = true
    guard !isDirect else { return }
    guard fsync(descriptor) == 0, rename(partialPath, path) == 0 else {
      let code = errno
      unlink(partialPath)
      throw .unwritable(path, code, .failed)
    }
    do {
      try DirectoryNames.synchronizeIfPossible(FilePath.directory(of: path))
    } catch {
      throw .unwritable(path, error.code, .failed)
    }
  }
}
