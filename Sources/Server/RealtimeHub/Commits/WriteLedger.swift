internal import RealtimeCore

/// Remembers which keyed writes have been applied, each for whom it belongs to.
///
/// Only a write that was allowed makes an entry, or takes one further. Two kinds of owners have room of
/// their own: those who have signed in, and those who have not, so that no stranger pushes out a user.
/// Within each kind whoever has most gives up first.
struct WriteLedger: Sendable {
  private struct Slot {
    var entry: LedgerEntry
    let payer: LedgerShares.Payer
  }

  private var slots: [LedgerName: Slot] = [:]
  private var users = LedgerShares()
  private var strangers = LedgerShares()
  /// The names whose entries the store does not have as they are.
  private var unsaved: Set<LedgerName> = []
  private let clients: Int
  private let refusals: Int

  init(_ entries: [LedgerEntry], limits: HubLimits) {
    clients = max(1, limits.ledgerClients)
    refusals = max(1, limits.rememberedRefusals)
    for entry in entries { store(entry, payer: Self.payer(of: entry.name, nil)) }
  }

  /// The number of clients.
  var count: Int { slots.count }

  /// What became of a write, or nil when it is to be looked at.
  ///
  /// A refused write is looked at again when it comes again, unless a later one of the same client has
  /// been applied: the client's writes must not take effect in another order.
  func outcome(of key: LedgerKey) -> StatusCode? {
    guard let entry = entry(of: key.name), key.number <= entry.upTo else { return nil }
    return entry.refused[key.number] ?? .ok
  }

  /// Remembers that a write was applied.
  ///
  /// - Parameters:
  ///   - key: The write.
  ///   - refused: What the same client was refused before, as far as it may come again.
  ///   - peer: Who sent it.
  ///   - timestamp: When it was applied.
  mutating func record(
    _ key: LedgerKey,
    besides refused: RefusedWrites,
    from peer: PeerID,
    at timestamp: Int64
  ) {
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
    if !refused.isEmpty { entry.refused.formUnion(refused, below: key.number) }
    if !entry.refused.isEmpty {
      entry.refused.remove(key.number...key.number)
      entry.refused.keepLast(refusals)
    }
    unsaved.insert(key.name)
    store(entry, payer: Self.payer(of: key.name, peer))
  }

  /// Remembers that a write which was applied is undone.
  ///
  /// - Returns: Whether it had been recorded as applied, or as refused below one that was.
  mutating func undo(_ key: LedgerKey, _ status: StatusCode) -> Bool {
    guard let entry = slots[key.name]?.entry, key.number <= entry.upTo else { return false }
    slots[key.name]?.entry.refused.insert(key.number...key.number, status)
    slots[key.name]?.entry.refused.keepLast(refusals)
    unsaved.insert(key.name)
    return true
  }

  /// Takes the entries that have changed since the last call, in the order of their names.
  ///
  /// Those that are forgotten have a negative number.
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

  /// What is known of a client; for one that is not, what is known since before there were owners.
  private func entry(of name: LedgerName) -> LedgerEntry? {
    slots[name]?.entry ?? slots[Self.unowned(name)]?.entry
  }

  /// What is known of a client, which from now on belongs to it.
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

  // MARK: Room

  /// Who an entry takes room from: a user, or the connection of somebody who has not signed in.
  private static func payer(of name: LedgerName, _ peer: PeerID?) -> LedgerShares.Payer {
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
    slots[entry.name] = Slot(entry: entry, payer: payer)
    withShares(of: payer) { $0.insert(recency, payer) }
    while let excess = users.excess(over: clients) ?? strangers.excess(over: clients) {
      remove(excess)
    }
  }

  private mutating func remove(_ name: LedgerName) {
    leave(name)
    slots[name] = nil
    unsaved.insert(name)
  }

  /// Gives up the room of an entry, if there is one.
  private mutating func leave(_ name: LedgerName) {
    guard let slot = slots[name] else { return }
    let recency = LedgerShares.Recency(lastSeen: slot.entry.lastSeen, name: name)
    withShares(of: slot.payer) { $0.remove(recency, slot.payer) }
  }

  private mutating func withShares(
    of payer: LedgerShares.Payer,
    _ body: (inout LedgerShares) -> Void
  ) {
    switch payer {
    case .owner: body(&users)
    case .connection, .client: body(&strangers)
    }
  }
}

/// Who has how many entries, so that whoever has most gives up the oldest first.
struct LedgerShares: Sendable {
  /// Who entries are counted for.
  enum Payer: Hashable {
    case owner(WriteOwner)
    case connection(PeerID)
    /// Of those that were stored it is not known who was connected.
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

  /// Somebody by what there is to give up.
  private struct Rank: Comparable {
    let count: Int
    let oldest: Recency

    static func < (left: Rank, right: Rank) -> Bool {
      left.count == right.count ? left.oldest < right.oldest : left.count > right.count
    }
  }

  /// So many clients of one user are no more than anybody's share.
  private static let fairShare = 16

  private var shares: [Payer: SortedMap<Recency, Void>] = [:]
  private var ranking = SortedMap<Rank, Void>()
  private var count = 0

  /// The entry to be given up first if there are more than so many.
  func excess(over limit: Int) -> LedgerName? {
    count > limit ? ranking.first?.key.oldest.name : nil
  }

  mutating func insert(_ recency: Recency, _ payer: Payer) {
    change(payer) { $0.updateValue((), forKey: recency) }
    count += 1
  }

  /// Takes out an entry that is there.
  mutating func remove(_ recency: Recency, _ payer: Payer) {
    change(payer) { $0.removeValue(forKey: recency) }
    count -= 1
    if shares[payer]?.isEmpty == true { shares[payer] = nil }
  }

  private mutating func change(
    _ payer: Payer,
    _ body: (inout SortedMap<Recency, Void>) -> Void
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
