import BlogModel
import BlogTUI
import Foundation
import NIOConcurrencyHelpers
package import RealtimeCore

/// The only code that writes to stdout and stderr: data to the former, messages to the latter.
///
/// Text by other people passes through `SafeText`, so that nothing in it can control the terminal.
/// In JSON, every control, bidirectional and invisible character is escaped.
package enum Output {
  /// Writes a line of data that this program alone has produced.
  package static func line(_ text: String) {
    write(text + "\n", to: STDOUT_FILENO)
  }

  /// Writes text that is known to be safe, without ending the line.
  package static func text(_ text: String) {
    write(text, to: STDOUT_FILENO)
  }

  /// Writes untrusted text as one line.
  package static func line(untrusted text: String, limit: Int = SafeText.lineLimit) {
    line(plain(text, mode: .singleLine, limit: limit))
  }

  /// Untrusted text without invisible characters, including those that join emoji on a screen.
  private static func plain(
    _ text: String,
    mode: SafeText.Mode,
    limit: Int = SafeText.lineLimit
  ) -> String {
    var scalars = SafeText(untrusted: text, mode: mode, limit: limit).string.unicodeScalars
    scalars.removeAll { $0 == "\u{200D}" || $0 == "\u{FE0F}" }
    return String(scalars)
  }

  /// Writes untrusted text as several lines, all of it.
  static func lines(untrusted text: String, indent: String = "") {
    for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
      line(indent + plain(String(part), mode: .multiLine, limit: .max))
    }
  }

  package static func line(_ json: JSONValue) {
    line(escaped(json.text))
  }

  /// Writes the key of something that the database has just stored.
  static func stored(_ what: String, _ key: String, asJSON: Bool) {
    let text = asJSON ? escaped(JSONValue.object(("id", .string(key))).text) : key
    done(text, orElse: "the \(what) is written, but its id cannot be printed")
  }

  /// Writes what a command has done, as a line of untrusted text or as JSON.
  package static func done(_ text: String, json: JSONValue?) {
    done(
      json.map { escaped($0.text) } ?? plain(text, mode: .singleLine),
      orElse: "it is done, but the result cannot be printed"
    )
  }

  /// Whether a line about what was done could not be written.
  private static let lacksLine = NIOLockedValueBox(false)

  /// The status of a command that has done everything.
  static var status: ExitStatus { lacksLine.withLockedValue(\.self) ? .unprinted : .ok }

  /// Writes a line of a command that has changed something.
  ///
  /// If that fails, a message has the line, the command goes on, and its status is one of its own:
  /// whoever repeats the command because of a failure would do it twice.
  private static func done(_ line: String, orElse failure: String) {
    let code = send(line + "\n", to: STDOUT_FILENO)
    guard code != 0 else { return }
    message("\(failure) (\(String(cString: strerror(code)))): \(line)")
    lacksLine.withLockedValue { $0 = true }
  }

  /// Writes a message to the user, after the name of the program.
  package static func message(_ text: String) {
    let safe = text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { plain(String($0), mode: .singleLine) }
    write("hearth: \(safe.joined(separator: "\n"))\n", to: STDERR_FILENO)
  }

  /// JSON text in which each character that could control a terminal is escaped.
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

  /// Removes the progress line of a command from stderr.
  private static let hideProgress = NIOLockedValueBox<(@Sendable () -> Void)?>(nil)

  /// Sets the function that removes the progress line before anything else is written.
  static func setProgressLine(hiddenBy hide: @escaping @Sendable () -> Void) {
    hideProgress.withLockedValue { $0 = hide }
  }

  /// Writes all bytes; ends the process if that fails.
  ///
  /// If the reader of a pipe has gone, the process is ended by the signal, as is usual for a
  /// program.
  static func write(_ text: String, to descriptor: Int32) {
    hideProgress.withLockedValue(\.self)?()
    emit(text, to: descriptor)
  }

  /// Writes all bytes without touching the progress line.
  ///
  /// What cannot be told on stderr is not told; that fails no command.
  static func emit(_ text: String, to descriptor: Int32) {
    let code = send(text, to: descriptor)
    if code != 0, descriptor != STDERR_FILENO { fail(because: code) }
  }

  /// Writes all bytes, and returns the system's error code; 0 if there is none.
  private static func send(_ text: String, to descriptor: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
      var start = 0
      while start < bytes.count {
        let written = Foundation.write(
          descriptor,
          bytes.baseAddress.map { $0 + start },
          bytes.count - start
        )
        if written < 0, SharedStream.isRepeated(descriptor, for: POLLOUT) { continue }
        if written <= 0 { return errno }
        start += written
      }
      return 0
    }
  }
}

extension Output {
  /// Ends the process, from now on, once nobody reads its output any more.
  ///
  /// A command that writes seldom would otherwise outlive its readers until it writes again.
  static func endWithReaders() {
    Thread.detachNewThread {
      var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
      while poll(&output, 1, -1) < 0, errno == EINTR {}
      // A pipe reports an error then, a socket that its other end is gone.
      if output.revents & Int16(POLLERR | POLLHUP) != 0 { fail(because: EPIPE) }
    }
  }

  private static func fail(because code: Int32) -> Never {
    if code == EPIPE {
      signal(SIGPIPE, SIG_DFL)
      raise(SIGPIPE)
    }
    message("the output cannot be written: \(String(cString: strerror(code)))")
    exit(ExitStatus.failed.rawValue)
  }
}

extension Post {
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

extension NoticeEntry {
  func json(isUnread: Bool) -> JSONValue {
    .object(
      ("kind", .string(kind.rawValue)),
      ("post", .string(post)),
      ("title", .string(title)),
      ("comment", comment.map { .string($0) } ?? .null),
      ("uid", author.map { .string($0.uid) } ?? .null),
      ("author", author.map { .string($0.name) } ?? .null),
      ("text", .string(text)),
      ("stars", .integer(Int64(stars))),
      ("at", at.map { .integer($0) } ?? .null),
      ("unread", .bool(isUnread))
    )
  }
}

extension Comment {
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

/// Reading and writing of streams that other processes may share.
enum SharedStream {
  /// Whether a call that failed is to be repeated: it was interrupted, or there was nothing to do.
  ///
  /// Whoever shares a stream may have set it not to block; then this waits for it.
  static func isRepeated(_ descriptor: Int32, for events: Int32) -> Bool {
    guard errno == EAGAIN else { return errno == EINTR }
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    _ = poll(&entry, 1, -1)
    return true
  }
}
