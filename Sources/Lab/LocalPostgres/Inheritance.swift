private import Foundation

/// What programs that are started get of the files and connections of this one.
package enum Inheritance {
  /// Keeps all that is open now, but for the three standard files, from the programs to come.
  ///
  /// Connections that were let in are not made so that they end with this process alone, and one that
  /// another process has as well does not end for its other side when it is closed here.
  ///
  /// - Complexity: O(open files)
  package static func end() {
    let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    for descriptor in (names ?? []).compactMap({ Int32($0) }) where descriptor > STDERR_FILENO {
      // Descriptors that were closed meanwhile do not matter.
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
  }
}
