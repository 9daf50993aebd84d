package import RealtimeProtocol

/// What a connection has scheduled for its end, as a store keeps it until it has been applied.
package struct StoredSession: Sendable, Equatable {
  /// What this is, by a number that nothing else that is stored has; a connection may have several.
  package var id: Int64
  /// Who scheduled it, and whose permissions count when it is applied.
  package var identity: Identity
  /// The writes, paths from the root, server values undecided; empty when there is nothing to keep.
  package var changes: [Change]

  /// Makes an entry.
  ///
  /// Entries from before there were identities belong to an administrator: they had been allowed.
  package init(id: Int64, identity: Identity = .administrator, changes: [Change]) {
    self.id = id
    self.identity = identity
    self.changes = changes
  }
}
