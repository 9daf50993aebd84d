import RealtimeCore
import RealtimeServer

/// A store that keeps every revision, and fails on demand.
struct SimulatedStore {
  private(set) var stored: StoredTree
  private(set) var commits: [Commit] = []
  /// The data after each revision, from 0.
  private(set) var roots: [Node]
  /// The time until which every batch fails.
  var failsUntil: Int64 = 0

  init(_ root: Node) {
    stored = StoredTree(root: root)
    roots = [root]
  }

  /// The revision of the last commit.
  var revision: Int64 { stored.revision }

  /// Stores a batch; returns what is wrong with it, or nil.
  mutating func commit(_ batch: CommitBatch) -> String? {
    for commit in batch.commits {
      guard commit.revision == stored.revision + 1 else {
        return "commit \(commit.revision) after \(stored.revision)"
      }
      for change in commit.changes { stored.root.update(at: change.path, to: change.node) }
      stored.revision = commit.revision
      commits.append(commit)
      roots.append(stored.root)
    }
    let names = Set(batch.ledger.map(\.name))
    stored.ledger.removeAll { names.contains($0.name) }
    stored.ledger += batch.ledger.filter { $0.upTo >= 0 }
    for update in batch.sessions {
      let before = stored.sessions.first { $0.id == update.id }
      stored.sessions.removeAll { $0.id == update.id }
      if let after = update.applied(to: before) { stored.sessions.append(after) }
    }
    stored.sessions.sort { $0.id < $1.id }
    return nil
  }
}

/// The writes that must happen on disconnection, according to the server's responses.
struct DisconnectJournal {
  private struct Session {
    /// The requests without a response yet, by number, and whether they withdraw a write.
    var asked: [Int64: (path: Path, isWithdrawal: Bool)] = [:]
    var certain: Set<Path> = []
    var possible: Set<Path> = []
  }

  private var sessions: [PeerID: Session] = [:]
  /// How often each path must have been written.
  private(set) var certain: [Path: Int] = [:]
  /// How often each path may have been written beyond that.
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
      // A withdrawal that is under way may have taken effect already.
      if session.asked.values.contains(where: { $0.path == asked.path }) { break }
      session.certain.insert(asked.path)
      session.possible.remove(asked.path)
    case (true, true), (false, false): session.possible.remove(asked.path)
    case (true, false):
      // A certain write is certain again, and an unknown one is still unknown.
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
