import RealtimeCore

/// A query at a location.
struct Place: Hashable, Sendable {
  let path: Path
  let query: Query

  /// The same with the query as the server and a store know it: all data in any order are one query.
  var normalized: Place { query.loadsAllData ? Place(path: path, query: .all) : self }
}
