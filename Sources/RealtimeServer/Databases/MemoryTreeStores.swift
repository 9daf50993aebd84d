internal import NIOConcurrencyHelpers
package import RealtimeHub

/// Stores that are there already, and new ones in memory.
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
      stores[name] = MemoryTreeStore()
      return true
    }
  }
}
