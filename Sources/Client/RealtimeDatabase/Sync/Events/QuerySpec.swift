import RealtimeCore

struct QuerySpec: Hashable, Sendable {
  let path: Path
  let query: Query

  /// The same, with the query as servers and stores know it: all data in any order is one query.
  var normalized: QuerySpec { query.loadsAllData ? QuerySpec(path: path, query: .all) : self }
}

/// A listen as the server knows it.
struct ListenTarget: Hashable, Sendable {
  let path: Path
  /// The query on the wire: every query of all data is the default one.
  let query: Query
  /// The mark on the server's pushes for this listen; nil for the default query.
  let tag: Int64?

  var spec: QuerySpec { QuerySpec(path: path, query: query) }
}

/// A request to the server to start or stop a listen.
enum ListenAction: Hashable, Sendable {
  case start(ListenTarget)
  case stop(ListenTarget)
}
