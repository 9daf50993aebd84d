import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// Log lines on their way to whoever reads a stream, and may stop reading: a terminal that was
/// stopped with Ctrl-S, a pager, another program.
///
/// Whoever logs never waits for the reader: a thread of its own writes the lines. Those that find
/// no room are dropped, and a line says how many they were.
final class LogStream: Sendable {
  static let standardError: LogStream = {
    atexit { _ = LogStream.standardError.finish(within: .seconds(1)) }
    return LogStream(to: STDERR_FILENO)
  }()

  fileprivate struct State {
    var waiting: [UInt8] = []
    var droppedLines = 0
    /// Makes the line that tells how many were dropped.
    var missing: @Sendable (Int) -> String = { _ in "" }
    var isWriting = false
  }

  private let descriptor: Int32
  private let capacity: Int
  private let state = NIOLockedValueBox(State())
  private let queue = DispatchQueue(label: "hearth.log")

  /// - Parameters:
  ///   - descriptor: Where the lines go; it must stay open.
  ///   - capacity: How many bytes wait at most.
  init(to descriptor: Int32, capacity: Int = 1_048_576) {
    self.descriptor = descriptor
    self.capacity = capacity
  }

  /// Writes a line as soon as the reader takes it.
  ///
  /// - Parameters:
  ///   - line: The line with its end.
  ///   - missing: Makes the line that stands for it, and for others, if it is dropped.
  func append(_ line: String, missing: @escaping @Sendable (_ lineCount: Int) -> String) {
    let starts = state.withLockedValue { state in
      guard state.waiting.count + line.utf8.count <= capacity else {
        state.droppedLines += 1
        state.missing = missing
        return false
      }
      state.tellDropped()
      state.waiting += line.utf8
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if starts { queue.async { self.write() } }
  }

  /// Waits until everything is written; false if that takes too long.
  func finish(within time: DispatchTimeInterval) -> Bool {
    let group = DispatchGroup()
    queue.async(group: group) {}
    return group.wait(timeout: .now() + time) == .success
  }

  /// Writes what waits, until nothing does; what cannot be written is given up.
  private func write() {
    while let bytes = state.withLockedValue({ $0.take() }) {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EAGAIN {
          // Another program has made the stream it shares with this one fail instead of waiting.
          var stream = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&stream, 1, -1)
        } else if count < 0, errno != EINTR {
          break
        }
        rest = rest.dropFirst(max(count, 0))
      }
    }
  }
}

extension LogStream.State {
  /// Puts the number of dropped lines where they are missing.
  fileprivate mutating func tellDropped() {
    guard droppedLines > 0 else { return }
    waiting += missing(droppedLines).utf8
    droppedLines = 0
  }

  /// What is to be written next; nil if there is nothing, and writing ends.
  fileprivate mutating func take() -> [UInt8]? {
    tellDropped()
    guard !waiting.isEmpty else {
      isWriting = false
      return nil
    }
    defer { waiting = [] }
    return waiting
  }
}
