/// One connection as the hub knows it.
struct Peer: Sendable {
  /// Who it is without a credential.
  let base: Identity
  /// Whether it lives in the server, so that it takes messages as values.
  let isInternal: Bool
  /// Who it is now.
  var standing: Standing
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
  }
}
