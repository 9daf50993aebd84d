import DurableFiles
import Foundation
import NIOConcurrencyHelpers

/// A log that begins a new file when the present one is full, and keeps a few of the full ones.
///
/// Several processes may write to one log. Each line is appended at once, so lines do not mix. Whoever
/// finds the file full renames it, holding its lock; the others find theirs full next, see that the
/// name has gone to another file, and go on there. No lock is held for a line, which a process that is
/// stopped would keep from all others: lines of the same moment may all find that they still fit.
final class LogFile: Sendable {
  /// The size in bytes that a file has at most, but for a line of each other process.
  static let standardSize = 10_000_000
  /// How many full files are kept: `NAME.1` is the newest of them.
  static let keptFiles = 3

  private let path: String
  private let size: Int
  /// Whether what the process writes to standard error goes here as well.
  private let takesStandardError: Bool
  private let descriptor: NIOLockedValueBox<Int32>

  /// Opens a log, which only its owner may read, and makes its directory if there is none.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - size: The size in bytes at which a new file begins.
  ///   - takesStandardError: Whether standard error goes there too, with what a crash leaves behind.
  /// - Throws: ``CommandFailure`` when the file cannot be written.
  init(
    _ path: String,
    size: Int = LogFile.standardSize,
    takesStandardError: Bool = false
  ) throws(CommandFailure) {
    self.path = path
    self.size = size
    self.takesStandardError = takesStandardError
    try? PrivateDirectory.create((path as NSString).deletingLastPathComponent)
    let opened = Self.open(path)
    guard opened >= 0 else {
      throw CommandFailure(.usage, "\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
    if takesStandardError { dup2(opened, STDERR_FILENO) }
    descriptor = NIOLockedValueBox(opened)
  }

  deinit {
    close(descriptor.withLockedValue { $0 })
  }

  /// Appends a line; a log that cannot be written ends nothing.
  func append(_ line: String) {
    var line = line
    line.withUTF8 { bytes in
      descriptor.withLockedValue { descriptor in
        var information = stat()
        let isKnown = fstat(descriptor, &information) == 0
        if isKnown, information.st_size > 0, Int(information.st_size) + bytes.count > size {
          renew(&descriptor, information.st_ino)
        }
        _ = bytes.baseAddress.map { write(descriptor, $0, bytes.count) }
      }
    }
  }

  /// Goes on in a new file, or in the one that another process has begun.
  private func renew(_ descriptor: inout Int32, _ number: ino_t) {
    guard flock(descriptor, LOCK_EX) == 0 else { return }
    var information = stat()
    if stat(path, &information) == 0, information.st_ino == number { putAside() }
    let next = Self.open(path)
    // Standard error may be the same open file, so closing alone would not let the lock go.
    flock(descriptor, LOCK_UN)
    guard next >= 0 else { return }
    if takesStandardError { dup2(next, STDERR_FILENO) }
    close(descriptor)
    descriptor = next
  }

  /// Renames the full files by one; the oldest goes.
  private func putAside() {
    for number in (1..<Self.keptFiles).reversed() {
      rename("\(path).\(number)", "\(path).\(number + 1)")
    }
    rename(path, "\(path).1")
  }

  private static func open(_ path: String) -> Int32 {
    Foundation.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
  }
}
