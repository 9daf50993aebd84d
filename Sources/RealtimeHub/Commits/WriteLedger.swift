internal import RealtimeProtocol
internal import RealtimeTree

/// Remembers which keyed writes have been dealt with, and those that were refused.
struct WriteLedger: Sendable {
  private struct Recency: Comparable {
    let lastSeen: Int64
    let client: String

    static func < (left: Recency, right: Recency) -> Bool {
      (left.lastSeen, left.client) < (right.lastSeen, right.client)
    }
  }

  private var entries: [String: LedgerEntry] = [:]
  /// The clients, least recently seen first.
  private var order = SortedMap<Recency, String>()
  /// The clients whose entries the store does not have yet.
  private var unsaved: Set<String> = []
  private let clients: Int
  private let refusals: Int64

  init(_ entries: [LedgerEntry], limits: HubLimits) {
    clients = max(1, limits.ledgerClients)
    refusals = max(1, limits.rememberedRefusals)
    for entry in entries { store(entry) }
  }

  /// The number of clients.
  var count: Int { entries.count }

  /// What became of a write, or nil when it has not been dealt with.
  func outcome(of key: WriteKey) -> StatusCode? {
    guard let entry = entries[key.client], key.number <= entry.upTo else { return nil }
    return entry.refused[key.number] ?? .ok
  }

  /// Remembers what became of a write.
  mutating func record(_ key: WriteKey, _ status: StatusCode, at timestamp: Int64) {
    var entry =
      entries[key.client]
      ?? LedgerEntry(client: key.client, upTo: key.number, lastSeen: timestamp)
    entry.upTo = max(entry.upTo, key.number)
    entry.lastSeen = max(entry.lastSeen, timestamp)
    if status == .ok {
      entry.refused[key.number] = nil
    } else {
      entry.refused[key.number] = status
    }
    if !entry.refused.isEmpty {
      let oldest = entry.upTo - refusals
      entry.refused = entry.refused.filter { $0.key > oldest }
    }
    unsaved.insert(key.client)
    store(entry)
  }

  /// Forgets what became of a write, and of those of its client that follow.
  mutating func forget(_ key: WriteKey) {
    guard var entry = entries[key.client], key.number <= entry.upTo else { return }
    entry.upTo = key.number - 1
    entry.refused = entry.refused.filter { $0.key < key.number }
    unsaved.insert(key.client)
    store(entry)
  }

  /// Takes the entries that have changed since the last call, in the order of their clients.
  mutating func takeUnsaved() -> [LedgerEntry] {
    let taken = unsaved.sorted().compactMap { entries[$0] }
    unsaved = []
    return taken
  }

  /// Marks entries as not stored after all.
  mutating func putBack(_ taken: [LedgerEntry]) {
    for entry in taken where entries[entry.client] != nil { unsaved.insert(entry.client) }
  }

  private mutating func store(_ entry: LedgerEntry) {
    if let old = entries[entry.client] {
      order.removeValue(forKey: Recency(lastSeen: old.lastSeen, client: old.client))
    }
    entries[entry.client] = entry
    order.updateValue(
      entry.client,
      forKey: Recency(lastSeen: entry.lastSeen, client: entry.client)
    )
    while entries.count > clients, let (oldest, client) = order.first {
      order.removeValue(forKey: oldest)
      entries[client] = nil
      unsaved.remove(client)
    }
  }
}
