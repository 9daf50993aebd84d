package import RealtimeHub
import RealtimeServer
package import SQLiteStorage

// The storage does not know the server, nor the server the storage; here they meet.
extension SQLiteTreeStores: TreeStores {
  package func open(_ name: String) throws -> (any TreeStore)? {
    let store: SQLiteTreeStore? = try open(name)
    return store
  }
}
