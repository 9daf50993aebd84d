import NIOConcurrencyHelpers
import RealtimeCore

@testable import RealtimeServer

/// An in-memory storage that several servers of one process share.
final class MemoryClusterStore: ClusterStore {
  private struct Grant {
    var epoch: Int64 = 0
    var holder: ServerID?
    var renewal: Int64 = 0
    var duration = Duration.zero
    var wanted: ServerID?

    func lease(of database: String) -> Lease? {
      holder.map {
        Lease(
          database: database,
          id: "\(epoch)",
          epoch: epoch,
          holder: $0,
          renewal: renewal,
          duration: duration,
          wanted: wanted
        )
      }
    }
  }

  private struct State {
    var servers: [ServerID: (server: ClusterServer, renewal: Int64)] = [:]
    var grants: [String: Grant] = [:]
  }

  private let state = NIOLockedValueBox(State())
  private let stores: MemoryTreeStores
  private let clock: @Sendable () -> Duration
  private let knowledge = Knowledge()

  /// The revisions of what servers knew when they read a database.
  var known: [Int64] { knowledge.revisions.withLockedValue { $0 } }

  /// Makes a storage without databases.
  ///
  /// - Parameter clock: The time since an arbitrary start, which never goes back.
  init(clock: @escaping @Sendable () -> Duration) {
    self.clock = clock
    stores = MemoryTreeStores()
  }

  func names() -> [String] { stores.names() }

  func open(_ name: String) -> (any TreeStore)? { stores.open(name) }

  func create(_ name: String) -> Bool { stores.create(name) }

  func database(_ name: String) -> any StoredDatabase {
    MemoryDatabase(store: stores.open(name), knowledge: knowledge)
  }

  func announce(_ server: ClusterServer, for duration: Duration) -> ClusterView {
    let now = clock()
    return state.withLockedValue { state in
      state.servers[server.id] = (server, (state.servers[server.id]?.renewal ?? 0) + 1)
      for (name, grant) in state.grants where grant.holder == server.id {
        state.grants[name]?.renewal += 1
        state.grants[name]?.duration = duration
      }
      return Self.view(of: state, at: now)
    }
  }

  func acquire(
    _ database: String,
    by server: ServerID,
    for duration: Duration,
    insteadOf ended: LeaseMark?,
    knowing history: StorageHistory?
  ) throws -> Lease {
    try state.withLockedValue { state in
      let grant = state.grants[database] ?? Grant()
      let held = grant.lease(of: database)
      let hasEnded = held.map { LeaseMark($0, in: Self.history) == ended } ?? true
      if let held, held.holder != server, !hasEnded { return held }
      let new = Grant(epoch: grant.epoch + 1, holder: server, duration: duration)
      state.grants[database] = new
      guard let lease = new.lease(of: database) else {
        throw StoreError(.failed, description: "nobody holds \"\(database)\"")
      }
      return lease
    }
  }

  private static let history = StorageHistory(timeline: 1, start: "")

  func release(_ lease: Lease, to successor: ServerID?) {
    state.withLockedValue { state in
      guard let grant = state.grants[lease.database], grant.holder == lease.holder,
        grant.epoch == lease.epoch
      else { return }
      state.grants[lease.database] = Grant(
        epoch: grant.epoch + 1,
        holder: successor,
        duration: grant.duration
      )
    }
  }

  func open(_ lease: Lease) throws -> any TreeStore {
    guard let store = stores.open(lease.database) else {
      throw StoreError(.failed, description: "there is no database \"\(lease.database)\"")
    }
    try check(lease)
    return FencedStore(store: store, knowledge: knowledge) { [weak self] in try self?.check(lease) }
  }

  func view() -> ClusterView {
    let now = clock()
    return state.withLockedValue { Self.view(of: $0, at: now) }
  }

  func move(_ database: String, to server: ServerID) {
    state.withLockedValue { $0.grants[database]?.wanted = server }
  }

  func withdraw(_ server: ServerID) {
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
    var view = ClusterView(
      servers: state.servers.values.map(\.server).sorted { $0.id < $1.id },
      leases: state.grants.compactMap { $1.lease(of: $0) }.sorted { $0.database < $1.database },
      time: now
    )
    view.announcements = state.servers.mapValues(\.renewal)
    view.history = history
    return view
  }
}

/// A store that refuses commits once its lease is not the latest.
private struct FencedStore: TreeStore {
  let store: any TreeStore
  let knowledge: Knowledge
  let check: @Sendable () throws -> Void

  func load() throws -> StoredTree {
    try check()
    return try knowledge.named(store.load())
  }

  func load(since known: StoredTree) throws -> StoredTree {
    try check()
    return try knowledge.used(known, for: store.load())
  }

  func commit(_ batch: CommitBatch) throws {
    try check()
    try store.commit(batch)
  }

  /// Does nothing: other servers share the data, so it must stay.
  func close() {}
}

/// An in-memory database, for which tools can only check existence and load the data.
struct MemoryDatabase: StoredDatabase {
  let store: (any TreeStore)?
  var knowledge = Knowledge()

  private static let reason = "a database in memory has no files"

  var exists: Bool { store != nil }

  func load() throws -> StoredTree {
    guard let store else { throw StoreError(.failed, description: "there is no such database") }
    return try knowledge.named(store.load())
  }

  func load(since known: StoredTree) throws -> StoredTree {
    knowledge.used(known, for: try load())
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

/// Notes what is known to servers that read a database.
final class Knowledge: Sendable {
  let revisions = NIOLockedValueBox<[Int64]>([])

  /// Names the history of what was read.
  func named(_ stored: StoredTree) -> StoredTree {
    var stored = stored
    stored.lineage = "memory"
    return stored
  }

  /// Notes that a server knew data of the same history.
  func used(_ known: StoredTree, for stored: StoredTree) -> StoredTree {
    let stored = named(stored)
    if known.lineage == stored.lineage, known.revision <= stored.revision {
      revisions.withLockedValue { $0.append(known.revision) }
    }
    return stored
  }
}

/// What the storages of tests have no use for.
extension ClusterStore {
  /// Records nothing.
  func record(_ loss: StorageLoss) {}

  /// No losses.
  func losses() -> [StorageLoss] { [] }

  /// Nothing.
  func details() -> ClusterDetails { ClusterDetails() }

  /// Throws an error, since only storages that outlive a process have use for this.
  func remove(_ database: String, within patience: Duration) throws {
    throw StoreError(.failed, description: "databases cannot be removed from this storage")
  }

  /// Throws an error, since only storages that outlive a process have use for this.
  func rename(_ database: String, to name: String, within patience: Duration) throws {
    throw StoreError(.failed, description: "databases of this storage cannot be renamed")
  }

  /// Nothing.
  var activity: StorageActivity { StorageActivity() }
}
