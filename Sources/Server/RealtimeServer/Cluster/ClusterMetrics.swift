internal import RealtimeCore

/// The metrics of a cluster, as this server knows it.
struct ClusterMetrics {
  /// The live servers, this one included.
  var servers: [(id: String, host: String, isHere: Bool)] = []
  var leases: [(database: String, epoch: Int64, holder: String, milliseconds: Int64)] = []
  /// How long ago the last successful request to the storage was sent, in milliseconds.
  let lag: Int64?
  /// Whether the last attempt to reach the storage failed.
  let isCutOff: Bool
  /// The timeline of the storage; nil until it has answered.
  var timeline: Int64?
  /// What has happened since the server was started.
  let counts: ClusterCounts
  /// What this server has done with the storage.
  let activity: StorageActivity
  /// Databases without a leader, as far as this server has seen.
  var leaderless: [String] = []
}

/// How often events of a cluster have occurred since a server was started.
struct ClusterCounts {
  /// The storage was found to lack what it had before.
  var losses: Int64 = 0
  /// This server began to lead a database.
  var gained: Int64 = 0
  /// A lease of this server ended before it was handed over.
  var lost: Int64 = 0
  /// An announcement, which renews the leases, was not answered.
  var failedRenewals: Int64 = 0
}

extension ClusterMetrics {
  var json: JSONValue {
    .object(
      (
        "servers",
        .array(
          servers.map {
            .object(("id", .string($0.id)), ("host", .string($0.host)), ("here", .bool($0.isHere)))
          }
        )
      ),
      (
        "leases",
        .object(
          leases.map { lease in
            JSONMember(
              lease.database,
              .object(
                ("leader", .string(lease.holder)),
                ("epoch", .integer(lease.epoch)),
                ("milliseconds", .integer(lease.milliseconds))
              )
            )
          }
        )
      ),
      ("lagMilliseconds", lag.map { .integer($0) } ?? .null),
      ("cutOff", .bool(isCutOff)),
      ("timeline", timeline.map { .integer($0) } ?? .null),
      ("losses", .integer(counts.losses)),
      ("leaderless", .array(leaderless.map { .string($0) })),
      ("reconnections", .integer(activity.reconnections)),
      ("awaitingStandby", .bool(activity.isAwaitingStandby)),
      (
        "unfoldedBatches",
        .object(
          activity.unfolded.sorted { $0.key < $1.key }
            .map { JSONMember($0.key, .integer(Int64($0.value))) }
        )
      ),
      ("leasesGained", .integer(counts.gained)),
      ("leasesLost", .integer(counts.lost)),
      ("renewalsFailed", .integer(counts.failedRenewals))
    )
  }
}
