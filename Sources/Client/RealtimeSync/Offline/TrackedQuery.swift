package import RealtimeCore

/// A query of which a store keeps the server's data.
package struct TrackedQuery: Sendable, Equatable {
  /// Names the query in the store.
  package var id: Int64
  /// The location.
  package var path: Path
  /// Which children of it; every query of all data is the default one.
  package var query: Query
  /// When it was last begun or ended, in milliseconds since 1970.
  package var lastUse: Int64
  /// Whether data are kept that were complete at some moment.
  package var isComplete: Bool
  /// Whether the process that used it last wanted it kept up to date.
  package var isKept: Bool

  /// Makes a description.
  package init(
    id: Int64,
    path: Path,
    query: Query,
    lastUse: Int64,
    isComplete: Bool = false,
    isKept: Bool = false
  ) {
    self.id = id
    self.path = path
    self.query = query
    self.lastUse = lastUse
    self.isComplete = isComplete
    self.isKept = isKept
  }
}
