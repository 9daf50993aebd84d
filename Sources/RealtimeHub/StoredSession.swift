package import RealtimeProtocol

/// What a connection has scheduled for its end, as a store keeps it until it has been applied.
package struct StoredSession: Sendable, Equatable {
  /// The connection, by a number that no other with something stored has.
  package var id: Int64
  /// The writes, paths from the root, server values undecided; empty when there is nothing to keep.
  package var changes: [Change]

  /// Makes an entry.
  package init(id: Int64, changes: [Change]) {
    self.id = id
    self.changes = changes
  }
}
