/// Outputs in their order, each held back until everything that was done before it is durable.
struct Outbox: Sendable {
  /// What becomes of an output when the commits it waits for cannot be stored.
  enum Fallback: Sendable {
    /// It is not sent.
    case drop
    /// It is not sent, and the peer, whose listen it begins or ends, is disconnected.
    case disconnect
    /// It is sent all the same, since it shows no data.
    case keep
    /// The request is refused, and its write, if it has a key, counts as refused.
    case refuse(request: Int64, LedgerKey?)
    /// The answer is what the ledger then says of a write that came before.
    case repeatOutcome(request: Int64, LedgerKey)
  }

  struct Entry: Sendable {
    /// The last step that must be durable first.
    let step: Int64
    /// Who gets it; nil for a push to several, which is dropped if its commit cannot be stored.
    let peer: PeerID?
    let output: HubOutput
    let fallback: Fallback

    /// How long the message is; what is handed over or yet to be encoded are values of the tree.
    fileprivate var byteCount: Int {
      switch output {
      case .send(_, let bytes), .broadcast(_, let bytes): bytes.count
      case .deliver, .compose, .disconnect: 0
      }
    }
  }

  private var entries: [Entry] = []
  /// How many of the first entries have left already.
  private var released = 0

  /// How many bytes the messages have that wait.
  private(set) var byteCount = 0

  var isEmpty: Bool { released == entries.count }

  mutating func append(_ entry: Entry) {
    byteCount += entry.byteCount
    entries.append(entry)
  }

  /// Takes the entries at the front that wait for no later step than this.
  ///
  /// - Complexity: O(taken), amortised
  mutating func release(upTo step: Int64) -> ArraySlice<Entry> {
    var end = released
    while end < entries.count, entries[end].step <= step { end += 1 }
    let taken = entries[released..<end]
    for entry in taken { byteCount -= entry.byteCount }
    released = end
    if end == entries.count {
      entries = []
      released = 0
    } else if released > entries.count / 2 {
      entries.removeFirst(released)
      released = 0
    }
    return taken
  }

  /// Takes everything.
  mutating func removeAll() -> ArraySlice<Entry> {
    release(upTo: .max)
  }
}
