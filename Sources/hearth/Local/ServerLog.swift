import Foundation

/// The log file of a server that runs in the background.
enum ServerLog {
  /// The size from which a log is put aside, in bytes; the one put aside before it goes.
  private static let longest = 1_000_000

  /// Sends stderr to a file that only its owner may read.
  ///
  /// - Throws: ``CommandFailure`` when the file cannot be written.
  static func redirect(to path: String) throws(CommandFailure) {
    let directory = (path as NSString).deletingLastPathComponent
    try? FileManager.default.createDirectory(
      atPath: directory,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    var information = stat()
    if stat(path, &information) == 0, information.st_size > longest { rename(path, path + ".1") }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CommandFailure(.usage, "\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
    dup2(descriptor, STDERR_FILENO)
    close(descriptor)
  }

  /// Closes stdout, for the one who waits for its end.
  static func closeOutput() {
    let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    dup2(descriptor, STDOUT_FILENO)
    close(descriptor)
  }
}
