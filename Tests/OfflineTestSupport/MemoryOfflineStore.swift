package import RealtimeCore
package import RealtimeDatabase

/// A store in memory, which can lose its last changes as in a crash; for one test at a time.
package final class MemoryOfflineStore: OfflineStore, @unchecked Sendable {
  // Safety: a test uses it, and the engine that reads it, from one task only.

  /// The content when nothing goes wrong.
  package private(set) var model: OfflineModel
  /// The content that survives a crash.
  private var durable: OfflineModel
  private var batches: [[OfflineChange]] = []
  /// All changes that it has received.
  package private(set) var changes: [OfflineChange] = []
  /// How often data has been read.
  package private(set) var reads = 0

  /// Creates a store that contains the content of another one.
  package init(_ model: OfflineModel = OfflineModel()) {
    self.model = model
    durable = model
  }

  package func data(of query: Int64) -> Node? {
    reads += 1
    return model.data[query]
  }

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

  /// Makes the changes of the first calls survive a crash.
  package func harden(_ count: Int) {
    for batch in batches.prefix(count) {
      for change in batch { durable.apply(change) }
    }
    batches.removeFirst(min(count, batches.count))
  }

  /// The store that the next process finds after a crash.
  package func crashed() -> MemoryOfflineStore { MemoryOfflineStore(durable) }
}

/// The expected content of a store, as plain dictionaries.
package struct OfflineModel: Equatable, Sendable {
  /// The writes by number.
  package var writes: [Int64: StoredWrite] = [:]
  /// The queries by number.
  package var queries: [Int64: TrackedQuery] = [:]
  /// The data of the queries.
  package var data: [Int64: Node] = [:]

  /// Creates an empty model.
  package init() {}

  /// Applies a change.
  package mutating func apply(_ change: OfflineChange) {
    switch change {
    case .saveWrite(let write): writes[write.number] = write
    case .removeWrite(let number): writes[number] = nil
    case .track(let query): queries[query.id] = query
    case .replace(let query, let node): data[query] = node
    case .update(let query, let change):
      data[query, default: .empty].update(at: change.path, to: change.node)
    case .amend(let query, let change):
      guard let key = change.path.first, data[query]?.hasChild(key) == true else { return }
      data[query]?.update(at: change.path, to: change.node)
    case .forget(let query):
      queries[query] = nil
      data[query] = nil
    }
  }

  /// The state that the next process starts with.
  package var state: OfflineState {
    OfflineState(
      writes: writes.values.sorted { $0.number < $1.number },
      queries: queries.values.sorted { $0.id < $1.id }
    )
  }
}
