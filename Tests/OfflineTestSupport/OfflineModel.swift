package import RealtimeCore
package import RealtimeSync

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
