import RealtimeCore
import RealtimeHub

/// What must happen at the ends of connections, by what the server said about it.
struct DisconnectJournal {
  private struct Session {
    /// What the answers still to come are about, and whether they schedule or withdraw.
    var asked: [Int64: (path: Path, isWithdrawal: Bool)] = [:]
    var certain: Set<Path> = []
    var possible: Set<Path> = []
  }

  private var sessions: [PeerID: Session] = [:]
  /// How often a place must have been written.
  private(set) var certain: [Path: Int] = [:]
  /// How often it may have been written beyond that.
  private(set) var possible: [Path: Int] = [:]

  mutating func asked(_ id: Int64, _ request: ClientRequest, by peer: PeerID) {
    var session = sessions[peer] ?? Session()
    switch request {
    case .onDisconnect(let path, _):
      session.asked[id] = (path, false)
      session.possible.insert(path)
    case .cancelOnDisconnect(let path):
      session.asked[id] = (path, true)
      if session.certain.remove(path) != nil { session.possible.insert(path) }
    case .stats, .authenticate, .unauthenticate, .appCheck, .listen, .unlisten, .get, .write,
      .unknown:
      return
    }
    sessions[peer] = session
  }

  mutating func answered(_ id: Int64, _ status: StatusCode, to peer: PeerID) {
    guard var session = sessions[peer], let asked = session.asked.removeValue(forKey: id) else {
      return
    }
    switch (asked.isWithdrawal, status == .ok) {
    case (false, true):
      // A withdrawal that is under way may have come to pass already.
      if session.asked.values.contains(where: { $0.path == asked.path }) { break }
      session.certain.insert(asked.path)
      session.possible.remove(asked.path)
    case (true, true), (false, false): session.possible.remove(asked.path)
    case (true, false):
      // What was certain before is so again; what was not known is still not known.
      break
    }
    sessions[peer] = session
  }

  mutating func ended(_ peer: PeerID) {
    guard let session = sessions.removeValue(forKey: peer) else { return }
    for path in session.certain { certain[path, default: 0] += 1 }
    for path in session.possible { possible[path, default: 0] += 1 }
  }

  mutating func endedAll() {
    for peer in sessions.keys { ended(peer) }
  }
}
