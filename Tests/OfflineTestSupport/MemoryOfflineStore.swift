package import RealtimeCore
package import RealtimeSync

/// A store in memory, which can lose its last changes as a crash does; for one test at a time.
package final class MemoryOfflineStore: OfflineStore, @unchecked Sendable {
  // Safety: a test uses it, and the engine that reads it, from one task only.

  /// What it keeps when nothing goes wrong.
  package private(set) var model: OfflineModel
  /// What it keeps in any case.
  private var durable: OfflineModel
  private var batches: [[OfflineChange]] = []
  /// Everything that it was told.
  package private(set) var changes: [OfflineChange] = []

  /// Makes a store that keeps what another one has kept.
  package init(_ model: OfflineModel = OfflineModel()) {
    self.model = model
    durable = model
  }

  package func data(of query: Int64) -> Node? { model.data[query] }

  package func perform(_ changes: [OfflineChange]) {
    self.changes += changes
    batches.append(changes)
    for change in changes { model.apply(change) }
  }

  package func flush(_ block: @escaping @Sendable (OfflineStoreError?) -> Void) {
    block(nil)
  }

  package func close() {}

  /// The number of calls whose changes a crash may lose.
  package var unsafeBatches: Int { batches.count }

  /// Puts the changes of the first so many calls beyond a crash.
  package func harden(_ count: Int) {
    for batch in batches.prefix(count) {
      for change in batch { durable.apply(change) }
    }
    batches.removeFirst(min(count, batches.count))
  }

  /// The store that the next process finds after a crash.
  package func crashed() -> MemoryOfflineStore { MemoryOfflineStore(durable) }
}
