import RealtimeCore
import RealtimeServer
import Testing

/// A hub with a store that never fails, addressed in JSON.
struct Dialogue {
  var hub: TreeHub
  var clock: Int64 = 1_700_000_001_234
  /// The content of a store.
  private(set) var stored: StoredTree

  private let limits: ServerLimits

  /// Opens a hub with data in JSON, and with rules unless everything is allowed.
  init(
    _ data: String = "null",
    rules: String? = nil,
    limits: ServerLimits = ServerLimits(),
    peers: Int = 1
  ) throws {
    self.limits = limits
    stored = StoredTree(root: try Node(json: JSONParser.parse(Array(data.utf8))), rules: rules)
    hub = TreeHub(stored: stored, limits: limits, verifier: TestVerifier())
    #expect(hub.storedRulesProblem == nil)
    for number in 0..<peers { hub.open(PeerID(number)) }
  }

  /// Starts a new hub from the stored content, as after a crash.
  mutating func restart(peers: Int = 1) {
    hub = TreeHub(stored: stored, limits: limits, verifier: TestVerifier())
    for number in 0..<peers { hub.open(PeerID(number)) }
  }

  /// Signs a peer in as a user, or as the administrator.
  mutating func signIn(_ name: String, peer: Int = 0) {
    let answer = ask(0, "auth", #"{"cred":"\#(name)"}"#, from: peer)
    #expect(statuses(answer) == ["ok"], "\(answer)")
  }

  /// Sets rules through a peer that is an administrator, and commits them.
  mutating func setRules(_ id: Int, _ source: String, from peer: Int = 0) -> [String] {
    texts(hub.setRules(source: source, by: PeerID(peer), request: Int64(id), at: clock))
      + commit()
  }

  /// Lets time pass.
  mutating func tick(_ milliseconds: Int64) -> [String] {
    clock += milliseconds
    return texts(hub.tick(at: clock))
  }

  /// Sends one message and commits its writes; returns the outputs as sorted JSON.
  mutating func say(_ message: String, from peer: Int = 0) -> [String] {
    sayUncommitted(message, from: peer) + commit()
  }

  /// Sends one message without committing.
  mutating func sayUncommitted(_ message: String, from peer: Int = 0) -> [String] {
    do {
      let decoded = try ClientMessage(decoding: Array(message.utf8))
      return texts(hub.handle(decoded, from: PeerID(peer), at: clock))
    } catch {
      return texts(hub.handle(undecodable: error, from: PeerID(peer)))
    }
  }

  /// Sends a request.
  mutating func ask(_ id: Int, _ action: String, _ body: String, from peer: Int = 0) -> [String] {
    say(Self.request(id, action, body), from: peer)
  }

  /// Sends a request and commits its writes, without a look at the outputs or at what is stored.
  mutating func tell(_ id: Int, _ action: String, _ body: String) {
    do {
      let message = try ClientMessage(decoding: Array(Self.request(id, action, body).utf8))
      _ = hub.handle(message, from: PeerID(0), at: clock)
    } catch {
      _ = hub.handle(undecodable: error, from: PeerID(0))
    }
    if hub.takeBatch() != nil { _ = hub.batchCommitted() }
  }

  /// Closes the connection, and commits what was scheduled for that.
  mutating func leave() {
    _ = hub.close(PeerID(0), at: clock)
    if hub.takeBatch() != nil { _ = hub.batchCommitted() }
  }

  /// Sends a request without committing.
  mutating func askUncommitted(
    _ id: Int,
    _ action: String,
    _ body: String,
    from peer: Int = 0
  ) -> [String] {
    sayUncommitted(Self.request(id, action, body), from: peer)
  }

  mutating func close(_ peer: Int) -> [String] {
    texts(hub.close(PeerID(peer), at: clock)) + commit()
  }

  /// Commits the pending batch.
  mutating func commit() -> [String] {
    guard let batch = hub.takeBatch() else { return [] }
    store(batch)
    return texts(hub.batchCommitted())
  }

  /// Fails the pending batch.
  mutating func fail() -> [String] {
    guard hub.takeBatch() != nil else { return [] }
    return texts(hub.batchFailed(StoreError(.full, description: "the disk is full"), at: clock))
  }

  mutating func take() throws -> CommitBatch {
    let batch = hub.takeBatch()
    return try #require(batch)
  }

  mutating func data(_ path: Path) -> Node { hub.snapshot[path] }

  mutating func store(_ batch: CommitBatch) {
    for commit in batch.commits {
      for change in commit.changes { stored.root.update(at: change.path, to: change.node) }
      #expect(commit.revision == stored.revision + 1)
      stored.revision = commit.revision
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
    stored.rules = batch.rules ?? stored.rules
  }

  static func request(_ id: Int, _ action: String, _ body: String) -> String {
    #"{"t":"d","d":{"r":\#(id),"a":"\#(action)","b":\#(body)}}"#
  }

  /// Outputs as sorted JSON, prefixed with the peer unless it is the first.
  func texts(_ outputs: [HubOutput]) -> [String] {
    outputs.flatMap { output in
      switch output {
      case .send(let peer, let message): texts([peer], message.bytes)
      case .broadcast(let peers, let message): texts(peers, message.bytes)
      case .compose(let peer, let composition):
        composition.composed().messages.flatMap { texts([peer], $0.bytes) }
      case .deliver(let peer, let message):
        [mark(peer) + "value: " + sortedJSON(String(decoding: message.encoded(), as: UTF8.self))]
      case .disconnect(let peer, let reason): [mark(peer) + "disconnect: \(reason)"]
      }
    }
  }

  private func texts(_ peers: [PeerID], _ bytes: [UInt8]) -> [String] {
    peers.map { mark($0) + sortedJSON(String(decoding: bytes, as: UTF8.self)) }
  }

  private func mark(_ peer: PeerID) -> String { peer.number == 0 ? "" : "\(peer.number): " }
}

extension TreeHub {
  /// Writes a value for a peer and has it stored; returns what the peers are sent then.
  @discardableResult
  mutating func put(_ node: Node, at path: Path, from peer: Int = 0) -> [HubOutput] {
    let write = WriteRequest(path: path, operation: .set(node))
    _ = handle(.request(id: 2, .write(write)), from: PeerID(peer), at: 0)
    _ = takeBatch()
    return batchCommitted()
  }
}

/// JSON text with sorted members, so that texts can be compared.
func sortedJSON(_ text: String) -> String {
  guard let json = try? JSONParser.parse(Array(text.utf8)) else { return "no JSON: \(text)" }
  return json.canonicalText
}

/// A response as sorted JSON.
func response(_ id: Int, _ status: String = "ok", _ data: String = #""""#) -> String {
  sortedJSON(#"{"t":"d","d":{"r":\#(id),"b":{"s":"\#(status)","d":\#(data)}}}"#)
}

/// A push as sorted JSON.
func push(_ action: String, _ body: String) -> String {
  sortedJSON(#"{"t":"d","d":{"a":"\#(action)","b":\#(body)}}"#)
}

/// The statuses of the responses among texts.
func statuses(_ texts: [String]) -> [String] {
  texts.compactMap { text in
    let json = text.drop { $0 != "{" }
    return (try? JSONParser.parse(Array(json.utf8)))?["d"]?["b"]?["s"]?.string
  }
}

extension Node {
  init(parsing json: String) throws {
    self = try Node(json: JSONParser.parse(json))
  }
}
