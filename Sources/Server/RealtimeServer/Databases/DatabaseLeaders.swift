internal import NIOCore
internal import RealtimeCore
internal import RealtimeHub

/// Who leads which database, where several servers share a storage; confined to the event loop.
protocol DatabaseLeaders: AnyObject {
  /// Takes what is said of the databases of this server from now on.
  var led: (any LedDatabases)? { get set }

  /// What administrators are told about servers and leases.
  var metrics: ClusterMetrics { get }

  /// Finds out where a database is.
  ///
  /// When the answer is that it is here, it has been said before that it is to be opened.
  func find(_ name: String) -> EventLoopFuture<DatabasePlace>

  /// Tells that nothing can be served under a lease any more, and that the database will be closed.
  func lost(_ term: LeaseTerm)

  /// Tells that a database that was to be let go, or was lost, is closed.
  func closed(_ name: String)
}

/// The databases of a server that learns from ``DatabaseLeaders`` which ones it leads.
protocol LedDatabases: AnyObject {
  /// This server leads a database from now on.
  func lead(_ term: LeaseTerm)

  /// A database is to be closed; with `isOrderly` what is under way is stored and answered first.
  func letGo(_ name: String, isOrderly: Bool)

  /// The clients of a database that was closed in order are to go, to a host if there is one.
  func sayFarewell(_ name: String, to host: String?)
}

/// Where a database is.
enum DatabasePlace: Equatable {
  /// At this server.
  case here
  /// At another server: its host, and the name of its run.
  case there(host: String, server: String)
  /// Nowhere at the moment, and why.
  case nowhere(String)
  /// Nowhere: there is none of this name.
  case absent
}

/// Why a request is not answered here: another server leads its database.
struct Redirection: Error, Equatable {
  /// The host of that server, and the port unless it is the usual one.
  let host: String
  /// The name of its run.
  let server: String
}

/// The time for which this server leads a database; confined to the event loop.
final class LeaseTerm {
  /// The name of the database.
  let database: String
  /// Which lease it is.
  let epoch: Int64
  /// Opens the store, on a thread that may wait.
  let open: @Sendable () throws -> any TreeStore
  /// Until when it counts, by the clock.
  var until: Duration

  private let clock: () -> Duration

  init(
    database: String,
    epoch: Int64,
    until: Duration,
    clock: @escaping () -> Duration,
    open: @escaping @Sendable () throws -> any TreeStore
  ) {
    self.database = database
    self.epoch = epoch
    self.until = until
    self.clock = clock
    self.open = open
  }

  /// Whether what this server has is what everybody has.
  ///
  /// It is asked for each request when its turn has come: a process that was stopped for a while must
  /// not show what was current before.
  var counts: Bool { clock() < until }

  /// How long it still counts.
  var remaining: Duration { until - clock() }
}

/// What is known of the other servers.
struct ClusterMetrics {
  /// This server, and the others that count.
  var servers: [(id: String, host: String, isHere: Bool)] = []
  /// Who leads what.
  var leases: [(database: String, epoch: Int64, holder: String, milliseconds: Int64)] = []
  /// How long ago the storage was asked that has answered last, in milliseconds.
  var lag: Int64?
  /// Whether it could not be reached the last time.
  var isCutOff = false
}

extension ClusterMetrics {
  /// The numbers as administrators read them.
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
      ("cutOff", .bool(isCutOff))
    )
  }
}
