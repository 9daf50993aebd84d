import DurableFiles
import Foundation

extension PrivateDirectory {
  /// Makes a directory with mode 0700 where it is missing, and checks that it is ours and private.
  ///
  /// - Parameter path: An absolute path.
  /// - Throws: ``CommandFailure`` that says what is wrong with the directory and what to do.
  static func prepare(_ path: String) throws(CommandFailure) {
    var information = stat()
    if lstat(path, &information) != 0 {
      do {
        try create(path)
      } catch {
        throw failure(path, "cannot be made: \(error.action): \(error.reason)")
      }
      guard lstat(path, &information) == 0 else { throw failure(path, "cannot be read") }
    }
    guard information.st_mode & S_IFMT == S_IFDIR else {
      throw failure(path, "is not a directory")
    }
    guard information.st_uid == geteuid() else {
      throw failure(path, "belongs to another user (number \(information.st_uid))")
    }
    guard information.st_mode & 0o077 == 0 else {
      throw failure(path, "may be entered by others; \"chmod 700\" it")
    }
  }

  private static func failure(_ path: String, _ problem: String) -> CommandFailure {
    CommandFailure(
      .usage,
      "the directory \(path) \(problem); choose another with --data-dir or --socket"
    )
  }
}
