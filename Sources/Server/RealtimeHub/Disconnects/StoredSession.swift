package import RealtimeCore

/// What a connection has scheduled for its end, as a store keeps it until it has been applied.
package struct StoredSession: Sendable, Equatable {
  /// What this is, by a number that nothing else that is stored has; a connection may have several.
  package var id: Int64
  /// Who scheduled it, and whose permissions count when it is applied.
  package var identity: Identity
  /// The writes, paths from the root, server values undecided; one below another is the later one.
  package var changes: [Change]
  /// Where, within the writes above, nothing is to be written after all.
  package var withdrawn: [Path]

  /// Makes an entry.
  ///
  /// Entries from before there were identities belong to an administrator: they had been allowed.
  package init(
    id: Int64,
    identity: Identity = .administrator,
    changes: [Change],
    withdrawn: [Path] = []
  ) {
    self.id = id
    self.identity = identity
    self.changes = changes
    self.withdrawn = withdrawn
  }
}

/// What changes of what a connection has scheduled for its end.
package struct SessionUpdate: Sendable, Equatable {
  /// Whose it is; see ``StoredSession/id``.
  package var id: Int64
  /// Who has scheduled it.
  package var identity: Identity
  /// Whether nothing counts that is stored of it; with nothing else it has come to its end.
  package var replaces: Bool
  /// What is scheduled now at some paths.
  package var changes: [Change]
  /// Where something is withdrawn now that is scheduled above.
  package var withdrawn: [Path]
  /// Where there is neither any more.
  package var removed: [Path] = []

  /// Makes the whole of a session an update; without writes it ends it.
  package init(_ session: StoredSession) {
    id = session.id
    identity = session.identity
    replaces = true
    changes = session.changes
    withdrawn = session.withdrawn
  }

  /// Whether nothing is left of the session.
  package var isEnd: Bool { replaces && changes.isEmpty && withdrawn.isEmpty }

  /// Adds an update of the same session that comes later.
  ///
  /// - Complexity: O(n log n)
  mutating func append(_ later: SessionUpdate) {
    if later.replaces {
      self = later
      return
    }
    let known = Set(later.changes.map(\.path) + later.withdrawn + later.removed)
    identity = later.identity
    changes = changes.filter { !known.contains($0.path) } + later.changes
    withdrawn = withdrawn.filter { !known.contains($0) } + later.withdrawn
    removed = removed.filter { !known.contains($0) } + later.removed
  }

  /// What becomes of a session.
  ///
  /// - Parameter stored: The session before, if there was one.
  /// - Returns: The session after; nil when nothing is left of it.
  /// - Complexity: O(n log n)
  package func applied(to stored: StoredSession?) -> StoredSession? {
    var whole = SessionUpdate(stored ?? StoredSession(id: id, changes: []))
    whole.append(self)
    if whole.changes.isEmpty, whole.withdrawn.isEmpty { return nil }
    return StoredSession(
      id: id,
      identity: identity,
      changes: whole.changes,
      withdrawn: whole.withdrawn
    )
  }
}
