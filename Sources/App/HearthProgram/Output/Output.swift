import BlogModel
import BlogTUI
import Foundation
import NIOConcurrencyHelpers
package import RealtimeCore

/// The only code that writes to stdout and stderr: data to the one, messages to the other.
///
/// Text of others passes through `SafeText`, so that nothing in it can steer a terminal; JSON has
/// every control, bidirectional and invisible character escaped.
package enum Output {
  /// Writes a line of data that was made by this program alone.
  package static func line(_ text: String) {
    write(text + "\n", to: STDOUT_FILENO)
  }

  /// Writes text that has been made safe, without ending the line.
  package static func text(_ text: String) {
    write(text, to: STDOUT_FILENO)
  }

  /// Writes text of others as one line.
  package static func line(untrusted text: String) {
    line(plain(text, mode: .singleLine))
  }

  /// Text of others without anything that cannot be seen, such as what joins emoji on a screen.
  private static func plain(_ text: String, mode: SafeText.Mode) -> String {
    var scalars = SafeText(untrusted: text, mode: mode).string.unicodeScalars
    scalars.removeAll { $0 == "\u{200D}" || $0 == "\u{FE0F}" }
    return String(scalars)
  }

  /// Writes text of others as lines.
  static func lines(untrusted text: String, indent: String = "") {
    for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
      line(indent + plain(String(part), mode: .multiLine))
    }
  }

  /// Writes a JSON value on one line.
  package static func line(_ json: JSONValue) {
    line(escaped(json.text))
  }

  /// Writes a message for the person, after the name of the program.
  package static func message(_ text: String) {
    let safe = text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { plain(String($0), mode: .singleLine) }
    write("hearth: \(safe.joined(separator: "\n"))\n", to: STDERR_FILENO)
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

  /// What removes the line on stderr that tells how far a command is.
  private static let hideProgress = NIOLockedValueBox<(@Sendable () -> Void)?>(nil)

  /// Has a line on stderr removed before anything else is written.
  static func setProgressLine(hiddenBy hide: @escaping @Sendable () -> Void) {
    hideProgress.withLockedValue { $0 = hide }
  }

  /// Writes all bytes; ends the process when they cannot be written.
  ///
  /// When the reader of a pipe has gone, it ends as any program does there, by the signal.
  static func write(_ text: String, to descriptor: Int32) {
    hideProgress.withLockedValue(\.self)?()
    emit(text, to: descriptor)
  }

  /// Writes all bytes beside a line that tells how far a command is.
  static func emit(_ text: String, to descriptor: Int32) {
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
        if written <= 0 { fail(writingTo: descriptor, because: errno) }
        start += written
      }
    }
  }
}

extension Output {
  private static func fail(writingTo descriptor: Int32, because code: Int32) -> Never {
    if code == EPIPE {
      signal(SIGPIPE, SIG_DFL)
      raise(SIGPIPE)
    }
    if descriptor == STDOUT_FILENO {
      message("the output cannot be written: \(String(cString: strerror(code)))")
    }
    exit(ExitStatus.failed.rawValue)
  }
}

/// JSON with a member a line, for people.
package enum PrettyJSON {
  /// The text of a value, indented by two spaces a level.
  package static func text(_ value: JSONValue, indent: String = "") -> String {
    let inner = indent + "  "
    switch value {
    case .null, .bool, .integer, .double, .string: return value.text
    case .array(let elements):
      if elements.isEmpty { return "[]" }
      let lines = elements.map { inner + text($0, indent: inner) }
      return "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
    case .object(let members):
      if members.isEmpty { return "{}" }
      let lines = members.map {
        inner + JSONValue.string($0.name).text + ": " + text($0.value, indent: inner)
      }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
    }
  }
}

extension Post {
  /// The post as commands print it.
  var json: JSONValue {
    .object(
      ("id", .string(id)),
      ("uid", .string(uid)),
      ("author", .string(author)),
      ("title", .string(title)),
      ("body", .string(body)),
      ("starCount", .integer(Int64(starCount))),
      ("stars", .object(stars.sorted().map { JSONMember($0, .bool(true)) })),
      ("createdAt", createdAt.map { .integer($0) } ?? .null)
    )
  }
}

extension Comment {
  /// The comment as commands print it.
  var json: JSONValue {
    .object(
      ("id", .string(id)),
      ("uid", .string(uid)),
      ("author", .string(author)),
      ("text", .string(text)),
      ("parent", parent.map { .string($0) } ?? .null),
      ("createdAt", createdAt.map { .integer($0) } ?? .null)
    )
  }
}

/// How long ago something was, in few characters.
enum AgeText {
  /// The largest unit that fits: now, 3m, 2h, 5d, 1y.
  static func of(_ milliseconds: Int64) -> String {
    let minutes = milliseconds / 60_000
    switch minutes {
    case ..<1: return "now"
    case ..<60: return "\(minutes)m"
    case ..<1_440: return "\(minutes / 60)h"
    case ..<525_600: return "\(minutes / 1_440)d"
    default: return "\(minutes / 525_600)y"
    }
  }
}
