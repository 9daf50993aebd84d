import BlogTUI
import Foundation
package import RealtimeCore

/// The only place that writes to stdout and stderr: data to the one, messages to the other.
///
/// Text of others passes through `SafeText`, so that nothing in it can steer a terminal; JSON has
/// every control, bidirectional and invisible character escaped.
package enum Output {
  /// Writes a line of data that was made by this program alone.
  package static func line(_ text: String) {
    write(text + "\n", to: STDOUT_FILENO)
  }

  /// Writes text that has been made safe, as a part of what is to come.
  package static func text(_ text: String) {
    write(text, to: STDOUT_FILENO)
  }

  /// Writes text of others as one line.
  package static func line(untrusted text: String) {
    line(SafeText(untrusted: text, mode: .singleLine).string)
  }

  /// Writes text of others as lines.
  static func lines(untrusted text: String, indent: String = "") {
    for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
      line(indent + SafeText(untrusted: String(part), mode: .multiLine).string)
    }
  }

  /// Writes a JSON value on one line.
  package static func line(_ json: JSONValue) {
    line(escaped(json.text))
  }

  /// Writes a message for the person, after the name of the program.
  package static func message(_ text: String) {
    let safe = text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { SafeText(untrusted: String($0), mode: .singleLine).string }
    write("hearth: \(safe.joined(separator: "\n"))\n", to: STDERR_FILENO)
  }

  /// Writes help, or the usage with words of the command line in it, none of which can steer a terminal.
  static func help(_ text: String, echoing words: [String], toStandardError: Bool) {
    var text = text
    // Of an option with a value, either may be named alone.
    let parts = words.flatMap { word in
      [word] + word.split(separator: "=", maxSplits: 1).map(String.init)
    }
    for part in parts.sorted(by: { $0.utf8.count > $1.utf8.count }) {
      let safe = SafeText(untrusted: part, mode: .singleLine).string
      let marked = DashedWord.protect([part])[0]
      if marked != part { text = text.replacing(marked, with: safe) }
      if safe != part { text = text.replacing(part, with: safe) }
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { SafeText(untrusted: String($0), mode: .singleLine).string }
    write(lines.joined(separator: "\n") + "\n", to: toStandardError ? STDERR_FILENO : STDOUT_FILENO)
  }

  /// Writes a line of a log to its file, or to stderr; a log that cannot be written ends nothing.
  static func log(_ line: String, to file: LogFile?) {
    var text = escaped(line.replacing("\n", with: " ")) + "\n"
    if let file { return file.append(text) }
    text.withUTF8 { bytes in
      _ = bytes.baseAddress.map { Foundation.write(STDERR_FILENO, $0, bytes.count) }
    }
  }

  /// JSON text with each character that could steer a terminal written as an escape.
  static func escaped(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x0A }) { return text }
    var result = ""
    result.unicodeScalars.reserveCapacity(text.unicodeScalars.count)
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
        if scalar == "\n" { result.unicodeScalars.append(scalar) } else { result += escape(scalar) }
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    String(scalar).utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }

  /// Writes all bytes, ending the process when the reader of a pipe has gone.
  private static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var start = 0
      while start < bytes.count {
        let written = Foundation.write(
          descriptor,
          bytes.baseAddress.map { $0 + start },
          bytes.count - start
        )
        if written < 0, errno == EINTR { continue }
        if written <= 0 { exit(descriptor == STDOUT_FILENO ? ExitStatus.failed.rawValue : 0) }
        start += written
      }
    }
  }
}
