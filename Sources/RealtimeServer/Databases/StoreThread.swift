internal import NIOCore
internal import NIOPosix
internal import RealtimeHub

/// The one thread that a database's store is used from.
final class StoreThread: Sendable {
  /// Where the outcome of each call arrives.
  let eventLoop: any EventLoop

  private let store: any TreeStore
  private let pool: NIOThreadPool

  private init(store: any TreeStore, pool: NIOThreadPool, eventLoop: any EventLoop) {
    self.store = store
    self.pool = pool
    self.eventLoop = eventLoop
  }

  /// Opens the store of a database and reads everything.
  ///
  /// - Parameters:
  ///   - name: The valid name of a database.
  ///   - stores: Where it is.
  ///   - makesMissing: Whether it is made where there is none.
  ///   - eventLoop: Where the outcome of each call is to arrive.
  /// - Returns: Its thread and data, or nil when there is no such database.
  static func open(
    _ name: String,
    of stores: any TreeStores,
    makesMissing: Bool,
    on eventLoop: any EventLoop
  ) -> EventLoopFuture<(thread: StoreThread, stored: StoredTree)?> {
    let pool = NIOThreadPool(numberOfThreads: 1)
    pool.start()
    let opened: EventLoopFuture<(thread: StoreThread, stored: StoredTree)?> = pool.runIfActive(
      eventLoop: eventLoop
    ) {
      if makesMissing { _ = try stores.create(name) }
      guard let store = try stores.open(name) else { return nil }
      do {
        let stored = try store.load()
        return (StoreThread(store: store, pool: pool, eventLoop: eventLoop), stored)
      } catch {
        try? store.close()
        throw error
      }
    }
    opened.whenComplete { result in
      if case .success(.some) = result { return }
      pool.shutdownGracefully { _ in }
    }
    return opened
  }

  /// Makes a batch durable.
  func commit(_ batch: CommitBatch) -> EventLoopFuture<Void> {
    pool.runIfActive(eventLoop: eventLoop) { [store] in try store.commit(batch) }
  }

  /// Closes the store, then ends the thread.
  func close() -> EventLoopFuture<Void> {
    let closed = pool.runIfActive(eventLoop: eventLoop) { [store] in try store.close() }
    closed.whenComplete { [pool] _ in pool.shutdownGracefully { _ in } }
    return closed
  }
}
