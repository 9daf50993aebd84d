public import ArgumentParser
import BlogTUI
import Dispatch
import DurableFiles
import Foundation
public import Logging
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeDatabase
import RealtimeServer

/// A log that starts a new file when the current one is full, and keeps a few of the full ones.
///
/// Several processes may write to one log. Each line is appended in one write, so lines do not mix.
/// The process that finds the file full renames it while holding its lock. The others find their
/// file full next, see that the name belongs to another file, and continue there. No lock is held
/// while a line is written, because a stopped process would then block all others; as a result,
/// lines written at the same moment may all find that they still fit.
final class LogFile: Sendable {
  /// The maximum size of a file in bytes, exceeded by at most one line of each other process.
  static let standardSize = 10_000_000
  /// How many full files are kept; `NAME.1` is the newest of them.
  static let keptFiles = 3

  private let path: String
  /// The size in bytes at which a new file is started.
  private let size: Int
  private let state: NIOLockedValueBox<State>

  private struct State {
    var descriptor: Int32
    /// Whether the process's standard error goes here as well.
    var takesStandardError = false
  }

  /// Opens a log that only its owner may read, and creates its directory if it is missing.
  ///
  /// - Throws: ``CommandFailure`` when the file cannot be written.
  init(_ path: String, size: Int = LogFile.standardSize) throws(CommandFailure) {
    self.path = path
    self.size = size
    try DatabaseFiles.protect(path)
    try? PrivateDirectory.create(FilePath.directory(of: path))
    let opened = Self.open(path)
    guard opened >= 0 else { throw .unwritable(path, errno, .usage) }
    state = NIOLockedValueBox(State(descriptor: opened))
  }

  deinit {
    close(state.withLockedValue { $0.descriptor })
  }

  /// Lets standard error, with any crash message, go here as well from now on.
  func takeStandardError() {
    state.withLockedValue { state in
      state.takesStandardError = true
      dup2(state.descriptor, STDERR_FILENO)
    }
  }

  /// Appends a line; a failure to do so is ignored.
  func append(_ line: String) {
    var line = line
    line.withUTF8 { bytes in
      state.withLockedValue { state in
        var information = stat()
        let isKnown = fstat(state.descriptor, &information) == 0
        if isKnown, information.st_size > 0, Int(information.st_size) + bytes.count > size {
          renew(&state, inode: information.st_ino)
        }
        _ = bytes.baseAddress.map { write(state.descriptor, $0, bytes.count) }
      }
    }
  }

  /// Continues in a new file, or in the one that another process has started.
  private func renew(_ state: inout State, inode number: ino_t) {
    guard flock(state.descriptor, LOCK_EX) == 0 else { return }
    var information = stat()
    if stat(path, &information) == 0, information.st_ino == number { putAside() }
    let next = Self.open(path)
    // Standard error may share the open file, so closing it alone would not release the lock.
    flock(state.descriptor, LOCK_UN)
    guard next >= 0 else { return }
    if state.takesStandardError { dup2(next, STDERR_FILENO) }
    close(state.descriptor)
    state.descriptor = next
  }

  /// Renames each full file to the next number; the oldest is removed.
  private func putAside() {
    for number in (1..<Self.keptFiles).reversed() {
      rename("\(path).\(number)", "\(path).\(number + 1)")
    }
    rename(path, "\(path).1")
  }

  private static func open(_ path: String) -> Int32 {
    // If it is a pipe or a terminal, whoever logs does not wait for its reader.
    Foundation.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0o600)
  }
}

enum LogFormat: String, CaseIterable, Sendable {
  /// For people: the time, the level, the message and its metadata.
  case text
  /// For programs: one object per line.
  case json
}

/// Writes each log message as one line to a file or to stderr.
///
/// Nothing in a message can start another line or control a terminal.
struct LineLogHandler: LogHandler {
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  private let format: LogFormat
  private let file: LogFile?

  init(format: LogFormat, level: Logger.Level, file: LogFile?) {
    self.format = format
    self.file = file
    logLevel = level
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let details = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
    let line = Self.line(
      format,
      time: Self.time,
      level: event.level,
      message: "\(event.message)",
      details: details.map { ($0.key, $0.value) }
    )
    if let file { return file.append(Self.safe(line)) }
    LogStream.standardError.append(Self.safe(line)) { [format] count in
      let message = "\(count) log messages are missing here, because nobody read them"
      return Self.safe(
        Self.line(format, time: Self.time, level: .warning, message: message, details: [])
      )
    }
  }

  private static var time: String {
    // Foundation's format would load its calendars, a millisecond of each start.
    Clock.isoText(Int64(Date().timeIntervalSince1970 * 1_000))
  }

  /// A line with its end, in which nothing can control a terminal.
  private static func safe(_ line: String) -> String {
    Output.escaped(line.replacing("\n", with: " ")) + "\n"
  }

  /// The line for a message, without its line end.
  static func line(
    _ format: LogFormat,
    time: String,
    level: Logger.Level,
    message: String,
    details: [(key: String, value: Logger.Metadata.Value)]
  ) -> String {
    switch format {
    case .json:
      let members = [("time", time), ("level", level.rawValue), ("message", message)].map {
        JSONMember($0.0, .string($0.1))
      }
      return JSONValue.object(members + details.map { JSONMember($0.key, json($0.value)) }).text
    case .text:
      let pairs = details.map { " \($0.key)=\(text($0.value))" }.joined()
      return "\(time) \(level.rawValue) \(message)\(pairs)"
    }
  }

  private static func json(_ value: Logger.Metadata.Value) -> JSONValue {
    switch value {
    case .string(let text): .string(text)
    case .stringConvertible(let value as LoggedJSON): value.json
    case .stringConvertible(let value): .string(value.description)
    case .array(let values): .array(values.map(json))
    case .dictionary(let values):
      .object(values.sorted { $0.key < $1.key }.map { JSONMember($0.key, json($0.value)) })
    }
  }

  private static func text(_ value: Logger.Metadata.Value) -> String {
    switch value {
    case .string(let text) where text.contains(where: \.isWhitespace): JSONValue.string(text).text
    case .string(let text): text
    case .stringConvertible, .array, .dictionary: json(value).text
    }
  }
}

/// The log options of long-running commands.
struct LogOptions: ParsableArguments {
  @Option(help: "What to log: trace, debug, info, notice, warning, error or critical.")
  var logLevel = Logger.Level.notice

  @Option(help: "Log as text, for people, or as json, an object a line.")
  var logFormat = LogFormat.text

  @Option(
    help: "Begin a new log file after this many bytes; \(LogFile.keptFiles) old ones are kept."
      .taking("bytes")
  )
  var logSize = LogFile.standardSize

  func validate() throws {
    guard logSize >= 1_000 else {
      throw ValidationError("--log-size must be at least 1000 bytes")
    }
  }

  /// A logger with a label that writes to the file, or to standard error without one.
  func logger(_ label: String, to file: LogFile?) -> Logger {
    Logger(label: label) { [logFormat, logLevel] _ in
      LineLogHandler(format: logFormat, level: logLevel, file: file)
    }
  }
}

extension LogFormat: ExpressibleByArgument {}
extension Logger.Level: @retroactive ExpressibleByArgument {}

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

  /// Where the lines go; it must stay open.
  private let descriptor: Int32
  /// How many bytes wait at most.
  private let capacity: Int
  private let state = NIOLockedValueBox(State())
  private let queue = DispatchQueue(label: "hearth.log")

  init(to descriptor: Int32, capacity: Int = 1_048_576) {
    self.descriptor = descriptor
    self.capacity = capacity
  }

  /// Writes a line as soon as the reader takes it.
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
        if count < 0, !SharedStream.isRepeated(descriptor, for: POLLOUT) { break }
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

/// Logs when and why the connection is established and lost, but no data.
struct ConnectionLog: Sendable {
  let logger: Logger
  private let last = NIOLockedValueBox(ConnectionStatus.Phase.closed)

  /// Logs the state unless it is the same as before.
  func note(_ status: ConnectionStatus) {
    let isNews = last.withLockedValue { last in
      defer { last = status.phase }
      return last != status.phase
    }
    guard isNews else { return }
    switch status.phase {
    case .connected: logger.notice("connected")
    case .connecting: logger.info("connecting")
    case .waiting(let seconds):
      let reason = status.problem?.reason ?? "the connection was lost"
      logger.notice("not connected: \(reason); trying again in \(seconds) s")
    case .closed: logger.notice("the connection is closed")
    }
  }
}
