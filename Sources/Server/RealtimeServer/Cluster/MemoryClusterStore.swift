internal import NIOConcurrencyHelpers
internal import RealtimeCore
package import RealtimeHub

/// An in-memory storage that several servers of one process share.
package final class MemoryClusterStore: ClusterStore {
  private struct Grant {
    var epoch: Int64 = 0
    var holder: ServerID?
    var end = Duration.zero
    var wanted: ServerID?
  }

  private struct State {
    var servers: [ServerID: (server: ClusterServer, end: Duration)] = [:]
    var grants: [String: Grant] = [:]
  }

  private let state = NIOLockedValueBox(State())
  private let stores: MemoryTreeStores
  private let clock: @Sendable () -> Duration

  /// Makes a storage without databases.
  ///
  /// - Parameter clock: The time since an arbitrary start, which never goes back.
  package init(clock: @escaping @Sendable () -> Duration) {
    self.clock = clock
    stores = MemoryTreeStores()
  }

  package func names() -> [String] { stores.names() }

  package func open(_ name: String) -> (any TreeStore)? { stores.open(name) }

  package func create(_ name: String) -> Bool { stores.create(name) }

  package func database(_ name: String) -> any StoredDatabase {
    MemoryDatabase(store: stores.open(name))
  }

  package func announce(_ server: ClusterServer, for duration: Duration) -> ClusterView {
    let now = clock()
    return state.withLockedValue { state in
      state.servers[server.id] = (server, now + duration)
      for (name, grant) in state.grants where grant.holder == server.id && grant.end > now {
        state.grants[name]?.end = max(grant.end, now + duration)
      }
      return Self.view(of: state, at: now)
    }
  }

  package func acquire(
    _ database: String,
    by server: ServerID,
    for duration: Duration
  ) -> Lease {
    let now = clock()
    return state.withLockedValue { state in
      var grant = state.grants[database] ?? Grant()
      if grant.end <= now || grant.holder == nil || grant.holder == server {
        grant = Grant(epoch: grant.epoch + 1, holder: server, end: now + duration)
        state.grants[database] = grant
      }
      return Lease(
        database: database,
        epoch: grant.epoch,
        holder: grant.holder ?? server,
        remaining: grant.end - now,
        wanted: grant.wanted
      )
    }
  }

  package func release(_ lease: Lease, to successor: ServerID?) {
    let now = clock()
    state.withLockedValue { state in
      guard let grant = state.grants[lease.database], grant.holder == lease.holder,
        grant.epoch == lease.epoch, grant.end > now
      else { return }
      state.grants[lease.database] = Grant(
        epoch: grant.epoch + 1,
        holder: successor,
        end: successor == nil ? now : grant.end
      )
    }
  }

  package func open(_ lease: Lease) throws -> any TreeStore {
    guard let store = stores.open(lease.database) else {
      throw StoreError(.failed, description: "there is no database \"\(lease.database)\"")
    }
    try check(lease)
    return FencedStore(store: store) { [weak self] in try self?.check(lease) }
  }

  package func view() -> ClusterView {
    let now = clock()
    return state.withLockedValue { Self.view(of: $0, at: now) }
  }

  package func move(_ database: String, to server: ServerID) {
    let now = clock()
    state.withLockedValue { state in
      guard let grant = state.grants[database], grant.end > now else { return }
      state.grants[database]?.wanted = server
    }
  }

  package func withdraw(_ server: ServerID) {
    state.withLockedValue { $0.servers[server] = nil }
  }

  /// Checks that no later lease has been given.
  private func check(_ lease: Lease) throws {
    let grant = state.withLockedValue { $0.grants[lease.database] }
    guard grant?.epoch == lease.epoch, grant?.holder == lease.holder else {
      throw StoreError(
        .superseded,
        description: "another server leads the database \"\(lease.database)\""
      )
    }
  }

  private static func view(of state: State, at now: Duration) -> ClusterView {
    ClusterView(
      servers: state.servers.values.filter { $0.end > now }.map(\.server)
        .sorted { $0.id < $1.id },
      leases: state.grants.compactMap { name, grant in
        guard let holder = grant.holder, grant.end > now else { return nil }
        return Lease(
          database: name,
          epoch: grant.epoch,
          holder: holder,
          remaining: grant.end - now,
          wanted: grant.wanted
        )
      }
      .sorted { $0.database < $1.database },
      time: now
    )
  }
}

/// A store that refuses commits once its lease is not the latest.
private struct FencedStore: TreeStore {
  let store: any TreeStore
  let check: @Sendable () throws -> Void

  func load() throws -> StoredTree {
    try check()
    return try store.load()
  }

  func commit(_ batch: CommitBatch) throws {
    try check()
    try store.commit(batch)
  }

  /// Does nothing: other servers share the data, so it must stay.
  func close() {}
}

/// An in-memory database, for which tools can only check existence and load the data.
private struct MemoryDatabase: StoredDatabase {
  let store: (any TreeStore)?

  private static let reason = "a database in memory has no files"

  var exists: Bool { store != nil }

  func load() throws -> StoredTree {
    guard let store else { throw StoreError(.failed, description: "there is no such database") }
    return try store.load()
  }

  func commits(after revision: Int64) throws -> [Commit]? { nil }

  func export(_ layout: ExportLayout, to sink: @escaping (String) throws -> Void) throws {
    throw StoreError(.failed, description: Self.reason)
  }

  func check() throws -> StoreCheck { throw StoreError(.failed, description: Self.reason) }

  func backUp(to path: String) throws -> StoreCheck {
    throw StoreError(.failed, description: Self.reason)
  }

  func importTree(
    _ json: inout JSONTokenizer,
    mode: ImportMode,
    patience: Duration
  ) throws -> ImportResult {
    throw StoreError(.failed, description: Self.reason)
  }

  func acceptLoss() throws -> AcceptedLoss? { nil }
}
