package import RealtimeHub

/// A storage that several servers share, as behind `hearth serve --store`.
///
/// The storage decides which server leads a database. It measures every deadline by its own clock,
/// so servers need not agree on the time. A server counts its lease from before it asked for it,
/// and stops serving before the storage may give the lease to another.
///
/// The server calls it on threads of its own, where calls may block.
package protocol ClusterStore: StoredDatabases {
  /// Records that a server is alive, and renews the valid leases that it holds.
  ///
  /// - Parameters:
  ///   - server: The server, with the address that it announces.
  ///   - duration: How long the server's registration and its leases are valid from now on.
  /// - Returns: All live servers and all valid leases, with those of this server renewed.
  /// - Throws: A `StoreError` when the storage cannot be reached; it is then unknown whether
  ///   anything was renewed.
  func announce(_ server: ClusterServer, for duration: Duration) throws -> ClusterView

  /// Gives the lease of a database to a server, unless another server holds a valid one.
  ///
  /// A server that holds the lease already gets a new one. It starts afresh: the storage refuses
  /// any write still on its way under the old lease.
  ///
  /// - Parameters:
  ///   - database: The name of a database that exists.
  ///   - server: The server that wants to lead the database.
  ///   - duration: How long the lease is valid from now on.
  /// - Returns: The valid lease, which may be another server's. Each new lease has a greater epoch
  ///   than every earlier one of the database.
  /// - Throws: A `StoreError` when the storage cannot be reached.
  func acquire(_ database: String, by server: ServerID, for duration: Duration) throws -> Lease

  /// Releases a lease, so that a successor, or any other server, may acquire it at once.
  ///
  /// A named successor holds it from then on, for the time that was left. Views already show it as
  /// the holder, but it acquires the lease before it serves.
  ///
  /// - Parameters:
  ///   - lease: The lease; nothing happens if it is no longer valid.
  ///   - successor: The server that should lead the database next, or nil for any.
  /// - Throws: A `StoreError` when the storage cannot be reached.
  func release(_ lease: Lease, to successor: ServerID?) throws

  /// Opens the store of a database for its leader.
  ///
  /// Once a later lease has been given, or this one was released, the storage refuses every commit
  /// with an error of kind `superseded`. This fence keeps a deposed leader from writing.
  ///
  /// - Throws: A `StoreError` when the store cannot be used, or the lease is no longer valid.
  func open(_ lease: Lease) throws -> any TreeStore

  /// All live servers and valid leases at this moment.
  ///
  /// - Throws: A `StoreError` when the storage cannot be reached.
  func view() throws -> ClusterView

  /// Asks the leader of a database to hand it over.
  ///
  /// The leader learns of it with its next announcement. Nothing happens if there is no leader.
  ///
  /// - Throws: A `StoreError` when the storage cannot be reached.
  func move(_ database: String, to server: ServerID) throws

  /// Removes a server that is ending.
  ///
  /// - Throws: A `StoreError` when the storage cannot be reached.
  func withdraw(_ server: ServerID) throws
}

/// The name of one run of a server; a restarted server has a new one.
package struct ServerID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The name as it is stored.
  package let description: String

  /// Makes a name from its stored form.
  package init(_ description: String) { self.description = description }

  package static func < (left: ServerID, right: ServerID) -> Bool {
    left.description < right.description
  }
}

/// A server of a cluster.
package struct ClusterServer: Hashable, Sendable {
  /// The name of the server's run.
  package var id: ServerID
  /// The host at which clients reach it, with the port unless that is the default one.
  package var host: String

  /// Makes a description of a server.
  package init(id: ServerID, host: String) {
    self.id = id
    self.host = host
  }
}

/// The right to serve a database for a limited time.
package struct Lease: Hashable, Sendable {
  /// The name of the database.
  package var database: String
  /// The number of this lease of the database; epochs only increase.
  package var epoch: Int64
  /// The server that holds it.
  package var holder: ServerID
  /// How long the lease was still valid when the storage answered, by the storage's clock.
  package var remaining: Duration
  /// The server that the lease should be handed to, if a move was requested.
  package var wanted: ServerID?

  /// Makes a lease.
  package init(
    database: String,
    epoch: Int64,
    holder: ServerID,
    remaining: Duration,
    wanted: ServerID? = nil
  ) {
    self.database = database
    self.epoch = epoch
    self.holder = holder
    self.remaining = remaining
    self.wanted = wanted
  }
}

/// A snapshot of the servers that share a storage, and of their leases.
package struct ClusterView: Sendable, Equatable {
  /// The live servers, ordered by name.
  package var servers: [ClusterServer]
  /// The valid leases, ordered by database.
  package var leases: [Lease]
  /// The time of the snapshot by the storage's clock, from an arbitrary start.
  package var time: Duration

  /// Makes a view.
  package init(servers: [ClusterServer], leases: [Lease], time: Duration) {
    self.servers = servers
    self.leases = leases
    self.time = time
  }
}
