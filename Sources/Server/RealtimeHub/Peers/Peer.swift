internal import RealtimeCore

/// One connection as the hub knows it.
struct Peer: Sendable {
  /// Who it is without a credential.
  let base: Identity
  /// Whether it lives in the server, so that it takes messages as values.
  let isInternal: Bool
  /// Who it is now.
  var standing: Standing
  /// Whom its keyed writes belong to: the last that it has proved to be, also when that proof has come
  /// to its end since.
  var writer: WriteOwner
  /// What it was refused and may send again.
  var refusals = PeerRefusals()
  /// Whether the rules have ever allowed it anything.
  var isLetIn = false
  /// What it listens to.
  var listens: Set<ListenKey> = []
  /// The last commit when a condition of its failed last.
  var lastStale: Int64 = 0
  /// What is to be written when it ends, in the order in which it is applied.
  var scheduled: [ScheduledWrites] = []
  /// Whether its connection is to be closed, so that nothing it says counts any more.
  var isLeaving = false

  init(_ base: Identity, isInternal: Bool) {
    self.base = base
    self.isInternal = isInternal
    standing = Standing(identity: base)
    writer = WriteOwner(base)
  }
}

/// The keyed writes of a peer that were refused, of the client that it wrote as last.
///
/// None is remembered for good before a later one of the client is applied: strangers would fill the
/// ledger.
struct PeerRefusals: Sendable {
  private var name: LedgerName?
  private var writes = RefusedWrites()

  mutating func insert(_ key: LedgerKey, _ status: StatusCode, limit: Int) {
    if name != key.name { self = PeerRefusals() }
    name = key.name
    writes.insert(key.number...key.number, status)
    writes.keepLast(max(1, limit))
  }

  /// Takes what was refused before a write of the same client.
  mutating func take(before key: LedgerKey) -> RefusedWrites? {
    guard name == key.name, !writes.isEmpty else { return nil }
    var taken = RefusedWrites()
    taken.formUnion(writes, below: key.number)
    if key.number > 0 { writes.remove(0...(key.number - 1)) }
    return taken
  }
}
