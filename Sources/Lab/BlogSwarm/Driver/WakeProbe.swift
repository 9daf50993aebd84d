import BlogChecker
private import RealtimeCore
import RealtimeTransport

/// What asks a leader that is frozen, so that it finds the questions when it wakes after its lease.
///
/// Another server leads by then and has stored something newer. So a read must not be answered with what
/// was there before, and a write must be refused, or have been stored under a lease that counts.
struct WakeProbe: Sendable {
  /// The answers that are awaited, nil for none.
  struct Questions: Sendable {
    fileprivate let read: Task<JSONValue?, Never>
    fileprivate let write: Task<Bool, Never>
  }

  private static let new = "stored after the lease"
  private static let late = "said while it was frozen"

  let number: Int64
  let admin: AdminClient
  let history: HistoryWriter

  private var path: String { "/swarm-probe/\(number)" }

  /// Writes through whoever leads, and tells whether it was acknowledged.
  func write(within limit: Duration) async -> Bool {
    history.append(.invoked(number, .administer(paths: [path])))
    let deadline = Moment.now.advanced(by: limit)
    repeat {
      if (try? await admin.put(.string(Self.new), at: path)) != nil {
        history.append(.answered(number, .ok(nil)))
        return true
      }
      await Pause.lasting(.milliseconds(100))
    } while Moment.now < deadline
    return false
  }

  /// Asks a frozen server to read and to write.
  func ask(_ target: ConnectionTarget) -> Questions {
    let frozen = AdminClient(target, timeout: .seconds(30))
    return Questions(
      read: Task { [path] in try? await frozen.get(path) },
      write: Task { [path] in (try? await frozen.put(.string(Self.late), at: path)) != nil }
    )
  }

  /// Waits for the answers, and says what is wrong with them.
  func judge(_ questions: Questions, of name: String) async -> [String] {
    let isWritten = await questions.write.value
    var wrongs: [String] = []
    if let value = await questions.read.value {
      // It may lead again by the time it answers, and then it knows what was written meanwhile.
      let isCurrent =
        value == .string(Self.new) || isWritten && value == .string(Self.late)
      if !isCurrent {
        wrongs.append("\(name) answers a read after its lease with \(value.text), which is old")
      }
    }
    let deadline = Moment.now.advanced(by: .seconds(30))
    while Moment.now < deadline {
      if let value = try? await admin.get(path) {
        let expected = isWritten ? Self.late : Self.new
        if value != .string(expected) {
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
