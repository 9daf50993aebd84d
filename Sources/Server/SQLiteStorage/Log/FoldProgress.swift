/// How far the log has been folded into the node table.
struct FoldProgress: Equatable {
  /// The last commit that is in the node table for certain.
  let revision: Int64
  /// The last commit of the fold that is under way; the same when there is none.
  let target: Int64
  /// How many of the changes of that fold are in the node table, in the order of ``CoalescedChanges``.
  let applied: Int

  /// Says that a fold is under way.
  init(revision: Int64, target: Int64, applied: Int) {
    self.revision = revision
    self.target = target
    self.applied = applied
  }

  /// Says that none is.
  init(revision: Int64) {
    self.init(revision: revision, target: revision, applied: 0)
  }
}
