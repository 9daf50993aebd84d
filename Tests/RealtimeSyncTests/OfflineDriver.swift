import OfflineTestSupport
import RealtimeCore

@testable import RealtimeSync

/// An engine with a store in memory, and the processes that come after it.
struct OfflineDriver {
  var engine: CoreDriver
  private(set) var store: MemoryOfflineStore
  private var process = 1
  private var performed = 0

  init(configure: (inout RepoConfiguration) -> Void = { _ in }) {
    engine = CoreDriver { configuration in
      configuration.clientID = "p1"
      configure(&configuration)
    }
    store = MemoryOfflineStore()
    let store = store
    engine.core.restore(OfflineState()) { store.data(of: $0) }
  }

  /// Hands the store what the engine has emitted since the last time.
  mutating func persist() {
    let outputs = engine.outputs.dropFirst(performed)
    for case .persist(let changes) in outputs { store.perform(changes) }
    performed = engine.outputs.count
  }

  /// Ends the process and starts the next one on the same store.
  mutating func restart(configure: (inout RepoConfiguration) -> Void = { _ in }) {
    persist()
    process += 1
    performed = 0
    let next = MemoryOfflineStore(store.model)
    let name = "p\(process)"
    var time = engine.time
    time.wall += 60_000
    engine = CoreDriver { configuration in
      configuration.clientID = name
      configure(&configuration)
    }
    engine.time = time
    engine.core.restore(next.model.state) { next.data(of: $0) }
    store = next
  }

  /// Forgets what happened up to now, once the store has it.
  mutating func forget() {
    persist()
    engine.forget()
    performed = 0
  }

  /// The raised events of kind value: the data, and where they come from.
  var values: [String] {
    engine.outputs.compactMap {
      guard case .raise(_, let event) = $0, event.kind == .value else { return nil }
      return "\(event.node.json(.export).text) \(event.metadata.text)"
    }
  }

  /// The reads that have ended: the data, and where they come from.
  var reads: [String] {
    engine.outputs.compactMap {
      guard case .getCompleted(_, let result) = $0 else { return nil }
      switch result {
      case .value(let node, let metadata):
        return "\(node.json(.export).text) \(metadata.text)"
      case .failure(let status, _): return "\(status)"
      }
    }
  }
}

extension DataMetadata {
  /// The metadata as a word.
  var text: String {
    (isFromCache ? "cached" : "current") + (hasPendingWrites ? " pending" : "")
  }
}
