import Foundation

/// Reads the secret of the administrators.
package enum AdministratorKeyFile {
  /// The secret in a file, without the blanks around it.
  ///
  /// - Throws: ``CommandFailure`` when the file cannot be read, or when others can read it as well.
  package static func secret(_ path: String) throws(CommandFailure) -> String {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw CommandFailure(.usage, "\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CommandFailure(.usage, "\(path) is no file")
    }
    guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      throw CommandFailure(
        .usage,
        "\(path) can be used by others, who would be administrators; \"chmod 600\" it"
      )
    }
    return try InputFile.text(path).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
