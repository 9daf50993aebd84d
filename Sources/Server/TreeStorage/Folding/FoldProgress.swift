/// How far the log has been folded into the rows of the tree.
package struct FoldProgress: Equatable, Sendable {
  /// The last commit that is in the rows of the tree for certain.
  package let revision: Int64
  /// The last commit of the fold that is under way; the same when there is none.
  package let target: Int64
  /// How many of the changes of that fold are in the rows of the tree, in the order of ``CoalescedChanges``.
  package let applied: Int

  /// Says that a fold is under way.
  package init(revision: Int64, target: Int64, applied: Int) {
    self.revision = revision
    self.target = target
    self.applied = applied
  }

  /// Says that none is.
  package init(revision: Int64) {
    self.init(revision: revision, target: revision, applied: 0)
  }
}
