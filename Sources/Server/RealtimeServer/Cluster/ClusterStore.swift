package import RealtimeHub

/// A storage that several servers share: the port behind `hearth serve --store`.
///
/// The storage decides who leads a database. It measures every deadline with its own clock, so that
/// servers need not agree on the time; a server counts the duration of its lease from before it
/// asked, and stops serving before the storage may give the lease to another.
///
/// The server calls it from threads of its own, which may wait.
package protocol ClusterStore: StoredDatabases {
  /// Notes that a server is there, and renews the leases that it holds and that still count.
  ///
  /// - Parameters:
  ///   - server: The server, with the address that it announces.
  ///   - duration: How long the server and its leases count from now.
  /// - Returns: All servers that count at this moment, and all leases, those of this server renewed.
  /// - Throws: A `StoreError` when the storage cannot be reached; then it is unknown whether
  ///   anything was renewed.
  func announce(_ server: ClusterServer, for duration: Duration) throws -> ClusterView

  /// Gives the lease of a database to a server, unless another server holds one that counts.
  ///
  /// A server that holds it already gets a new one: it begins anew, and what it may have on its way
  /// to the storage is refused from now on.
  ///
  /// - Parameters:
  ///   - database: The name of a database that exists.
  ///   - server: The server that is to lead it.
  ///   - duration: How long the lease counts from now.
  /// - Returns: The lease that counts now, which may be that of another server. Each new lease has a
  ///   greater epoch than every earlier one of the database.
  /// - Throws: A `StoreError` when the storage cannot be reached.
  func acquire(_ database: String, by server: ServerID, for duration: Duration) throws -> Lease

  /// Gives a lease up, so that its successor, or any other server, may take it at once.
  ///
  /// A successor holds it from now on, for as long as it would have counted: views show it as the
  /// successor's, which acquires it before it serves.
  ///
  /// - Parameters:
  ///   - lease: The lease; nothing happens if it does not count any more.
  ///   - successor: The server that is to lead the database next, or nil for any.
  /// - Throws: A `StoreError` when the storage cannot be reached.
  func release(_ lease: Lease, to successor: ServerID?) throws

  /// Opens the store of a database for its leader.
  ///
  /// The storage refuses every commit, with an error of kind `superseded`, once a later lease has been
  /// given or this one was given up: this is the fence that keeps a deposed leader from writing.
  ///
  /// - Throws: A `StoreError` when it cannot be used, or when the lease does not count any more.
  func open(_ lease: Lease) throws -> any TreeStore

  /// All servers and leases that count at this moment.
  ///
  /// - Throws: A `StoreError` when the storage cannot be reached.
  func view() throws -> ClusterView

  /// Asks whoever leads a database to hand it over.
  ///
  /// The leader learns of it when it announces itself the next time; nothing happens if nobody leads.
  ///
  /// - Throws: A `StoreError` when the storage cannot be reached.
  func move(_ database: String, to server: ServerID) throws

  /// Forgets a server that ends.
  ///
  /// - Throws: A `StoreError` when the storage cannot be reached.
  func withdraw(_ server: ServerID) throws
}

/// The name of one run of a server; a server that is started again has another.
package struct ServerID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The name as it is stored.
  package let description: String

  /// Makes a name from what is stored.
  package init(_ description: String) { self.description = description }

  package static func < (left: ServerID, right: ServerID) -> Bool {
    left.description < right.description
  }
}

/// A server of a cluster.
package struct ClusterServer: Hashable, Sendable {
  /// The run of the server.
  package var id: ServerID
  /// The host, and the port unless it is the usual one, under which clients reach it.
  package var host: String

  /// Makes a description of a server.
  package init(id: ServerID, host: String) {
    self.id = id
    self.host = host
  }
}

/// The right to serve a database for some time.
package struct Lease: Hashable, Sendable {
  /// The name of the database.
  package var database: String
  /// Which lease of the database it is; epochs only grow.
  package var epoch: Int64
  /// Who holds it.
  package var holder: ServerID
  /// How long it still counted when the storage answered, by the clock of the storage.
  package var remaining: Duration
  /// The server that it is to be handed to, if somebody has asked for it.
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

/// What a storage knows of the servers that share it, at one moment.
package struct ClusterView: Sendable, Equatable {
  /// The servers that count, ordered by their names.
  package var servers: [ClusterServer]
  /// The leases that count, ordered by their databases.
  package var leases: [Lease]
  /// The moment, by the clock of the storage, from any start.
  package var time: Duration

  /// Makes a view.
  package init(servers: [ClusterServer], leases: [Lease], time: Duration) {
    self.servers = servers
    self.leases = leases
    self.time = time
  }
}
