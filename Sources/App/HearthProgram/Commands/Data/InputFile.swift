import Foundation

/// Reads what a command is given to read.
enum InputFile {
  /// The bytes of a file, or of stdin for "-".
  ///
  /// - Throws: ``CommandFailure`` that names the file and the reason.
  static func bytes(_ path: String) throws(CommandFailure) -> [UInt8] {
    if path == "-" { return Array(FileHandle.standardInput.readDataToEndOfFile()) }
    if access(path, R_OK) != 0 {
      throw CommandFailure(.usage, "\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    do {
      return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw CommandFailure(.usage, "\(path) cannot be read: \(SystemReason.of(error))")
    }
  }

  /// The text of a file, or of stdin for "-", without the newline at its end.
  ///
  /// - Throws: ``CommandFailure`` that names the file and the reason.
  static func text(_ path: String) throws(CommandFailure) -> String {
    var bytes = try bytes(path)
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.usage, "\(path == "-" ? "stdin" : path) is not UTF-8 text")
    }
    return text
  }
}
