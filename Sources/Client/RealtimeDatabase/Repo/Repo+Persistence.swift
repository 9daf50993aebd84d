import Dispatch
import Foundation
import Logging
import NIOCore
import RealtimeCore
import RealtimeSync
import RealtimeTransport

/// What outlives the process.
extension Repo {
  /// How far the store is; until it is open, all that is asked for waits.
  enum Persistence {
    /// The database has not been used.
    case unused
    /// The store is being opened, and this is what waits.
    case opening([@Sendable (isolated Repo) -> Void])
    /// The store is open, or there is none.
    case ready((any OfflineStore)?)
  }

  /// The open store, or nil.
  var store: (any OfflineStore)? {
    if case .ready(let store) = persistence { store } else { nil }
  }

  /// Runs work of a caller, once the store is open; the first use opens it.
  func run(isUse: Bool, _ body: @escaping @Sendable (isolated Repo) -> Void) {
    switch persistence {
    case .ready: body(self)
    case .opening(let bodies): persistence = .opening(bodies + [body])
    case .unused:
      guard isUse else { return body(self) }
      let settings = settings
      guard settings.isPersistenceEnabled else {
        persistence = .ready(nil)
        return body(self)
      }
      persistence = .opening([body])
      openStore(byteLimit: Int64(clamping: settings.persistenceCacheSizeBytes))
    }
  }

  /// Opens the store elsewhere, since it reads the disk.
  private func openStore(byteLimit: Int64) {
    var configuration = core.configuration
    configuration.offlineBytes = byteLimit
    core = RepoCore(configuration: configuration)
    credentials.token = nil
    handle(.actAs(user: credentials.provider?.userID))
    actAsLocalUser()
    let directory = options.persistenceDirectory
    let identity = target.identity
    let observers = OfflineStoreObservers { [weak self] size in
      self?.tell(.storeSize(size))
    } onProblem: { [weak self] problem in
      self?.report(problem)
    }
    Self.waiting("store").async {
      let result = Result { () throws(OfflineStoreError) in
        try Self.openStore(directory, identity, observers)
      }
      self.eventLoop.execute { self.assumeIsolated { $0.opened(result) } }
    }
  }

  private static func openStore(
    _ directory: String?,
    _ identity: String,
    _ observers: OfflineStoreObservers
  ) throws(OfflineStoreError) -> (store: any OfflineStore, state: OfflineState) {
    let environment = ProcessInfo.processInfo.environment
    let file = OfflineFile(
      directory: directory ?? OfflineFile.defaultDirectory(environment),
      identity: identity
    )
    return try SQLiteOfflineStore.open(file, observers: observers)
  }

  private func opened(
    _ result: Result<(store: any OfflineStore, state: OfflineState), OfflineStoreError>
  ) {
    guard case .opening(let bodies) = persistence else { return }
    switch result {
    case .success(let (store, state)):
      persistence = .ready(store)
      core.restore(state) { store.data(of: $0) }
    case .failure(let problem):
      persistence = .ready(nil)
      report(problem)
    }
    for body in bodies { body(self) }
  }

  private nonisolated func tell(_ input: RepoInput) {
    eventLoop.execute { self.assumeIsolated { $0.handle(input) } }
  }

  private nonisolated func report(_ problem: OfflineStoreError) {
    let error = DatabaseError(problem)
    logger.error("\(error.reason)")
    if let block = options.onPersistenceProblem { deliver { block(error) } }
  }

  /// Calls a block when the disk has all writes up to now, with the reason if it has not.
  nonisolated func flush(_ block: @escaping @Sendable (DatabaseError?) -> Void) {
    submit { repo in
      guard let store = repo.store else {
        let reason = "nothing is kept on disk: persistence is not enabled, or has failed"
        return block(DatabaseError(.persistenceUnavailable, reason: reason))
      }
      store.flush { block($0.map(DatabaseError.init)) }
    }
  }

  /// Ends everything: the connection, the store, and what waits for answers.
  nonisolated func close(_ block: @escaping @Sendable () -> Void) {
    submit(isUse: false) { repo in
      repo.end()
      block()
    }
  }

  func end() {
    statusObservers = []
    handle(.goOffline(.user))
    isClosed = true
    credentials = Credentials()
    store?.close()
    persistence = .ready(nil)
    for (_, completion) in completions.sorted(by: { $0.key.number < $1.key.number }) {
      fail(completion)
    }
    completions = [:]
    for (_, deadline) in readDeadlines { deadline.cancel() }
    readDeadlines = [:]
    for (_, timer) in timers { timer.cancel() }
    timers = [:]
    listeners = [:]
  }

  /// Tells who waits for an answer that none will come.
  func fail(_ completion: Completion) {
    let reason = "the database has been closed"
    switch completion {
    case .write(let path, let block):
      let error = DatabaseError(
        DatabaseError.Code.unavailable,
        path: path.description,
        reason: reason
      )
      deliver { block(error) }
    case .get(let query, let block):
      let error = DatabaseError(
        DatabaseError.Code.unavailable,
        path: query.path.description,
        reason: reason
      )
      deliver { block(.failure(error)) }
    case .transaction(let reference, let block):
      let error = DatabaseError(
        DatabaseError.Code.unavailable,
        path: reference.path.description,
        reason: reason
      )
      let none = DataSnapshot(.empty, at: reference)
      deliver { block(error, false, none) }
    }
  }
}

extension DatabaseError {
  fileprivate init(_ problem: OfflineStoreError) {
    let code: Code =
      switch problem.kind {
      case .inUse: .persistenceInUse
      case .damaged: .persistenceDamaged
      case .unavailable: .persistenceUnavailable
      }
    self.init(code, reason: problem.description)
  }
}
