import DurableFiles
import GRDB
import RealtimeCore

/// Folds the log of a store into its node table, in many short transactions.
///
/// Commits are handed over as they are made, so that the log need not be read again. Of several
/// changes at one path only the last is applied. Each transaction records its progress, so that a
/// store that is opened in the middle of a fold continues it.
///
/// State: idle → folding (some changes are applied) → removing (all are applied, and their batches
/// are removed from the log) → idle. After a failure it continues where it stopped. Confined to the
/// maintenance queue of a store.
final class LogFolder {
  private enum Phase {
    case idle
    case folding(FoldProgress, changes: [Change]?)
    case removing(through: Int64)
  }

  /// The size in bytes of the batches that one transaction removes.
  private static let removedBytes = 512 * 1_024
  /// The length in bytes beyond which a row is kept apart while many others are changed.
  private static let longBytes = 256 * 1_024
  /// How many bytes of long rows one transaction moves for each row that it changes, at most.
  private static let movedBytes = 1_024

  private let connection: DatabaseQueue
  /// The approximate number of rows that one transaction changes.
  private let changesPerTurn: Int
  /// The number of pages for each row from which changes are known to be near long rows.
  private let pagesPerChange: Int
  /// How far an observer has read the log; later batches are kept for it.
  private let mark: LogMark?
  private var phase: Phase
  /// The last commit that is folded or being folded.
  private var target: Int64
  /// The changes committed after that.
  private var waiting = CoalescedChanges()
  /// The last commit to read from the log before commits are handed over; nil once that is done.
  private var unread: Int64?
  /// The long rows of the node table; nil if they have not been measured, or have changed since.
  private var longRows: LongRows.Extent?
  /// Whether the changes being folded are near long rows.
  private var isNearLongRows = false

  /// Continues where an earlier process stopped, with a connection that is used for nothing else.
  init(
    _ connection: DatabaseQueue,
    changesPerTurn: Int,
    pagesPerChange: Int,
    mark: LogMark?
  ) throws {
    self.connection = connection
    self.changesPerTurn = changesPerTurn
    self.pagesPerChange = pagesPerChange
    self.mark = mark
    let (progress, revision) = try connection.read { database in
      (try FoldTable(database).progress(), try LogTable(database).lastRevision())
    }
    target = progress.target
    unread = revision
    phase =
      progress.revision < progress.target
      ? .folding(progress, changes: nil) : .removing(through: progress.revision)
  }

  // MARK: Input

  /// Reads, only once, the batches that were in the log when the store was opened.
  func readLog() throws {
    guard let unread else { return }
    var waiting = CoalescedChanges()
    try connection.read { database in
      try LogTable(database).forEachBatch(after: target, through: unread) { commits in
        for commit in commits { waiting.add(commit.changes) }
      }
    }
    self.waiting = waiting
    self.unread = nil
  }

  /// Takes the changes of further commits; not having read the log first is a programmer error.
  func take(_ changes: [Change]) {
    assert(unread == nil)
    waiting.add(changes)
  }

  /// Starts folding everything up to a commit, unless a fold is in progress; all of it must have
  /// been taken.
  func begin(through revision: Int64) {
    guard case .idle = phase, target < revision else { return }
    let progress = FoldProgress(revision: target, target: revision, applied: 0)
    phase = .folding(progress, changes: waiting.changes)
    waiting = CoalescedChanges()
    target = revision
  }

  /// Records that the node table contains everything up to a commit.
  func reset(to revision: Int64) {
    phase = .removing(through: revision)
    target = revision
    waiting = CoalescedChanges()
    unread = nil
    longRows = nil
  }

  // MARK: Work

  /// Does the next part of the work in one transaction, and returns whether there is more to do.
  func step() throws -> Bool {
    switch phase {
    case .idle: return false
    case .folding(let progress, let changes?): phase = try fold(changes, from: progress)
    case .folding(let progress, nil):
      let changes = try connection.read { try LogTable($0).changes(of: progress) }
      phase = .folding(progress, changes: changes)
    case .removing(let revision):
      // Batches that the observer has not read are removed by a later fold.
      let last = mark.map { min(revision, $0.revision) } ?? revision
      let isDone = try connection.write {
        try LogTable($0).removeBatches(through: last, byteLimit: Self.removedBytes)
      }
      if isDone { phase = .idle }
    }
    return true
  }

  /// Applies changes in one transaction.
  ///
  /// Each change near a long row reads all of it. If there are many, the long rows are moved out of
  /// the way, which pays only if the transaction makes as many changes as that costs.
  private func fold(_ changes: [Change], from progress: FoldProgress) throws -> Phase {
    let long = try isNearLongRows ? measuredLongRows() : LongRows.Extent()
    let isApart = long.areWorthMoving(for: changes.count - progress.applied)
    let turn = isApart ? max(changesPerTurn, long.total / Self.movedBytes) : changesPerTurn
    return try connection.write { database in
      let nodes = NodeTable(database)
      _ = nodes.takeVisitedPages()
      var (applied, pages) = (progress.applied, 0)
      func applyTurn() throws {
        while applied < changes.count, nodes.changeCount < turn,
          isApart || pages < changesPerTurn * pagesPerChange
        {
          try nodes.apply(changes[applied])
          applied += 1
          pages += nodes.takeVisitedPages()
        }
      }
      if isApart {
        try nodes.withLongRowsApart(longerThan: Self.longBytes, after: 0, applyTurn)
      } else {
        try applyTurn()
      }
      if nodes.longestWritten > Self.longBytes { longRows = nil }
      let isDone = applied >= changes.count
      isNearLongRows = !isDone && (isApart || pages >= nodes.changeCount * pagesPerChange)
      let next =
        isDone
        ? FoldProgress(revision: progress.target)
        : FoldProgress(revision: progress.revision, target: progress.target, applied: applied)
      try FoldTable(database).save(next, addingRows: nodes.addedRows)
      return isDone ? .removing(through: progress.target) : .folding(next, changes: changes)
    }
  }

  private func measuredLongRows() throws -> LongRows.Extent {
    if let longRows { return longRows }
    let extent = try connection.read {
      try LongRows.extent(of: NodeTable.name, longerThan: Self.longBytes, $0)
    }
    longRows = extent
    return extent
  }
}
