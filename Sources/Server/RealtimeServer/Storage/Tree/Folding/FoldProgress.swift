/// How far the log has been folded into the rows of the tree.
package struct FoldProgress: Equatable, Sendable {
  /// The last commit that is entirely in the rows of the tree.
  package let revision: Int64
  /// The last commit of the fold in progress; equal to ``revision`` when there is none.
  package let target: Int64
  /// How many changes of that fold are in the rows of the tree, in the order of
  /// ``CoalescedChanges``.
  package let applied: Int

  /// Describes a fold in progress.
  package init(revision: Int64, target: Int64, applied: Int) {
    self.revision = revision
    self.target = target
    self.applied = applied
  }

  /// Describes a state in which no fold is in progress.
  package init(revision: Int64) {
    self.init(revision: revision, target: revision, applied: 0)
  }
}
