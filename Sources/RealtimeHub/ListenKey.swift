internal import RealtimeTree

/// What tells the listens of one peer apart.
///
/// Queries that load all data are one and the same to a server, whatever their order.
struct ListenKey: Hashable, Sendable {
  let path: Path
  let query: Query

  init(_ path: Path, _ query: Query) {
    self.path = path
    self.query = query.loadsAllData ? .all : query
  }
}
