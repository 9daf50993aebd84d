import RealtimeCore

/// A query at a location.
struct QuerySpec: Hashable, Sendable {
  let path: Path
  let query: Query

  /// The same with the query as the server and a store know it: all data in any order are one query.
  var normalized: QuerySpec { query.loadsAllData ? QuerySpec(path: path, query: .all) : self }
}

/// A listen as the server knows it.
struct ListenTarget: Hashable, Sendable {
  let path: Path
  /// The query on the wire: every query of all data is the default one.
  let query: Query
  /// What the server marks pushes with; nil for the default query.
  let tag: Int64?

  /// What is listened to.
  var spec: QuerySpec { QuerySpec(path: path, query: query) }
}

/// What is to be asked of the server.
enum ListenAction: Hashable, Sendable {
  case start(ListenTarget)
  case stop(ListenTarget)
}
