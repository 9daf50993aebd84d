private import RealtimeCore

/// Questions a frozen leader, which finds the requests when it wakes after its lease.
///
/// By then another server leads and has stored something newer. So the answer to a read must not
/// contain the old value, and a write must be refused, or be stored under a valid lease. The read
/// comes first on the same connection: a response waits for the writes before it, and is refused
/// with them.
struct WakeProbe: Sendable {
  private static let new = "stored after the lease"
  private static let late = "said while it was frozen"

  let number: Int64
  let admin: AdminClient
  let history: HistoryWriter

  private var path: String { "/swarm-probe/\(number)" }
  private var read: String { "\(path)/read" }
  private var written: String { "\(path)/written" }

  private static func address(_ path: String) -> String { "\(path).json?ns=hearth" }

  /// Writes through the leader, and returns whether the write was acknowledged.
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
  func connect(to socket: String) async -> SocketLine? {
    let address = Self.address(read)
    return try? await Blocking.run {
      guard let line = SocketLine(to: socket) else { return nil }
      line.send("GET", to: address)
      return line.answer()?.status == 200 ? line : nil
    }
  }

  /// Sends a frozen server a read request, followed by a write request.
  func ask(on line: SocketLine) {
    line.send("GET", to: Self.address(read))
    line.send("PUT", to: Self.address(written), body: JSONValue.string(Self.late).text)
  }

  /// Waits for the responses, and describes what is wrong with them.
  func judge(_ line: SocketLine, of name: String) async -> [String] {
    let answers = try? await Blocking.run {
      (read: line.answer(), write: line.answer()?.status)
    }
    let isWritten = answers?.write == 200
    var wrongs: [String] = []
    if let read = answers?.read, read.status == 200, let value = try? JSONParser.parse(read.body) {
      // If it leads again by the time it answers, it knows what was written in between.
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
