internal import Logging
internal import NIOCore
internal import RealtimeHub

/// The databases of a server, each opened when it is first asked for.
///
/// Confined to the server's event loop. A database is opening, open, being closed for others to have
/// room, or has failed a moment ago; in the last case it is left alone for a while, so that a damaged
/// one costs the others nothing.
final class DatabaseRegistry {
  private enum Entry {
    case opening(EventLoopFuture<DatabaseCore>)
    case open(DatabaseCore)
    case closing(EventLoopFuture<Void>)
    case failed(any Error)
  }

  /// How long a database that could not be opened is left alone.
  private static let retryDelay = TimeAmount.seconds(1)

  private let stores: any TreeStores
  private let context: ServerContext
  private var entries: [String: Entry] = [:]
  /// When each database that is open was asked for last, as the number of the question.
  private var lastUses: [String: UInt64] = [:]
  private var useCount: UInt64 = 0
  private var isClosing = false

  init(stores: any TreeStores, context: ServerContext) {
    self.stores = stores
    self.context = context
  }

  /// The databases that are open, by their names.
  var open: [DatabaseCore] {
    entries.values.compactMap { if case .open(let core) = $0 { core } else { nil } }
      .sorted { $0.name < $1.name }
  }

  /// A database that is open, or nil.
  func opened(_ name: String) -> DatabaseCore? {
    if case .open(let core)? = entries[name] { core } else { nil }
  }

  /// A database, opened if it is not yet.
  ///
  /// An emulator takes any number of names, as test runners use one for each test: where as many are
  /// open as may be, the one is closed that has not been used for longest, unless all are in use.
  ///
  /// - Parameters:
  ///   - name: Its name; invalid ones name no database.
  ///   - isMade: Whether a missing one is created.
  /// - Returns: The database; ``refusal(_:)`` says what a failure means to clients.
  func database(_ name: String, isMade: Bool) -> EventLoopFuture<DatabaseCore> {
    let eventLoop = context.eventLoop
    useCount += 1
    switch entries[name] {
    case .open(let core):
      lastUses[name] = useCount
      return eventLoop.assumeIsolated().makeSucceededFuture(core)
    case .opening(let future): return future
    case .closing(let future):
      return after(future) { self.database(name, isMade: isMade) }
    case .failed(let error): return eventLoop.makeFailedFuture(error)
    case nil: break
    }
    guard DatabaseName.isValid(name), !isClosing else {
      return eventLoop.makeFailedFuture(Self.absence)
    }
    guard let room = makeRoom() else { return eventLoop.makeFailedFuture(excess) }
    let future = after(room) { self.open(name, isMade: isMade) }
    entries[name] = .opening(future)
    lastUses[name] = useCount
    future.assumeIsolated().whenComplete { result in
      switch result {
      case .success(let core): self.entries[name] = .open(core)
      case .failure(let error): self.failed(name, because: error)
      }
    }
    return future
  }

  private func after(
    _ earlier: EventLoopFuture<Void>,
    do body: @escaping () -> EventLoopFuture<DatabaseCore>
  ) -> EventLoopFuture<DatabaseCore> {
    let promise = context.eventLoop.makePromise(of: DatabaseCore.self)
    earlier.assumeIsolated().whenComplete { _ in
      body().assumeIsolated().whenComplete { promise.assumeIsolated().completeWith($0) }
    }
    return promise.futureResult
  }

  /// Opens a database for the first time.
  private func open(_ name: String, isMade: Bool) -> EventLoopFuture<DatabaseCore> {
    let context = NIOLoopBound(context, eventLoop: context.eventLoop)
    return StoreThread.open(name, of: stores, makesMissing: isMade, on: context.eventLoop)
      .flatMapThrowing { opened in
        guard let opened else { throw Self.absence }
        let core = DatabaseCore(
          name: name,
          stored: opened.stored,
          thread: opened.thread,
          context: context.value
        )
        // The first one is opened before the revoked users are known.
        if context.value.identities.isReady { core.begin() }
        return core
      }
  }

  /// Makes room for another database.
  ///
  /// - Returns: A future that completes when there is room, or nil when all are in use.
  private func makeRoom() -> EventLoopFuture<Void>? {
    let eventLoop = context.eventLoop
    if entries.count < context.options.limits.databases {
      return eventLoop.makeSucceededVoidFuture()
    }
    guard context.options.isEmulator else { return nil }
    let idle = open.filter { $0.isIdle && $0.name != context.options.namespace }
    guard
      let oldest = idle.min(by: { lastUses[$0.name, default: 0] < lastUses[$1.name, default: 0] })
    else { return nil }
    let name = oldest.name
    lastUses[name] = nil
    let closed = oldest.close()
    entries[name] = .closing(closed)
    // Runs before anyone who waits for this room.
    closed.assumeIsolated().whenComplete { _ in
      if case .closing? = self.entries[name] { self.entries[name] = nil }
    }
    return closed
  }

  private func failed(_ name: String, because error: any Error) {
    lastUses[name] = nil
    guard !(error is RESTError) else {
      entries[name] = nil
      return
    }
    context.logger.error("a database cannot be opened: \(error)", metadata: ["database": "\(name)"])
    entries[name] = .failed(error)
    context.eventLoop.assumeIsolated().scheduleTask(in: Self.retryDelay) {
      if case .failed? = self.entries[name] { self.entries[name] = nil }
    }
  }

  /// What clients are told when a database does not exist or cannot be opened.
  static func refusal(_ error: any Error) -> RESTError {
    error as? RESTError ?? RESTError(503, "the database cannot be opened")
  }

  /// Why a database is not open that somebody was let in to, or nil when it may be the next time.
  func refusal(of name: String) -> RESTError? {
    guard DatabaseName.isValid(name) else { return Self.absence }
    switch entries[name] {
    case .failed(let error): return Self.refusal(error)
    case .open, .opening, .closing: return nil
    case nil: return context.options.isEmulator ? excess : Self.absence
    }
  }

  private static let absence = RESTError(404, "there is no database of this name here")

  /// Too many databases; from an emulator an answer that no client takes for a reason to try again.
  private var excess: RESTError {
    RESTError(
      context.options.isEmulator ? 429 : 503,
      "the server has too many databases open, all of which are in use (limit databases)"
    )
  }

  // MARK: Closing

  /// Disconnects the clients of all databases.
  func sayGoodbye() {
    isClosing = true
    for core in open { core.sayGoodbye() }
  }

  /// Closes all databases, also those that are only being opened.
  ///
  /// - Returns: A future that completes when everything is stored and closed; it never fails.
  func close() -> EventLoopFuture<Void> { close { $0.close() } }

  /// Closes all databases without storing or answering anything more; the future never fails.
  func abandon() -> EventLoopFuture<Void> { close { $0.abandon() } }

  private func close(
    by close: @escaping (DatabaseCore) -> EventLoopFuture<Void>
  ) -> EventLoopFuture<Void> {
    isClosing = true
    let eventLoop = context.eventLoop
    let closing = entries.values.map { entry -> EventLoopFuture<Void> in
      switch entry {
      case .open(let core): close(core)
      case .opening(let future):
        future.assumeIsolated().flatMap { close($0) }.nonisolated()
      case .closing(let future): future
      case .failed: eventLoop.makeSucceededVoidFuture()
      }
    }
    return EventLoopFuture.andAllComplete(closing, on: eventLoop)
  }
}
