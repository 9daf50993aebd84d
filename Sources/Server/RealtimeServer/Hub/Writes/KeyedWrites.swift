internal import RealtimeCore

/// The keyed writes of all peers: their owners and outcomes.
///
/// A write with a key counts as new until it is recorded as applied. A refused write is remembered
/// for its connection, and permanently once a later write of the same client is applied.
///
/// Only a write that was allowed creates or advances an entry of the ledger. Owners that have signed
/// in and those that have not have separate limits, so that no stranger displaces a user. Within
/// each kind, the owner with the most entries loses some first.
struct KeyedWrites: Sendable {
  private struct Writer: Sendable {
    /// The owner of the peer's writes: the last identity that it has proved, even if that proof has
    /// expired since.
    var owner: WriteOwner
    /// The writes that were refused and may be sent again.
    var refusals = PeerRefusals()
  }

  private var writers: [PeerID: Writer] = [:]
  private var slots: [LedgerName: (entry: LedgerEntry, payer: LedgerShares.Payer)] = [:]
  private var users = LedgerShares()
  private var strangers = LedgerShares()
  /// The names of the entries that the store does not have in their current form.
  private var unsaved: Set<LedgerName> = []
  private let mostClients: Int
  private let mostRefusals: Int

  init(_ entries: [LedgerEntry], limits: ServerLimits) {
    mostClients = max(1, limits.ledgerClients)
    mostRefusals = max(1, limits.rememberedRefusals)
    for entry in entries { store(entry, payer: Self.payer(of: entry.name, sentBy: nil)) }
  }

  // MARK: Peers

  mutating func open(_ peer: PeerID, as identity: Identity) {
    writers[peer] = Writer(owner: WriteOwner(identity))
  }

  mutating func close(_ peer: PeerID) { writers[peer] = nil }

  /// Records the identity that a peer has proved.
  mutating func setOwner(_ identity: Identity, of peer: PeerID) {
    writers[peer]?.owner = WriteOwner(identity)
  }

  // MARK: Writes

  /// The ledger key of a write: its key together with its owner.
  func ledgerKey(_ key: WriteKey, of peer: PeerID) -> LedgerKey? {
    guard let writer = writers[peer]?.owner else { return nil }
    let owner = key.isBearer ? .bearer : writer
    return LedgerKey(name: LedgerName(owner: owner, client: key.client), number: key.number)
  }

  /// The outcome of a write, or nil when it is new.
  ///
  /// A refused write is checked again when it is sent again, unless a later write of the same
  /// client has been applied: the client's writes must not take effect in a different order.
  func outcome(of key: LedgerKey) -> StatusCode? {
    guard let entry = entry(of: key.name), key.number <= entry.upTo else { return nil }
    return entry.refused[key.number] ?? .ok
  }

  /// Records that a write was applied, and which earlier ones were refused.
  mutating func record(_ key: LedgerKey, from peer: PeerID, at timestamp: Int64) {
    let refused = writers[peer]?.refusals.take(before: key)
    var entry =
      claimed(by: key.name)
      ?? LedgerEntry(
        owner: key.name.owner,
        client: key.name.client,
        upTo: key.number,
        lastSeen: timestamp
      )
    entry.upTo = max(entry.upTo, key.number)
    entry.lastSeen = max(entry.lastSeen, timestamp)
    if let refused { entry.refused.formUnion(refused, below: key.number) }
    if !entry.refused.isEmpty {
      entry.refused.remove(key.number...key.number)
      entry.refused.keepLast(mostRefusals)
    }
    unsaved.insert(key.name)
    store(entry, payer: Self.payer(of: key.name, sentBy: peer))
  }

  mutating func refuse(_ key: LedgerKey, status: StatusCode, from peer: PeerID) {
    writers[peer]?.refusals.insert(key, status: status, limit: mostRefusals)
  }

  /// Records that a write that waited for the store is refused after all.
  mutating func undo(_ key: LedgerKey, status: StatusCode, from peer: PeerID) {
    guard let entry = slots[key.name]?.entry, key.number <= entry.upTo else {
      return refuse(key, status: status, from: peer)
    }
    slots[key.name]?.entry.refused.insert(key.number...key.number, status: status)
    slots[key.name]?.entry.refused.keepLast(mostRefusals)
    unsaved.insert(key.name)
  }

  // MARK: The store

  /// Takes the entries that have changed since the last call, ordered by name.
  ///
  /// Entries that have been dropped have a negative number.
  mutating func takeUnsaved() -> [LedgerEntry] {
    let taken = unsaved.sorted().map { name in
      slots[name]?.entry
        ?? LedgerEntry(owner: name.owner, client: name.client, upTo: -1, lastSeen: 0)
    }
    unsaved = []
    return taken
  }

  /// Marks entries as not stored after all.
  mutating func putBack(_ taken: [LedgerEntry]) {
    for entry in taken { unsaved.insert(entry.name) }
  }

  // MARK: Entries

  /// The entry of a client, or else the one stored under its name before owners existed.
  private func entry(of name: LedgerName) -> LedgerEntry? {
    slots[name]?.entry ?? slots[Self.unowned(name)]?.entry
  }

  /// Takes the entry of a client; an entry without an owner becomes the client's own.
  private mutating func claimed(by name: LedgerName) -> LedgerEntry? {
    if let slot = slots[name] { return slot.entry }
    let unowned = Self.unowned(name)
    guard var entry = slots[unowned]?.entry else { return nil }
    remove(unowned)
    entry.owner = name.owner
    return entry
  }

  private static func unowned(_ name: LedgerName) -> LedgerName {
    LedgerName(owner: .unknown, client: name.client)
  }

  // MARK: Limits

  /// Whose share an entry counts against: a user's, or that of a stranger's connection.
  private static func payer(of name: LedgerName, sentBy peer: PeerID?) -> LedgerShares.Payer {
    switch name.owner {
    case .user, .administrator: .owner(name.owner)
    case .unknown, .bearer: peer.map { .connection($0) } ?? .client(name)
    }
  }

  private mutating func store(_ entry: LedgerEntry, payer: LedgerShares.Payer) {
    let recency = LedgerShares.Recency(lastSeen: entry.lastSeen, name: entry.name)
    if let old = slots[entry.name], old.payer == payer, old.entry.lastSeen == entry.lastSeen {
      slots[entry.name]?.entry = entry
      return
    }
    leave(entry.name)
    slots[entry.name] = (entry, payer)
    withShares(of: payer) { $0.insert(recency, of: payer) }
    while let excess = users.excess(over: mostClients) ?? strangers.excess(over: mostClients) {
      remove(excess)
    }
  }

  private mutating func remove(_ name: LedgerName) {
    leave(name)
    slots[name] = nil
    unsaved.insert(name)
  }

  /// Removes an entry from the share of its payer, if it exists.
  private mutating func leave(_ name: LedgerName) {
    guard let slot = slots[name] else { return }
    let recency = LedgerShares.Recency(lastSeen: slot.entry.lastSeen, name: name)
    withShares(of: slot.payer) { $0.remove(recency, of: slot.payer) }
  }

  private mutating func withShares(
    of payer: LedgerShares.Payer,
    perform body: (inout LedgerShares) -> Void
  ) {
    switch payer {
    case .owner: body(&users)
    case .connection, .client: body(&strangers)
    }
  }
}

/// The refused writes of a peer, for the client that it last wrote as.
///
/// They are not remembered permanently until a later write of the client is applied: otherwise
/// strangers could fill the ledger.
private struct PeerRefusals: Sendable {
  private var name: LedgerName?
  private var writes = RefusedWrites()

  mutating func insert(_ key: LedgerKey, status: StatusCode, limit: Int) {
    if name != key.name { self = PeerRefusals() }
    name = key.name
    writes.insert(key.number...key.number, status: status)
    writes.keepLast(limit)
  }

  /// Takes the writes that were refused before a write of the same client.
  mutating func take(before key: LedgerKey) -> RefusedWrites? {
    guard name == key.name, !writes.isEmpty else { return nil }
    var taken = RefusedWrites()
    taken.formUnion(writes, below: key.number)
    if key.number > 0 { writes.remove(0...(key.number - 1)) }
    return taken
  }
}

/// Counts entries by payer, so that the payer with the most loses its oldest first.
private struct LedgerShares: Sendable {
  /// The party whose share an entry counts against.
  enum Payer: Hashable {
    case owner(WriteOwner)
    case connection(PeerID)
    /// For entries loaded from the store, the connection is unknown.
    case client(LedgerName)
  }

  /// An entry by its age.
  struct Recency: Comparable {
    let lastSeen: Int64
    let name: LedgerName

    static func < (left: Recency, right: Recency) -> Bool {
      (left.lastSeen, left.name) < (right.lastSeen, right.name)
    }
  }

  /// A payer, ranked by what it would give up first.
  private struct Rank: Comparable {
    let count: Int
    let oldest: Recency

    static func < (left: Rank, right: Rank) -> Bool {
      left.count == right.count ? left.oldest < right.oldest : left.count > right.count
    }
  }

  /// Up to this many clients, a user counts as having no more than a fair share.
  private static let fairShare = 16

  private var shares: [Payer: SortedMap<Recency, Void>] = [:]
  private var ranking = SortedMap<Rank, Void>()
  private var count = 0

  /// The entry to drop first if there are more than this many.
  func excess(over limit: Int) -> LedgerName? {
    count > limit ? ranking.first?.key.oldest.name : nil
  }

  mutating func insert(_ recency: Recency, of payer: Payer) {
    change(payer) { $0.updateValue((), forKey: recency) }
    count += 1
  }

  mutating func remove(_ recency: Recency, of payer: Payer) {
    change(payer) { $0.removeValue(forKey: recency) }
    count -= 1
    if shares[payer]?.isEmpty == true { shares[payer] = nil }
  }

  private mutating func change(
    _ payer: Payer,
    by body: (inout SortedMap<Recency, Void>) -> Void
  ) {
    if let rank = rank(of: payer) { ranking.removeValue(forKey: rank) }
    body(&shares[payer, default: SortedMap()])
    if let rank = rank(of: payer) { ranking.updateValue((), forKey: rank) }
  }

  private func rank(of payer: Payer) -> Rank? {
    guard let share = shares[payer], let oldest = share.first else { return nil }
    return Rank(count: max(share.count, Self.fairShare), oldest: oldest.key)
  }
}
