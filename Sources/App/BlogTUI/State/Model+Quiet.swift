import BlogModel

extension Model {
  /// Whether nothing is under way: connected, all acknowledged, and all that is shown has come.
  package var isQuiet: Bool {
    guard connection == .online, pendingWrites == 0, starIntents.isEmpty else { return false }
    guard feed.phase != .loading, feed.phase != .idle else { return false }
    guard let openPost else { return true }
    return openPost.comments != nil && (openPost.post != nil || openPost.isGone)
  }
}
