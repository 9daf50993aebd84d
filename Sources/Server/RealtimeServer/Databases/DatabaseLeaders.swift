internal import NIOCore

/// Knows which server leads which database, where several servers share a storage; confined to the
/// event loop.
protocol DatabaseLeaders: AnyObject {
  /// The databases of this server, which learn what to lead and what to release.
  var led: DatabaseRegistry? { get set }

  /// Finds out which server leads a database.
  ///
  /// Before the answer is `here`, ``DatabaseRegistry/lead(_:)`` has been called for the database.
  func find(_ name: String) -> EventLoopFuture<DatabaseLeader>

  /// Why the storage has not stored a write in time, as clients may see it.
  var reasonForLoss: String { get }

  /// Reports that nothing can be served under a lease any more, and that its database will be
  /// closed.
  func lost(_ term: LeaseTerm, by loss: LeaseLoss)

  /// Reports that a database that was released or lost is closed.
  func closed(_ name: String)
}

package enum DatabaseLeader: Sendable, Equatable {
  case here
  case there(ClusterServer)
  /// No server at the moment, and why.
  case nowhere(String)
  /// None, because there is no database with this name.
  case absent
}

/// The name of one run of a server; a restarted server has a new one.
package struct ServerID: Hashable, Sendable, Comparable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }

  /// The prefix of the names of tools, which hold a database for a while and serve no clients.
  private static let toolPrefix = "alone-"

  package static func tool(_ name: String) -> ServerID { ServerID(toolPrefix + name) }

  package var isTool: Bool { description.hasPrefix(Self.toolPrefix) }

  package static func < (left: ServerID, right: ServerID) -> Bool {
    left.description < right.description
  }
}

package struct ClusterServer: Hashable, Sendable {
  package var id: ServerID
  /// The host at which clients reach it, with the port unless that is the default one; empty for a
  /// tool.
  package var host: String

  package init(id: ServerID, host: String) {
    self.id = id
    self.host = host
  }
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
  /// Whether a server may still resume its clients' sessions: its own lease has not ended.
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

/// Why a database can no longer be served under its lease.
package enum LeaseLoss: Sendable, Equatable {
  /// The lease is no longer the last, or a new one may do: the data has to be read again.
  case outdated
  /// The storage does not do what this server asks, so another server should try.
  case stuck
  /// The stored data cannot be read, by no matter which server.
  case damaged
}
