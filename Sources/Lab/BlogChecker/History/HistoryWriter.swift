private import DurableFiles
import Foundation
private import NIOConcurrencyHelpers

/// Appends what happens to a file, each line at once, so that a killed process loses at most the last.
///
/// May be used from any thread; lines stand in the order of the calls.
package final class HistoryWriter: Sendable {
  private struct State {
    var descriptor: Int32
    var failure: HistoryError?
  }

  private let path: String
  private let state: NIOLockedValueBox<State>

  /// Opens a file, and creates it when it is missing; what a killed process left of a line is ended.
  ///
  /// - Parameters:
  ///   - path: The file, named `CLIENT.jsonl`.
  ///   - header: Who writes.
  /// - Throws: ``HistoryError`` when the file cannot be written.
  package init(path: String, header: HistoryHeader) throws(HistoryError) {
    self.path = path
    let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw HistoryError("\(path) cannot be opened: \(String(cString: strerror(errno)))")
    }
    state = NIOLockedValueBox(State(descriptor: descriptor))
    if Self.endsWithin(descriptor) { _ = Self.write("\n", to: descriptor) }
    append(.started(header))
    if let failure { throw failure }
  }

  deinit {
    close()
  }

  /// Why lines are missing, or nil while none is.
  package var failure: HistoryError? { state.withLockedValue { $0.failure } }

  /// Appends what happens now, or happened at a moment that is not before that of the last line.
  package func append(_ event: HistoryEvent, at time: Moment? = nil) {
    state.withLockedValue { state in
      guard state.descriptor >= 0 else { return }
      // Taken within the lock, so that times ascend.
      let line = HistoryLine(time ?? .now, event)
      guard let problem = Self.write(line.text + "\n", to: state.descriptor) else { return }
      state.failure = state.failure ?? HistoryError("\(path) cannot be written: \(problem)")
    }
  }

  /// Gives the file up; what comes later is not written.
  package func close() {
    state.withLockedValue { state in
      if state.descriptor >= 0 { Foundation.close(state.descriptor) }
      state.descriptor = -1
    }
  }

  /// Whether a file ends in the middle of a line.
  private static func endsWithin(_ descriptor: Int32) -> Bool {
    let length = lseek(descriptor, 0, SEEK_END)
    var last: UInt8 = 0
    return length > 0 && pread(descriptor, &last, 1, length - 1) == 1 && last != UInt8(ascii: "\n")
  }

  /// Writes a line whole; gives the system's words for what went wrong, or nil.
  private static func write(_ text: String, to descriptor: Int32) -> String? {
    let error = PrivateFile.writeAll(Array(text.utf8), to: descriptor)
    return error == 0 ? nil : String(cString: strerror(error))
  }
}
