import Dispatch
import HearthLab
import PostgresTestSupport
import RealtimeCore
import TestSupport
import Testing

@testable import PostgresStorage
@testable import RealtimeServer

@Suite("Accounts that several servers share", .needsPostgres, .timeLimit(.minutes(3)))
struct SharedAccountsTests {
  private let first: PostgresIdentityStore
  private let second: PostgresIdentityStore

  private let stores: PostgresTreeStores

  init() throws {
    let address = PostgresAddress(try PostgresServer.shared.get().makeDatabase())
    stores = PostgresTreeStores(at: address)
    _ = try stores.create("hearth")
    first = try PostgresIdentityStore(at: address)
    second = try PostgresIdentityStore(at: address)
  }

  @Test("A server does not undo what another one has changed since it read the account")
  func stale() throws {
    let old = Account(database: "hearth", uid: "u", created: 1_000)
    try first.apply([.save(old)])
    var disabled = old
    disabled.isDisabled = true
    try first.apply([.save(disabled, insteadOf: old)])
    var signedIn = old
    signedIn.lastSignIn = 2_000
    expectError(\StoreError.kind, .superseded) {
      try second.apply([.save(signedIn, insteadOf: old)])
    }
    #expect(try second.account("u", in: "hearth") == disabled)
    try first.apply([.delete(uid: "u", database: "hearth")])
    #expect(throws: StoreError.self) { try second.apply([.save(signedIn, insteadOf: disabled)]) }
    #expect(try second.account("u", in: "hearth") == nil)
  }

  @Test("An address that another server has given away is no failure of the storage")
  func takenAddress() throws {
    var (winner, loser) = (
      Account(database: "hearth", uid: "u", created: 1_000),
      Account(database: "hearth", uid: "v", created: 1_000)
    )
    winner.email = EmailAddress("ada@example.com")
    loser.email = winner.email
    try first.apply([.save(winner)])
    expectError(\StoreError.kind, .superseded) { try second.apply([.save(loser)]) }
  }

  @Test("Two servers that create an account at the same moment do not replace each other's")
  func takenIdentifier() throws {
    var winner = Account(database: "hearth", uid: "u", created: 1_000)
    winner.email = EmailAddress("ada@example.com")
    try first.apply([.save(winner)])
    expectError(\StoreError.kind, .superseded) {
      try second.apply([.save(Account(database: "hearth", uid: "u", created: 2_000))])
    }
    #expect(try second.account("u", in: "hearth") == winner)
  }

  @Test("A server that changes a secret starts from what another one has made of it")
  func changedSecret() throws {
    try first.setSecret(.keys, to: .array([]))
    for (store, number) in [(first, 1), (second, 2)] as [(PostgresIdentityStore, Int64)] {
      try store.changeSecret(.keys) { .array(($0?.elements ?? []) + [.integer(number)]) }
    }
    #expect(try first.secret(.keys)?.text == "[1,2]")
  }

  @Test("Servers that change a secret at the same moment lose no change")
  func secretChangedAtOnce() throws {
    let stores = [first, second]
    DispatchQueue.concurrentPerform(iterations: 2) { index in
      for _ in 1...20 {
        try? stores[index].changeSecret(.keys) { .integer(($0?.integer ?? 0) + 1) }
      }
    }
    #expect(try first.secret(.keys)?.integer == 40)
  }

  @Test("A database that is removed while accounts are created leaves none behind")
  func removedMeanwhile() async throws {
    let writer = Task.detached { [second] in
      for number in 1...1_000 {
        try second.apply([.save(Account(database: "hearth", uid: "\(number)", created: 1_000))])
      }
    }
    try stores.remove("hearth", within: .seconds(30))
    _ = await writer.result
    #expect(try first.accounts(in: "hearth", after: nil, limit: 9).isEmpty)
  }

  @Test("An account is refused once another server has removed or renamed its database")
  func removedDatabase() throws {
    _ = try stores.create("team")
    try stores.remove("hearth", within: .seconds(30))
    try stores.rename("team", to: "crew", within: .seconds(30))
    for database in ["hearth", "team"] {
      expectError(\StoreError.kind, .superseded) {
        try first.apply([.save(Account(database: database, uid: "u", created: 1_000))])
      }
      #expect(try first.account("u", in: database) == nil)
    }
    try first.apply([.save(Account(database: "crew", uid: "u", created: 1_000))])
  }

  @Test("Two servers may sign a user in at the same moment")
  func bothSignIn() throws {
    let old = Account(database: "hearth", uid: "u", created: 1_000)
    try first.apply([.save(old)])
    for (store, time) in [(first, 2_000), (second, 3_000)] as [(PostgresIdentityStore, Int64)] {
      var signedIn = old
      signedIn.lastSignIn = time
      try store.apply([.save(signedIn, insteadOf: old)])
    }
    #expect(try first.account("u", in: "hearth")?.lastSignIn == 3_000)
  }
}
