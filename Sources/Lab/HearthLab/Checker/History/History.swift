private import DurableFiles
import Foundation
private import NIOConcurrencyHelpers

/// The histories of all clients of a run.
struct History: Sendable {
  /// The clients, ordered by name.
  let clients: [ClientHistory]
  /// All operations in the order in which they began.
  let operations: [ClientOperation]
  /// Whether all clients write a star and its copy in one commit.
  let isAtomic: Bool

  init(_ clients: [ClientHistory]) {
    self.clients = clients.sorted { $0.header.client < $1.header.client }
    operations = clients.flatMap(\.operations).sorted {
      ($0.invoked, $0.client, $0.number) < ($1.invoked, $1.client, $1.number)
    }
    isAtomic = clients.allSatisfy { $0.header.role == .driver || $0.header.strategy.isAtomic }
  }

  /// The driver, which starts the others and causes the faults, or nil.
  var driver: ClientHistory? { clients.first { $0.header.role == .driver } }

  /// All lines of all clients in chronological order.
  var lines: [HistoryLine] { clients.flatMap(\.lines).sorted { $0.time < $1.time } }

  var uids: Set<String> { Set(clients.map(\.header.uid)) }
}

/// Everything that one client has recorded.
struct ClientHistory: Sendable {
  /// The client, according to the first header.
  let header: HistoryHeader
  /// All lines, in the order in which they were written.
  let lines: [HistoryLine]
  /// The operations in the order in which they began.
  let operations: [ClientOperation]
  /// How many processes the client had.
  let lives: Int
  /// Whether the last process ended properly.
  let hasEnded: Bool
  /// Where the operation with each number is among them.
  private let positions: [Int64: Int]

  /// Assembles the lines of a file.
  ///
  /// - Throws: ``HistoryError`` when they do not begin with a header, or an answer has no
  ///   operation.
  init(_ lines: [HistoryLine]) throws(HistoryError) {
    guard case .started(let header)? = lines.first?.event else {
      throw HistoryError("it does not begin with a header")
    }
    self.header = header
    self.lines = lines
    var operations: [ClientOperation] = []
    var positions: [Int64: Int] = [:]
    var lives = 0
    for line in lines {
      switch line.event {
      case .started: lives += 1
      case .invoked(let number, let intent):
        guard positions.updateValue(operations.count, forKey: number) == nil else {
          throw HistoryError("operation \(number) begins twice")
        }
        operations.append(
          ClientOperation(
            client: header.client,
            uid: header.uid,
            number: number,
            intent: intent,
            invoked: line.time
          )
        )
      case .answered(let number, let outcome):
        guard let position = positions[number] else {
          throw HistoryError("operation \(number) ends without having begun")
        }
        guard operations[position].answered == nil else {
          throw HistoryError("operation \(number) ends twice")
        }
        operations[position].answered = line.time
        operations[position].outcome = outcome
      case .shown, .connection, .finalView, .screen, .fault, .server, .rules, .sample, .told,
        .stalled, .coalesced,
        .ended:
        break
      }
    }
    self.operations = operations
    self.lives = lives
    self.positions = positions
    hasEnded = lines.last?.event == .ended
  }

  /// The operation with a number, or nil if there is none.
  func operation(_ number: Int64) -> ClientOperation? { positions[number].map { operations[$0] } }
}

extension ClientHistory {
  /// Reads the history of a client; a partial line, left by a killed process, is skipped.
  init(at path: String) throws(HistoryError) {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw HistoryError("\(path) cannot be read")
    }
    let texts = data.split(separator: UInt8(ascii: "\n")).map {
      String(decoding: $0, as: UTF8.self)
    }
    var lines: [HistoryLine] = []
    var torn: (number: Int, error: HistoryError)?
    for (index, text) in texts.enumerated() {
      let line = Result { () throws(HistoryError) in try HistoryLine(text) }
      if let torn {
        // Only a killed process leaves a partial line, and the next one begins with a header.
        guard case .success(let next) = line, case .started = next.event else {
          throw HistoryError("\(path), line \(torn.number): \(torn.error)")
        }
      }
      switch line {
      case .success(let line):
        torn = nil
        lines.append(line)
      case .failure(let error): torn = (index + 1, error)
      }
    }
    do throws(HistoryError) {
      try self.init(lines)
    } catch {
      throw HistoryError("\(path): \(error)")
    }
  }
}

extension History {
  /// Reads the histories of all clients of a run, in files named `CLIENT.jsonl`.
  init(in directory: String) throws(HistoryError) {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
      throw HistoryError("\(directory) cannot be read")
    }
    var clients: [ClientHistory] = []
    for name in names.sorted() where name.hasSuffix(".jsonl") {
      clients.append(try ClientHistory(at: "\(directory)/\(name)"))
    }
    self.init(clients)
  }
}

/// Appends events to a file line by line, so that a killed process loses at most the last one.
///
/// May be used from any thread; lines are written in the order of the calls.
final class HistoryWriter: Sendable {
  private struct State {
    var descriptor: Int32
    var failure: HistoryError?
  }

  private let path: String
  private let state: NIOLockedValueBox<State>

  /// Opens or creates a file, and terminates the partial line that a killed process may have left.
  init(path: String, header: HistoryHeader) throws(HistoryError) {
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

  /// Why lines are missing, or nil while none are.
  var failure: HistoryError? { state.withLockedValue { $0.failure } }

  /// Appends an event that happens now, or at a given moment that is not before the last line's.
  func append(_ event: HistoryEvent, at time: Moment? = nil) {
    state.withLockedValue { state in
      guard state.descriptor >= 0 else { return }
      // Taken within the lock, so that times are ascending.
      let line = HistoryLine(event, at: time ?? .now)
      guard let problem = Self.write(line.text + "\n", to: state.descriptor) else { return }
      state.failure = state.failure ?? HistoryError("\(path) cannot be written: \(problem)")
    }
  }

  /// Closes the file; later events are not written.
  func close() {
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

  /// Writes a whole line; returns the system's description of a failure, or nil.
  private static func write(_ text: String, to descriptor: Int32) -> String? {
    let error = PrivateFile.writeAll(Array(text.utf8), to: descriptor)
    return error == 0 ? nil : String(cString: strerror(error))
  }
}

struct HistoryError: Error, Hashable, Sendable, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
