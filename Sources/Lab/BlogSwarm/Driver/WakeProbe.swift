import BlogChecker
private import RealtimeCore
import RealtimeTransport

/// What asks a leader that is frozen, so that it finds the questions when it wakes after its lease.
///
/// Another server leads by then and has stored something newer. So a read must not be answered with what
/// was there before, and a write must be refused, or have been stored under a lease that counts. The read
/// comes first on the same connection: an answer waits for the writes before it, and is refused with them.
struct WakeProbe: Sendable {
  /// The connection to the server on which the questions are asked.
  struct Questions: Sendable {
    fileprivate let line: SocketLine
  }

  private static let new = "stored after the lease"
  private static let late = "said while it was frozen"

  let number: Int64
  let admin: AdminClient
  let history: HistoryWriter

  private var path: String { "/swarm-probe/\(number)" }
  private var read: String { "\(path)/read" }
  private var written: String { "\(path)/written" }

  private static func address(_ path: String) -> String { "\(path).json?ns=hearth" }

  /// Writes through whoever leads, and tells whether it was acknowledged.
  func write(within limit: Duration) async -> Bool {
    history.append(.invoked(number, .administer(paths: [path])))
    let deadline = Moment.now.advanced(by: limit)
    repeat {
      if (try? await admin.put(.string(Self.new), at: read)) != nil {
        history.append(.answered(number, .ok(nil)))
        return true
      }
      await Pause.lasting(.milliseconds(100))
    } while Moment.now < deadline
    return false
  }

  /// Connects to a server that is about to be frozen; nil when it does not answer as the leader.
  func connect(to socket: String) async -> Questions? {
    let address = Self.address(read)
    return try? await Blocking.run {
      guard let line = SocketLine(to: socket) else { return nil }
      line.send("GET", to: address)
      return line.answer()?.status == 200 ? Questions(line: line) : nil
    }
  }

  /// Asks a frozen server to read, and then to write.
  func ask(_ questions: Questions) {
    questions.line.send("GET", to: Self.address(read))
    questions.line.send("PUT", to: Self.address(written), body: JSONValue.string(Self.late).text)
  }

  /// Waits for the answers, and says what is wrong with them.
  func judge(_ questions: Questions, of name: String) async -> [String] {
    let answers = try? await Blocking.run {
      (read: questions.line.answer(), write: questions.line.answer()?.status)
    }
    let isWritten = answers?.write == 200
    var wrongs: [String] = []
    if let read = answers?.read, read.status == 200, let value = try? JSONParser.parse(read.body) {
      // If it leads again by the time it answers, it knows what was written meanwhile.
      if value != .string(Self.new) {
        wrongs.append("\(name) answers a read after its lease with \(value.text), which is old")
      }
    }
    let deadline = Moment.now.advanced(by: .seconds(30))
    while Moment.now < deadline {
      if let value = try? await admin.get(written) {
        if value != (isWritten ? .string(Self.late) : .null) {
          wrongs.append(
            isWritten
              ? "\(name) acknowledges a write after its lease, which is not stored"
              : "\(name) stores a write after its lease: \(value.text)"
          )
        }
        break
      }
      await Pause.lasting(.milliseconds(100))
    }
    return wrongs
  }
}
