internal import Foundation

/// Directories that only their owner may enter.
package enum PrivateDirectory {
  /// Makes a directory, and those above it that are missing, with mode 0700.
  ///
  /// Each is private from its first moment: another program that starts looks at it as well. What is
  /// there already stays as it is, whatever it is.
  ///
  /// - Parameter path: The path of the directory.
  /// - Throws: ``FileFailure`` that names the directory that could not be made.
  package static func create(_ path: String) throws(FileFailure) {
    var current = path.hasPrefix("/") ? "" : "."
    for component in path.split(separator: "/") {
      current += "/" + component
      if mkdir(current, 0o700) == 0 { continue }
      let code = errno
      // Where nothing may be made, as on a file system for reading only, what is there does.
      if access(current, F_OK) == 0 { continue }
      throw FileFailure(code, "cannot create the directory \(current)")
    }
  }
}
