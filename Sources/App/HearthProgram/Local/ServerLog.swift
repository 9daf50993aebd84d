import Foundation

/// What a server that runs in the background does with the streams that it was started with.
enum ServerLog {
  /// Closes stdout, for the one who waits for its end.
  static func closeOutput() {
    let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    dup2(descriptor, STDOUT_FILENO)
    close(descriptor)
  }
}
