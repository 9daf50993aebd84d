/// What a store kept of the processes before this one.
package struct OfflineState: Sendable, Equatable {
  /// The writes that were not answered, in their order.
  package var writes: [StoredWrite]
  /// The queries of which data are kept.
  package var queries: [TrackedQuery]

  /// Makes a state, empty unless something is given.
  package init(writes: [StoredWrite] = [], queries: [TrackedQuery] = []) {
    self.writes = writes
    self.queries = queries
  }
}
