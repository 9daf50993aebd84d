package import RealtimeHub

/// What a store does that may take long or has no caller to tell.
package enum StoreEvent: Sendable {
  /// Reading the tree of a directory has begun; about a million rows take half a second.
  case loading(directory: String, rows: Int)
  /// The tree of a directory has been read.
  case loaded(directory: String, revision: Int64)
  /// The log could not be folded; it is tried again later, and nothing is lost meanwhile.
  case foldFailed(StoreError)
  /// A directory could be entered by others, and now cannot.
  case madePrivate(directory: String)
  /// The mark of what has been acknowledged could not be written; commits go on without it.
  case markFailed(StoreError)
}
