import Dispatch
import HearthLab
import PostgresTestSupport
import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

@testable import PostgresStorage

/// Servers that start at the same moment with an empty PostgreSQL.
@Suite("Concurrent first starts", .needsPostgres, .timeLimit(.minutes(2)))
struct FirstStartTests {
  /// Runs a closure several times concurrently, and returns the results.
  private func atOnce<Value: Sendable>(
    _ count: Int,
    _ body: @escaping @Sendable (Int) throws -> Value
  ) -> [Result<Value, any Error>] {
    let results = Record<Result<Value, any Error>>()
    DispatchQueue.concurrentPerform(iterations: count) { number in
      results.append(Result { try body(number) })
    }
    return results.elements
  }

  @Test("all succeed, and exactly one creates the database", arguments: 1...6)
  func schema(round: Int) throws {
    let address = PostgresAddress(try PostgresServer.shared.get().makeDatabase())
    let results = atOnce(6) { _ in try PostgresTreeStores(at: address).create("hearth") }
    let made = try results.map { try $0.get() }
    #expect(made.count { $0 } == 1)
    #expect(made.count == 6)
  }

  @Test("all receive the secrets that one of them created", arguments: 1...3)
  func secrets(round: Int) throws {
    let address = PostgresAddress(try PostgresServer.shared.get().makeDatabase())
    let results = atOnce(6) { number in
      let store = try PostgresIdentityStore(at: address)
      defer { try? store.close() }
      return try store.addSecret(.keys, holding: .object(("a", .integer(Int64(number)))))
    }
    let known = try results.map { try $0.get() }
    #expect(Set(known.map(\.text)).count == 1)
    #expect(known.count == 6)
  }
}
