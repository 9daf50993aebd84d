internal import NIOCore
internal import RealtimeCore

/// Knows which server leads which database, where several servers share a storage; confined to the
/// event loop.
protocol DatabaseLeaders: AnyObject {
  /// The databases of this server, which are told what to lead and to let go.
  var led: DatabaseRegistry? { get set }

  /// The metrics about servers and leases, for administrators.
  var metrics: ClusterMetrics { get }

  /// The time by the storage's clock, in milliseconds; nil while unknown.
  var storageTime: Int64? { get }

  /// Finds out which server leads a database.
  ///
  /// Before the answer is `here`, ``DatabaseRegistry/lead(_:)`` has been called for the database.
  func find(_ name: String) -> EventLoopFuture<DatabaseLeader>

  /// Why the storage has not stored a write in time, as clients may see it.
  var reasonForLoss: String { get }

  /// Reports that nothing can be served under a lease any more, and that its database will be
  /// closed.
  func lost(_ term: LeaseTerm, by loss: LeaseLoss)

  /// Reports that a database that was let go or lost is closed.
  func closed(_ name: String)
}

enum DatabaseLeader: Equatable {
  case here
  /// Another server: its host, and the name of its run.
  case there(host: String, server: String)
  /// No server at the moment, and why.
  case nowhere(String)
  /// None, because there is no database with this name.
  case absent
}

/// Thrown when a request is not answered here, because another server leads its database.
struct Redirection: Error, Equatable {
  /// The host of that server, with the port unless that is the default one.
  let host: String
  /// The name of its run.
  let server: String
}

/// The term for which this server leads a database; confined to the event loop.
final class LeaseTerm {
  let database: String
  let lease: String
  /// The number of the lease, for people.
  let epoch: Int64
  /// Opens the store; called on a thread that may block.
  let open: @Sendable () throws -> any TreeStore
  /// When the lease ends, by the clock.
  var until: Duration
  /// Called when a write was refused because another server leads, or when its outcome is unknown.
  var onLoss: (StoreError) -> Void = { _ in }
  /// Whether a server may still go on with its clients' sessions: its own lease has not ended.
  let isAlive: (String) -> Bool

  private let clock: () -> Duration

  init(
    database: String,
    lease: String,
    epoch: Int64,
    until: Duration,
    clock: @escaping () -> Duration,
    isAlive: @escaping (String) -> Bool,
    open: @escaping @Sendable () throws -> any TreeStore
  ) {
    self.database = database
    self.lease = lease
    self.epoch = epoch
    self.until = until
    self.clock = clock
    self.isAlive = isAlive
    self.open = open
  }

  /// Whether the lease is still valid, so that this server's data is current.
  ///
  /// This is checked for each request when its turn has come: a process that was suspended for a
  /// while must not show outdated data.
  var counts: Bool { clock() < until }

  /// How long the lease is still valid.
  var remaining: Duration { until - clock() }
}

/// The metrics of a cluster, as this server knows it.
struct ClusterMetrics {
  /// The live servers, this one included.
  var servers: [(id: String, host: String, isHere: Bool)] = []
  var leases: [(database: String, epoch: Int64, holder: String, milliseconds: Int64)] = []
  /// How long ago the last successful request to the storage was sent, in milliseconds.
  var lag: Int64?
  /// Whether the last attempt to reach the storage failed.
  var isCutOff = false
  /// The timeline of the storage; nil until it has answered.
  var timeline: Int64?
  /// What has happened since the server was started.
  var counts = ClusterCounts()
  /// Databases without a leader, as far as this server has seen.
  var leaderless: [String] = []
  /// How often the storage had to be connected to again.
  var reconnections: Int64 = 0
  /// The number of batches of each database led here that are still to be folded.
  var unfolded: [String: Int] = [:]
  /// Whether the storage finishes nothing because it waits for a standby.
  var isAwaitingStandby = false
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
      ("reconnections", .integer(reconnections)),
      ("awaitingStandby", .bool(isAwaitingStandby)),
      (
        "unfoldedBatches",
        .object(
          unfolded.sorted { $0.key < $1.key }.map { JSONMember($0.key, .integer(Int64($0.value))) }
        )
      ),
      ("leasesGained", .integer(counts.gained)),
      ("leasesLost", .integer(counts.lost)),
      ("renewalsFailed", .integer(counts.failedRenewals))
    )
  }
}

/// Why a database can no longer be served under its lease.
package enum LeaseLoss: Sendable, Equatable {
  /// The lease is no longer the last, or a new one may do: the data has to be read again.
  case outdated
  /// The storage does not do what this server asks, so another server should try.
  case stuck
  /// The stored data cannot be read, by no matter which server.
  case damaged
}
