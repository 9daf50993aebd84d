import RealtimeServer

extension ClusterStore {
  /// Gives the lease of a database to a server, unless another server holds it.
  func acquire(
    _ database: String,
    by server: ServerID,
    for duration: Duration
  ) throws -> Lease {
    try acquire(database, by: server, for: duration, insteadOf: nil, knowing: nil)
  }
}
