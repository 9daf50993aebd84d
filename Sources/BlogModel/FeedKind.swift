/// A list of posts.
package enum FeedKind: String, CaseIterable, Hashable, Sendable {
  /// The newest hundred posts, newest first.
  case recent
  /// The hundred posts with the most stars, most first.
  case top
  /// My newest hundred posts, newest first.
  case mine
  /// My hundred posts with the most stars, most first.
  case myTop = "mytop"
}
