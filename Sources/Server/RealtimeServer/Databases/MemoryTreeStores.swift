internal import NIOConcurrencyHelpers
package import RealtimeHub

/// Stores that are there already, and new ones in memory, of which none is kept that is closed empty.
package final class MemoryTreeStores: TreeStores {
  private let stores: NIOLockedValueBox<[String: any TreeStore]>

  /// Makes the stores of a server; without arguments none.
  package init(_ stores: [String: any TreeStore] = [:]) {
    self.stores = NIOLockedValueBox(stores)
  }

  package func names() -> [String] { stores.withLockedValue { $0.keys.sorted() } }

  package func open(_ name: String) -> (any TreeStore)? { stores.withLockedValue { $0[name] } }

  package func create(_ name: String) -> Bool {
    stores.withLockedValue { stores in
      guard stores[name] == nil else { return false }
      stores[name] = MemoryTreeStore { [weak self] in self?.closed(name, $0) }
      return true
    }
  }

  private func closed(_ name: String, _ store: MemoryTreeStore) {
    guard store.isBlank else { return }
    stores.withLockedValue { stores in
      if (stores[name] as? MemoryTreeStore) === store { stores[name] = nil }
    }
  }
}
