/// How much of a list is kept here.
package struct FeedExtent: Hashable, Sendable, Codable {
  /// Whether the list goes on below what is kept.
  package let hasOlder: Bool
  /// Whether the list goes on above what is kept.
  package let hasNewer: Bool
  /// The posts that had writes of mine in them that were not acknowledged when they came.
  package let pending: Set<PostID>

  /// Makes an extent; without arguments that of a list that is kept as a whole.
  package init(hasOlder: Bool = false, hasNewer: Bool = false, pending: Set<PostID> = []) {
    self.hasOlder = hasOlder
    self.hasNewer = hasNewer
    self.pending = pending
  }
}
