/// A storage that several servers share, as behind `hearth serve --store`.
///
/// The storage records which server leads a database, and ends no lease by itself: it has no clock
/// that anybody relies on. A holder counts its lease from before it asked for it, by its own clock.
/// Another server takes the lease once it has seen no renewal for the duration of the lease, by its
/// own clock, and names exactly what it has seen.
///
/// The server calls it on threads of its own, where calls may block. Every function throws
/// `StoreError` when the storage cannot be reached.
package protocol ClusterStore: StoredDatabases {
  /// Records that a server is alive, and renews the leases that it holds, both for a duration.
  ///
  /// - Returns: All servers and all leases, with those of this server renewed.
  /// - Throws: A `StoreError` when the storage cannot be reached; it is then unknown whether
  ///   anything was renewed.
  func announce(_ server: ClusterServer, for duration: Duration) throws -> ClusterView

  /// Gives the lease of a database that exists to a server, unless another server holds it.
  ///
  /// A server that holds the lease already gets a new one. It starts afresh: the storage refuses
  /// any write still on its way under the old lease. The lease is valid for a duration after each
  /// renewal.
  ///
  /// `ended` is what the server has seen of the present lease for a whole duration of it; if that
  /// is still so, the holder has lost the lease. `history` is what the server has seen for the
  /// duration of a lease. No lease is given in a history that no server has seen for so long: a
  /// lease that the storage has lost may still be valid.
  ///
  /// - Returns: The present lease, which may be another server's. Each new lease has an identity of
  ///   its own.
  /// - Throws: A `StoreError` when the storage cannot be reached, or gives no leases yet.
  func acquire(
    _ database: String,
    by server: ServerID,
    for duration: Duration,
    insteadOf ended: LeaseMark?,
    knowing history: StorageHistory?
  ) throws -> Lease

  /// Releases a lease, so that a successor, or with nil any other server, may acquire it at once.
  ///
  /// A named successor holds it from then on. Views already show it as the holder, but it acquires
  /// the lease before it serves. Nothing happens if the lease is no longer the present one.
  func release(_ lease: Lease, to successor: ServerID?) throws

  /// Opens the store of a database for its leader.
  ///
  /// Once a later lease has been given, or this one was released, the storage refuses every commit
  /// with an error of kind `superseded`. This fence keeps a deposed leader from writing.
  ///
  /// - Throws: A `StoreError` when the store cannot be used, or the lease is no longer valid.
  func open(_ lease: Lease) throws -> any TreeStore

  /// All servers and leases at this moment.
  func view() throws -> ClusterView

  /// Asks the leader of a database to hand it over.
  ///
  /// The leader learns of it with its next announcement. Nothing happens if there is no leader.
  func move(_ database: String, to server: ServerID) throws

  /// Removes a server that is ending.
  func withdraw(_ server: ServerID) throws

  /// Records that batches are missing that a server had seen.
  func record(_ loss: StorageLoss) throws

  /// The losses that servers have recorded, oldest first.
  func losses() throws -> [StorageLoss]

  /// What else there is to know about the storage and its servers, for people.
  func details() throws -> ClusterDetails

  /// Removes a database with everything that belongs to it: data, rules, accounts.
  ///
  /// - Throws: A `StoreError`, of kind `locked` if the leader, which is asked to hand the database
  ///   over, has not done so in time.
  func remove(_ database: String, within patience: Duration) throws

  /// Gives a database, with everything that belongs to it, another name, which no database has.
  ///
  /// - Throws: A `StoreError`, of kind `locked` if the leader, which is asked to hand the database
  ///   over, has not done so in time.
  func rename(_ database: String, to name: String, within patience: Duration) throws

  /// What this process has done with the storage so far; does not block.
  var activity: StorageActivity { get }
}

/// What a process has done with a storage that servers share.
package struct StorageActivity: Sendable {
  /// How often a connection was lost and made again.
  package var reconnections: Int64 = 0
  /// The number of batches, by database, that this process has stored and not folded yet.
  package var unfolded: [String: Int] = [:]
  /// Whether the storage finished nothing when it was last used, since it waits for a standby.
  package var isAwaitingStandby = false

  package init() {}
}

/// What there is to know about a storage and its servers beside a ``ClusterView``, for people.
package struct ClusterDetails: Sendable {
  /// A copy of the storage that follows it: the name that it gives itself, whether commits wait for
  /// it, and how many bytes of the log it has yet to apply; nil if this may not be seen.
  package typealias Standby = (name: String, isSynchronous: Bool, lag: Int64?)

  /// The versions of the program, by server, of those that are connected.
  package var versions: [ServerID: String] = [:]
  /// The number of commits of each database that are still to be folded.
  package var unfolded: [String: Int64] = [:]
  package var standbys: [Standby] = []
  /// Whether the storage finishes nothing because it waits for a standby.
  package var isAwaitingStandby = false

  package init() {}
}

/// The right to serve a database for a limited time.
package struct Lease: Hashable, Sendable {
  package var database: String
  /// The random identity of this lease; unlike its number, it is never given twice.
  package var id: String
  /// The number of this lease of the database, for people.
  package var epoch: Int64
  package var holder: ServerID
  package var renewal: Int64
  /// How long it is valid after each renewal, by the clock of whoever holds or watches it.
  package var duration: Duration
  /// How long ago it was renewed by the storage's clock, for people: no lease ends by that clock.
  package var age: Duration
  /// The server that the lease should be handed to, if a move was requested.
  package var wanted: ServerID?

  package init(
    database: String,
    id: String,
    epoch: Int64,
    holder: ServerID,
    renewal: Int64 = 0,
    duration: Duration,
    age: Duration = .zero,
    wanted: ServerID? = nil
  ) {
    self.database = database
    self.id = id
    self.epoch = epoch
    self.holder = holder
    self.renewal = renewal
    self.duration = duration
    self.age = age
    self.wanted = wanted
  }
}

/// A history of a storage: another one may lack what was written in the one before.
package struct StorageHistory: Hashable, Sendable {
  /// The timeline, which a failover or a restored copy changes.
  package var timeline: Int64
  /// When the storage was started, as a name and not as a time.
  package var start: String

  package init(timeline: Int64, start: String) {
    self.timeline = timeline
    self.start = start
  }
}

/// What a server sees of a lease; it stays the same only as long as the lease is not renewed.
package struct LeaseMark: Hashable, Sendable {
  package var history: StorageHistory
  package var lease: String
  package var renewal: Int64

  package init(_ lease: Lease, in history: StorageHistory) {
    self.history = history
    self.lease = lease.id
    renewal = lease.renewal
  }
}

/// The last batch of a database.
package struct BatchPosition: Hashable, Sendable {
  package var batch: Int64
  /// Its random identity.
  package var id: String
  /// The number of the last commit.
  package var revision: Int64

  package init(batch: Int64, id: String, revision: Int64) {
    self.batch = batch
    self.id = id
    self.revision = revision
  }
}

/// Batches that a server had seen in the storage, and that are no longer there.
package struct StorageLoss: Hashable, Sendable {
  package var database: String
  /// The last batch that was seen.
  package var seen: BatchPosition
  /// The last batch that is there now; nil if the database is missing.
  package var found: BatchPosition?
  /// The timeline of the storage in which they were seen.
  package var oldTimeline: Int64
  /// The timeline of the storage in which they are missing.
  package var newTimeline: Int64

  package init(
    _ database: String,
    seen: BatchPosition,
    found: BatchPosition?,
    oldTimeline: Int64,
    newTimeline: Int64
  ) {
    self.database = database
    self.seen = seen
    self.found = found
    self.oldTimeline = oldTimeline
    self.newTimeline = newTimeline
  }

  /// The least number of batches that are missing.
  package var batches: Int64 { max(1, seen.batch - (found?.batch ?? 0)) }
  /// The least number of commits that are missing.
  package var commits: Int64 { max(0, seen.revision - (found?.revision ?? 0)) }
}

/// A server that has fallen silent without withdrawing.
package struct SilentServer: Hashable, Sendable {
  package var server: ClusterServer
  /// How long ago it announced itself, by the storage's clock.
  package var age: Duration

  package init(_ server: ClusterServer, age: Duration) {
    self.server = server
    self.age = age
  }
}

/// A snapshot of the servers that share a storage, and of their leases.
package struct ClusterView: Sendable, Equatable {
  /// The servers that have announced themselves lately by the storage's clock, ordered by name.
  package var servers: [ClusterServer]
  /// Servers that have fallen silent without withdrawing, and since when: for people only.
  package var silent: [SilentServer] = []
  /// How often each server has announced itself.
  package var announcements: [ServerID: Int64] = [:]
  /// The leases that servers hold, ordered by database.
  package var leases: [Lease]
  /// The last batch of each database.
  package var positions: [String: BatchPosition] = [:]
  package var history = StorageHistory(timeline: 1, start: "")
  /// Whether a server has seen this history for the duration of a lease.
  package var isSettled = true
  /// The time of the snapshot by the storage's clock, since 1970 where it has a calendar.
  package var time: Duration

  package init(servers: [ClusterServer], leases: [Lease], time: Duration) {
    self.servers = servers
    self.leases = leases
    self.time = time
  }
}
