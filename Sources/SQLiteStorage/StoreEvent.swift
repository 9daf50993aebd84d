package import RealtimeHub

/// What a store does that may take long or has no caller to tell.
package enum StoreEvent: Sendable {
  /// Reading the tree has begun; about a million rows take half a second.
  case loading(rows: Int)
  /// The tree has been read.
  case loaded(revision: Int64)
  /// The log could not be folded; it is tried again later, and nothing is lost meanwhile.
  case foldFailed(StoreError)
}
