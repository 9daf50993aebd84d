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

/// What a store is to keep, as plain dictionaries.
package struct OfflineModel: Equatable, Sendable {
  /// The writes by number.
  package var writes: [Int64: StoredWrite] = [:]
  /// The queries by number.
  package var queries: [Int64: TrackedQuery] = [:]
  /// Their data.
  package var data: [Int64: Node] = [:]

  /// Makes a model that keeps nothing.
  package init() {}

  /// Carries a change out.
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

  /// What the next process is given.
  package var state: OfflineState {
    OfflineState(
      writes: writes.values.sorted { $0.number < $1.number },
      queries: queries.values.sorted { $0.id < $1.id }
    )
  }
}
