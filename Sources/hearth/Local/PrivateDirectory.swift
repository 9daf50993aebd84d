import Foundation

/// Directories that only their owner may enter.
enum PrivateDirectory {
  /// Makes a directory with mode 0700 where it is missing, and checks that it is ours and private.
  ///
  /// - Parameter path: An absolute path.
  /// - Throws: ``CommandFailure`` that says what is wrong with the directory and what to do.
  static func prepare(_ path: String) throws(CommandFailure) {
    var information = stat()
    if lstat(path, &information) != 0 {
      try make(path)
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

  /// Makes a directory, and those above that are missing.
  ///
  /// Each is private from its first moment: another terminal that starts looks at it as well.
  private static func make(_ path: String) throws(CommandFailure) {
    var current = ""
    for component in path.split(separator: "/") {
      current += "/" + component
      if mkdir(current, 0o700) == 0 { continue }
      let code = errno
      if access(current, F_OK) == 0 { continue }
      throw failure(path, "cannot be made: \(String(cString: strerror(code)))")
    }
  }

  /// The system's words for a failure of Foundation.
  static func reason(_ error: any Error) -> String {
    let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
    let code = (underlying ?? error as NSError)
    return code.domain == NSPOSIXErrorDomain
      ? String(cString: strerror(Int32(code.code))) : error.localizedDescription
  }

  private static func failure(_ path: String, _ problem: String) -> CommandFailure {
    CommandFailure(
      .usage,
      "the directory \(path) \(problem); choose another with --data-dir or --socket"
    )
  }
}
