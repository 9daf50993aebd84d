internal import NIOCore
internal import NIOPosix
internal import RealtimeHub

/// The one thread that a server's store is used from.
final class StoreThread: Sendable {
  /// Where the outcome of each call arrives.
  let eventLoop: any EventLoop

  private let store: any TreeStore
  private let pool: NIOThreadPool

  init(store: any TreeStore, eventLoop: any EventLoop) {
    self.store = store
    self.eventLoop = eventLoop
    pool = NIOThreadPool(numberOfThreads: 1)
    pool.start()
  }

  /// Reads everything.
  func load() -> EventLoopFuture<StoredTree> {
    pool.runIfActive(eventLoop: eventLoop) { [store] in try store.load() }
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
