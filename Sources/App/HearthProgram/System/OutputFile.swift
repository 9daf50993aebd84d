import DurableFiles
import Foundation

/// A file that is written completely or not at all.
///
/// Its name ends in ".partial" until it is finished. A symbolic link stays one: the file that it
/// leads to is replaced. Anything other than a regular file, such as a pipe, is written to directly;
/// a pipe that nobody reads would keep nothing, and is an error.
package final class OutputFile {
  /// The final path of the file.
  let path: String
  /// The path of the file until it is finished.
  let partialPath: String
  /// The final path without symbolic links at its end.
  private let target: String
  private let descriptor: Int32
  private let isDirect: Bool
  private var isFinished = false

  /// Creates an empty file that only its owner may read, unless it replaces one that others may.
  ///
  /// - Parameters:
  ///   - path: The final path of the file.
  ///   - isSetting: Whether it belongs to the owner of its directory if root creates it: an
  ///     administrator who changes somebody's settings must not leave them unreadable.
  /// - Throws: ``CommandFailure`` when it cannot be written, another process is writing it, or it
  ///   belongs to a database.
  package init(_ path: String, isSetting: Bool = false) throws(CommandFailure) {
    self.path = path
    var status = stat()
    let exists = stat(path, &status) == 0
    // The system forbids to follow some links of other users.
    guard exists || errno == ENOENT else { throw .unwritable(path, errno, .failed) }
    isDirect = exists && status.st_mode & S_IFMT != S_IFREG
    target = isDirect ? path : Self.target(of: path)
    partialPath = isDirect ? path : target + ".partial"
    try DatabaseFiles.protect(path)
    descriptor =
      isDirect
      ? open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK) : try Self.openLocked(partialPath, for: path)
    guard descriptor >= 0, isDirect || ftruncate(descriptor, 0) == 0 else {
      throw .unwritable(path, errno, .failed)
    }
    if isDirect { _ = fcntl(descriptor, F_SETFL, 0) }
    // What is replaced may be for others, too.
    if exists, !isDirect { fchmod(descriptor, status.st_mode & 0o777) }
    if isSetting, !isDirect { PrivateFile.inheritOwner(descriptor, at: partialPath) }
  }

  deinit {
    if !isFinished, !isDirect { unlink(partialPath) }
    close(descriptor)
  }

  /// The path that a symbolic link leads to, whether a file is there or not.
  fileprivate static func target(of path: String) -> String {
    var path = path
    for _ in 0..<40 {
      guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
        break
      }
      path = link.hasPrefix("/") ? link : FilePath.directory(of: path) + "/" + link
    }
    return path
  }

  /// Opens a partial file, which belongs to another process until this one has locked it.
  ///
  /// It is created if it is missing. The closure is called between opening and locking; the other
  /// path is for messages.
  ///
  /// - Throws: ``CommandFailure`` when another process has locked the file.
  static func openLocked(
    _ partialPath: String,
    for path: String,
    opened: () -> Void = {}
  ) throws(CommandFailure) -> Int32 {
    while true {
      let descriptor = open(partialPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw .unwritable(path, errno, .failed) }
      opened()
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        throw CommandFailure(.conflict, "another process is writing \(path)")
      }
      // Another process may have finished and renamed the file before the lock was taken.
      var (own, named) = (stat(), stat())
      if fstat(descriptor, &own) == 0, stat(partialPath, &named) == 0,
        own.st_ino == named.st_ino, own.st_dev == named.st_dev
      {
        return descriptor
      }
      close(descriptor)
    }
  }

  /// Removes the partial file, and what SQLite keeps beside it, if a signal ends the process.
  ///
  /// The returned watches wait for the signals until they are cancelled.
  func watchForStop() -> [SignalWatch] {
    guard !isDirect else { return [] }
    return SignalWatch.ends.map { [partialPath] number in
      SignalWatch(number) {
        for end in ["", "-journal", "-draft"] {
          try? FileManager.default.removeItem(atPath: partialPath + end)
        }
        SignalWatch.end(by: number)
      }
    }
  }

  package func write(_ text: String) throws(CommandFailure) {
    let code = PrivateFile.writeAll(Array(text.utf8), to: descriptor)
    guard code == 0 else { throw .unwritable(path, code, .failed) }
  }

  /// Syncs the file to disk and renames it to its final path.
  package func finish() throws(CommandFailure) {
    isFinished = true
    guard !isDirect else { return }
    guard fsync(descriptor) == 0, rename(partialPath, target) == 0 else {
      let code = errno
      unlink(partialPath)
      throw .unwritable(path, code, .failed)
    }
    do {
      try DirectoryNames.synchronizeIfPossible(FilePath.directory(of: target))
    } catch {
      throw .unwritable(path, error.code, .failed)
    }
  }
}

enum DatabaseFiles {
  private static let names: Set<String> = {
    let databases = ["database.sqlite", "accounts.sqlite"].flatMap { name in
      ["", "-wal", "-shm", "-mark", "-journal"].map { name + $0 }
    }
    return Set(databases + ["lock", "server", "keys.json", "custom-token-key.json"])
  }()

  /// Ensures that one of them is not written to as any other file.
  ///
  /// - Throws: ``CommandFailure`` when it belongs to a database.
  static func protect(_ path: String) throws(CommandFailure) {
    let target = OutputFile.target(of: path)
    let isInUse =
      names.contains(FilePath.name(of: target))
      && access(FilePath.directory(of: target) + "/lock", F_OK) == 0
    // A database may be a symbolic link to a file elsewhere, beside which its log is.
    if isInUse || access(target + "-wal", F_OK) == 0 {
      throw CommandFailure(.conflict, "\(path) belongs to a database in use; choose another path")
    }
  }
}
