import Dispatch
import Foundation
import Logging
import NIOCore
import RealtimeTransport

/// Keeping data and writes on disk.
extension Repo {
  /// The state of the store; callers' requests wait until it is open.
  enum Persistence {
    /// The database has not been used.
    case unused
    /// The store is being opened, and these requests wait for it.
    case opening([@Sendable (isolated Repo) -> Void])
    /// The store is open, or there is none.
    case ready((any OfflineStore)?)
  }

  var store: (any OfflineStore)? {
    if case .ready(let store) = persistence { store } else { nil }
  }

  /// Runs a caller's work once the store is open; the first use opens it.
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

  /// Opens the store on another thread, because opening it reads the disk.
  private func openStore(byteLimit: Int64) {
    var configuration = core.configuration
    configuration.offlineBytes = byteLimit
    core = RepoCore(configuration: configuration)
    credentials.token = nil
    handle(.actAs(user: credentials.provider?.userID))
    actAsLocalUser()
    let directory = options.persistenceDirectory
    let identity = options.persistenceIdentity ?? target.identity
    let observers = OfflineStoreObservers { [weak self] size in
      self?.tell(.storeSize(size))
    } onProblem: { [weak self] problem in
      self?.report(problem)
    }
    Self.waiting("store").async {
      let result = Result { () throws(OfflineStoreError) in
        try Self.openStore(in: directory, identity: identity, observers: observers)
      }
      self.eventLoop.execute { self.assumeIsolated { $0.opened(result) } }
    }
  }

  private static func openStore(
    in directory: String?,
    identity: String,
    observers: OfflineStoreObservers
  ) throws(OfflineStoreError) -> (store: any OfflineStore, state: OfflineState) {
    #if OfflineStorage
    let file = OfflineFile(directory: directory, identity: identity)
    return try SQLiteOfflineStore.open(file, observers: observers)
    #else
    throw OfflineStoreError(
      .unavailable,
      description: "nothing is kept on disk: this program was built without "
        + "Full, a trait of RealtimeDatabase's package"
    )
    #endif
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

  /// Calls a block once all earlier writes are on disk, or with the reason why they are not.
  nonisolated func flush(_ block: @escaping @Sendable (DatabaseError?) -> Void) {
    submit { repo in
      guard let store = repo.store else {
        let reason = "nothing is kept on disk: persistence is off or has failed"
        return block(DatabaseError(.persistenceUnavailable, reason: reason))
      }
      store.flush { block($0.map(DatabaseError.init)) }
    }
  }

  /// Closes the connection and the store, and fails all pending requests.
  nonisolated func close(_ block: @escaping @Sendable () -> Void) {
    submit(isUse: false) { repo in
      repo.end()
      block()
    }
  }
}

extension DatabaseError {
  fileprivate convenience init(_ problem: OfflineStoreError) {
    let kind: Kind =
      switch problem.kind {
      case .inUse: .persistenceInUse
      case .damaged: .persistenceDamaged
      case .unavailable: .persistenceUnavailable
      }
    self.init(kind, reason: problem.description)
  }
}
