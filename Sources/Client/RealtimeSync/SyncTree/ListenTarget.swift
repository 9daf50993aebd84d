import RealtimeCore

/// A listen as the server knows it.
struct ListenTarget: Hashable, Sendable {
  let path: Path
  /// The query on the wire: every query of all data is the default one.
  let query: Query
  /// What the server marks pushes with; nil for the default query.
  let tag: Int64?

  /// What is listened to.
  var place: Place { Place(path: path, query: query) }
}
