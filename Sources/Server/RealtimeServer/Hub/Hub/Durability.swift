internal import RealtimeCore

/// The tree as applied and as durable, and the outputs that wait for changes to become durable.
///
///     apply ──► open ──take──► in flight ──committed──► durable: outputs leave
///                                  └─────rollBack─────► back to what is durable
///
/// Everything that must become durable is a step; an output leaves once all steps before it are
/// durable.
///
/// The tree changes in place. A second one, kept as it is on the disk, would share all nodes with it,
/// and every write would copy the nodes above its data. Instead, each commit notes how to undo it.
struct Durability: Sendable {
  /// A batch that has been taken, and what becomes durable with it.
  struct Batch: Sendable {
    fileprivate let version: Version
    fileprivate let commitCount: Int
    let rules: RuleSet
    let ledger: [LedgerEntry]
    let scheduled: [ScheduledWrites]

    /// The last step that is durable once the batch is.
    var step: Int64 { version.step }
  }

  fileprivate struct Version: Sendable {
    var revision: Int64
    /// Counts commits, and changes to scheduled writes and to rules.
    var step: Int64 = 0
  }

  /// How to get from the tree after a commit to the tree before.
  private enum Reversal: Sendable {
    case tree(Node)
    case exchange(Exchange)
  }

  /// A commit that is not durable.
  private struct Pending: Sendable {
    let changes: [Change]
    let reversal: Reversal
  }

  /// The number of changes up to which a read looks for one that concerns it.
  private static let mostCompared = 256

  /// The tree after everything that has been applied.
  private(set) var root: Node
  /// The commits that are not durable, in order.
  private var pending: [Pending] = []
  /// The durable tree, if it has been asked for since the last batch became durable.
  private var knownDurableRoot: Node?
  private var applied: Version
  private var durable: Version
  /// Applied commits that no batch has taken.
  private var open: [Commit] = []
  /// The batches that are being stored, or that wait for earlier ones.
  private var inFlight: [Batch] = []
  private(set) var outbox = Outbox()

  init(root: Node, revision: Int64) {
    self.root = root
    applied = Version(revision: revision)
    durable = applied
  }

  // MARK: State

  var revision: Int64 { applied.revision }
  var step: Int64 { applied.step }
  /// The latest tree that is durable.
  ///
  /// - Complexity: O(commits that are not durable · depth · log children) the first time after a
  ///   batch has become durable, then O(1)
  var durableRoot: Node {
    mutating get {
      if pending.isEmpty { return root }
      let known = knownDurableRoot ?? rootBeforeReversals()
      knownDurableRoot = known
      return known
    }
  }

  private func rootBeforeReversals() -> Node {
    var root = root
    for commit in pending.reversed() {
      switch commit.reversal {
      case .tree(let before): root = before
      case .exchange(let exchange): root.update(at: exchange.path, to: exchange.old)
      }
    }
    return root
  }

  /// Whether anything that has been applied is not durable.
  var isBehind: Bool { durable.step < applied.step }

  /// Whether the data at a path is known to be the same on the disk.
  ///
  /// - Complexity: O(changes that are not durable); with many of them, it is not known
  func isDurable(_ path: Path) -> Bool {
    var left = Self.mostCompared
    for commit in pending {
      left -= commit.changes.count
      if left < 0 || commit.changes.contains(where: { $0.path.overlaps(path) }) { return false }
    }
    return true
  }

  var durableRevision: Int64 { durable.revision }
  /// Whether there are commits that no batch has taken.
  var hasOpenCommits: Bool { !open.isEmpty }
  /// The number of commits that are not durable.
  var waitingCommits: Int { pending.count }

  // MARK: Applying

  /// Makes a step the next commit, unless it changes nothing.
  ///
  /// Clients see a merge as such even if it has only one change.
  ///
  /// - Complexity: O(depth · log children) where data is replaced in place
  mutating func apply(
    _ step: borrowing TreeStep,
    isMerge: Bool,
    at timestamp: Int64
  ) -> CommitEffect? {
    guard let after = step.after else {
      return replace(step.changes, isMerge: isMerge, at: timestamp)
    }
    guard !step.changes.isEmpty else { return nil }
    let before = root
    root = after
    append(step.changes, undoneBy: .tree(before), at: timestamp)
    let isMerge = isMerge || step.changes.count > 1
    return CommitEffect(of: step.changes, from: before, to: after, isMerge: isMerge)
  }

  /// Makes the only change in place, if there is data around it.
  private mutating func replace(
    _ changes: [Change],
    isMerge: Bool,
    at timestamp: Int64
  ) -> CommitEffect? {
    let path = changes[0].path
    var node = changes[0].node
    guard root.exchange(&node, at: path) else {
      guard !root.has(node, at: path) else { return nil }
      let step = TreeStep(changes: changes, after: root.setting(path, to: node))
      return apply(step, isMerge: isMerge, at: timestamp)
    }
    let exchange = Exchange(of: consume node, by: changes[0].node, at: path)
    guard exchange.hasEffect else { return nil }
    // The array is the commit's as it is; another one would cost an allocation.
    append(changes, undoneBy: .exchange(exchange), at: timestamp)
    return CommitEffect(of: exchange, makingOf: root, isMerge: isMerge)
  }

  private mutating func append(
    _ changes: [Change],
    undoneBy reversal: consuming Reversal,
    at timestamp: Int64
  ) {
    applied.revision += 1
    applied.step += 1
    pending.append(Pending(changes: changes, reversal: reversal))
    open.append(Commit(revision: applied.revision, timestamp: timestamp, changes: changes))
  }

  /// Counts a change that is not a commit but must become durable as well.
  mutating func addStep() { applied.step += 1 }

  // MARK: Storing

  /// Takes the open commits as the next batch, together with its other changes.
  mutating func take(
    rules: RuleSet,
    ledger: [LedgerEntry],
    scheduled: [ScheduledWrites]
  ) -> [Commit] {
    inFlight.append(
      Batch(
        version: applied,
        commitCount: open.count,
        rules: rules,
        ledger: ledger,
        scheduled: scheduled
      )
    )
    defer { open = [] }
    return open
  }

  /// Marks the first batches in flight as durable, and returns them.
  mutating func committed(_ count: Int) -> ArraySlice<Batch> {
    let stored = inFlight.prefix(count)
    guard let last = stored.last else { return [] }
    durable = last.version
    pending.removeFirst(stored.reduce(0) { $0 + $1.commitCount })
    knownDurableRoot = nil
    inFlight.removeFirst(stored.count)
    return stored
  }

  /// Reverts to the durable state; nil when nothing is in flight, so that nothing can have failed.
  ///
  /// - Returns: The lost batches, and the outputs that waited for them.
  mutating func rollBack() -> (batches: [Batch], outputs: ArraySlice<Outbox.Entry>)? {
    guard !inFlight.isEmpty else { return nil }
    defer {
      root = durableRoot
      pending = []
      knownDurableRoot = nil
      applied = durable
      open = []
      inFlight = []
    }
    return (inFlight, outbox.release(upTo: .max))
  }

  // MARK: Outputs

  /// Queues an output that leaves once everything applied so far is durable; see ``Outbox/Entry``.
  mutating func append(
    _ output: HubOutput,
    to peer: PeerID?,
    orElse fallback: Outbox.Fallback
  ) {
    outbox.append(
      Outbox.Entry(step: applied.step, peer: peer, output: output, fallback: fallback)
    )
  }

  /// Whether any output depends only on durable data.
  var hasDurableOutputs: Bool { outbox.first.map { $0 <= durable.step } ?? false }

  /// Takes the outputs that depend only on durable data.
  mutating func release() -> ArraySlice<Outbox.Entry> { outbox.release(upTo: durable.step) }
}

/// Outputs in order, each held back until everything done before it is durable.
struct Outbox: Sendable {
  /// What happens to an output when the commits it waits for cannot be stored.
  enum Fallback: Sendable {
    /// It is not sent.
    case drop
    /// It is not sent. Its peer, whose listen it begins or ends, is disconnected.
    case disconnect
    /// It is sent anyway, since it shows no data.
    case keep
    /// The request is refused, and its write, if it has a key, counts as refused.
    case refuse(request: Int64, key: LedgerKey?)
    /// The response is the outcome that the ledger then has for the repeated write.
    case repeatOutcome(request: Int64, key: LedgerKey)
  }

  struct Entry: Sendable {
    /// The last step that must be durable first.
    let step: Int64
    /// The recipient; nil for a push to several, which is dropped if its commit cannot be stored.
    let peer: PeerID?
    let output: HubOutput
    let fallback: Fallback

    /// The length of the message; outputs handed over as values or not yet encoded count as 0.
    fileprivate var byteCount: Int {
      switch output {
      case .send(_, let message), .broadcast(_, let message): message.bytes.count
      case .deliver, .compose, .disconnect: 0
      }
    }
  }

  /// The number of entries up to which one is looked for.
  private static let mostSearched = 1_024
  /// The maximum number of entries to reserve space for in advance.
  private static let mostReserved = 64

  private var entries: [Entry] = []
  /// How many of the first entries have already left.
  private var released = 0

  /// The size of the waiting messages in bytes.
  private(set) var byteCount = 0

  var isEmpty: Bool { released == entries.count }

  /// The step that the first entry waits for; nil if there is none.
  var first: Int64? { isEmpty ? nil : entries[released].step }

  /// Whether no entry is for this peer alone; false if there are too many to look at.
  func hasNone(for peer: PeerID) -> Bool {
    entries.count - released <= Self.mostSearched
      && !entries[released...].contains { $0.peer == peer }
  }

  mutating func append(_ entry: consuming Entry) {
    byteCount += entry.byteCount
    entries.append(entry)
  }

  /// Takes the entries at the front that wait for this step or an earlier one.
  ///
  /// - Complexity: O(taken), amortised
  mutating func release(upTo step: Int64) -> ArraySlice<Entry> {
    var end = released
    while end < entries.count, entries[end].step <= step { end += 1 }
    let taken = entries[released..<end]
    for entry in taken { byteCount -= entry.byteCount }
    released = end
    if end == entries.count {
      // The next batch probably queues about as many; growing step by step would move each entry
      // twice.
      if !taken.isEmpty {
        entries = []
        entries.reserveCapacity(min(taken.count, Self.mostReserved))
      }
      released = 0
    } else if released > entries.count / 2 {
      entries.removeFirst(released)
      released = 0
    }
    return taken
  }
}
