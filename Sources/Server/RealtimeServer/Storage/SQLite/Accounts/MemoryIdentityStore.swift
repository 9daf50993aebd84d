import GRDB
import NIOConcurrencyHelpers
package import RealtimeCore

/// The accounts of a server in memory, which are lost when it stops; any thread may use them.
package final class MemoryIdentityStore: TableIdentityStore {
  private let queue = Result { try IdentitySchema.openInMemory() }
  private let secrets = NIOLockedValueBox<[SecretFile: JSONValue]>([:])

  package init() {}

  package func read<Value>(
    _ body: (IdentityReader) throws -> Value
  ) throws(StoreError) -> Value {
    try StoreError.translating(at: "memory") {
      try queue.get().read { try body(IdentityReader($0)) }
    }
  }

  package func apply(_ changes: [IdentityChange]) throws {
    try StoreError.translating(at: "memory") {
      try queue.get().write { connection in
        let writer = IdentityWriter(connection)
        for change in changes { try writer.apply(change) }
      }
    }
  }

  package func secret(_ file: SecretFile) -> JSONValue? { secrets.withLockedValue { $0[file] } }

  package func setSecret(_ file: SecretFile, to json: JSONValue) {
    secrets.withLockedValue { $0[file] = json }
  }

  package func close() {}
}
