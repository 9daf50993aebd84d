private import Foundation

/// Controls which open files and connections child programs inherit.
package enum Inheritance {
  /// Keeps everything that is open, apart from the three standard files, from programs started
  /// later.
  ///
  /// Accepted connections are not marked close-on-exec. If a child process also holds one, closing
  /// it here does not end it for the peer.
  ///
  /// - Complexity: O(open files)
  package static func end() {
    let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    for descriptor in (names ?? []).compactMap({ Int32($0) }) where descriptor > STDERR_FILENO {
      // Descriptors that were closed in between do not matter.
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
  }
}
