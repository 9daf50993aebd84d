package import RealtimeCore

/// What tells the listens of one peer apart.
///
/// Queries that load all data are one and the same to a server, whatever their order.
package struct ListenKey: Hashable, Sendable {
  package let path: Path
  let query: Query

  init(_ path: Path, _ query: Query) {
    self.path = path
    self.query = query.loadsAllData ? .all : query
  }
}

extension ListenKey: Comparable {
  package static func < (left: ListenKey, right: ListenKey) -> Bool {
    left.path == right.path ? left.query.id < right.query.id : left.path < right.path
  }
}
