package import RealtimeCore

/// Something that a store is to keep or to forget.
package enum OfflineChange: Sendable, Equatable {
  /// Keeps a write that waits for its answer.
  case saveWrite(StoredWrite)
  /// Forgets a write that was answered or given up.
  case removeWrite(Int64)
  /// Keeps the description of a query, in place of an earlier one of the same number.
  case track(TrackedQuery)
  /// Keeps these data of a query and no others.
  case replace(query: Int64, Node)
  /// Replaces the data at a path of a query whose data are kept.
  case update(query: Int64, Change)
  /// As `update`, but only where data are kept of the child that the path leads through.
  case amend(query: Int64, Change)
  /// Forgets a query and its data.
  case forget(query: Int64)
}
