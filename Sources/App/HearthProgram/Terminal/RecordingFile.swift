import BlogTUI
import DurableFiles
import Foundation

/// The file of a recording in progress; each line is written at once, so it survives kill -9.
///
/// Only its owner may read it. It contains what is typed into the blog and what the blog shows;
/// passwords and tokens are never in it, because signing in is not recorded.
@MainActor
final class RecordingFile {
  private let descriptor: Int32
  private var writer = RecordingWriter()
  private var room: Int
  private var isFull = false
  /// Called when the recording has to end before the program does.
  var report: (String) -> Void = { _ in }

  /// Starts an empty recording of at most `limit` bytes; a file that is not empty is left alone.
  ///
  /// - Throws: ``CommandFailure`` when the file cannot be written.
  init(_ path: String, limit: Int) throws(CommandFailure) {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 {
      throw CommandFailure(.conflict, "\(path) exists; remove it, or choose another name")
    }
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    room = limit
    guard descriptor >= 0 else { throw .unwritable(path, errno, .usage) }
  }

  isolated deinit {
    close(descriptor)
  }

  func add(_ entry: RecordingEntry) {
    write(writer.lines(for: entry))
  }

  /// Writes the rest and ignores any further entries.
  func finish() {
    write(writer.finish())
    isFull = true
  }

  private func write(_ text: String) {
    guard !isFull, !text.isEmpty else { return }
    let bytes = Array(text.utf8)
    guard bytes.count <= room else { return stop("the recording has reached its size limit") }
    room -= bytes.count
    let code = PrivateFile.writeAll(bytes, to: descriptor)
    guard code == 0 else {
      return stop("the recording cannot be written: \(String(cString: strerror(code)))")
    }
  }

  private func stop(_ reason: String) {
    isFull = true
    report("The recording has ended here: \(reason).")
  }
}
