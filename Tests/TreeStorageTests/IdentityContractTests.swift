import LocalPostgres
import PostgresStorage
import PostgresTestSupport
import RealtimeCore
import RealtimeHub
import RealtimeServer
import SQLiteStorage
import TestSupport
import Testing

/// What every store of accounts does as the one in memory does it.
@Suite("The contract of a store of accounts", .timeLimit(.minutes(2)))
struct IdentityContractTests {
  enum Storage: CaseIterable {
    case sqlite
    case postgres

    /// Where PostgreSQL is not installed, it is left out, and that is printed.
    static let allCases: [Storage] = PostgresServer.isInstalled ? [.sqlite, .postgres] : [.sqlite]

    func store(in directory: TemporaryDirectory) throws -> any MovableIdentityStore {
      switch self {
      case .sqlite: try SQLiteIdentityStore(directory: directory.file("identities"))
      case .postgres:
        try PostgresIdentityStore(
          at: PostgresAddress(PostgresServer.shared.get().makeDatabase())
        )
      }
    }
  }

  private func account(_ uid: String, email: String? = nil, in database: String) -> Account {
    var account = Account(database: database, uid: uid, created: 1_000)
    account.email = email.flatMap { EmailAddress($0) }
    return account
  }

  private func session(_ id: String, of uid: String, signedIn: Int64 = 1) -> SignInSession {
    SignInSession(
      id: id,
      database: "hearth",
      uid: uid,
      provider: "password",
      signedIn: signedIn
    )
  }

  /// Does the same to a store and to one in memory, and compares what they know.
  @Test("It knows what the one in memory knows", arguments: Storage.allCases)
  func model(storage: Storage) throws {
    let directory = try TemporaryDirectory()
    let store = try storage.store(in: directory)
    let memory = MemoryIdentityStore()
    var random = SplitMix64(seed: Thoroughness.seed)
    var tokens: [[UInt8]] = []
    var lastSession = 0
    let uids = ["a", "b", "B", "a-b", "~"]
    for step in 0..<150 {
      let uid = uids[random.below(uids.count)]
      let database = random.below(4) == 0 ? "other" : "hearth"
      let token = [UInt8(step), UInt8(random.below(256))]
      let change: IdentityChange
      switch random.below(12) {
      case 0...2:
        let email = random.below(3) == 0 ? nil : "\(step)@example.com"
        change = .save(account(uid, email: email, in: database))
      case 3: change = .delete(uid: uid, database: database)
      case 4: change = random.below(5) == 0 ? .clear(database: database) : .tidy(at: Int64(step))
      case 5...7:
        lastSession += 1
        tokens.append(token)
        change = .begin(session("s\(lastSession)", of: uid), token: token)
      case 8...9:
        guard let old = tokens.randomElement(using: &random),
          memory.session(ofToken: old)?.replaced == nil
        else { continue }
        tokens.append(token)
        change = .replace(token: old, successor: token, at: Int64(step))
      case 10: change = .end(session: "s\(random.below(lastSession + 1))")
      default:
        change = .revoke(
          TokenAuthority.Revocation(database: database, uid: uid, validSince: Int64(step))
        )
      }
      try store.apply([change])
      memory.apply([change])
      for name in ["hearth", "other"] {
        let all = memory.accounts(in: name, after: nil, limit: 99)
        #expect(try store.accounts(in: name, after: nil, limit: 99) == all)
        #expect(
          try store.accounts(in: name, after: "b", limit: 1)
            == memory.accounts(in: name, after: "b", limit: 1)
        )
        for email in all.compactMap(\.email) {
          #expect(
            try store.account(of: email, in: name) == memory.account(of: email, in: name)
          )
        }
      }
      for token in tokens.suffix(12) {
        #expect(try store.session(ofToken: token) == memory.session(ofToken: token))
      }
    }
    for token in tokens {
      #expect(try store.session(ofToken: token) == memory.session(ofToken: token))
    }
    #expect(try Set(store.revocations(since: 10)) == Set(memory.revocations(since: 10)))
    try store.close()
  }

  @Test(
    "Two accounts of a database never have one address, and none of the changes is made",
    arguments: Storage.allCases
  )
  func uniqueEmail(storage: Storage) throws {
    let directory = try TemporaryDirectory()
    let store = try storage.store(in: directory)
    try store.apply([.save(account("u1", email: "ada@example.com", in: "hearth"))])
    try store.apply([.save(account("u1", email: "ada@example.com", in: "other"))])
    #expect(throws: StoreError.self) {
      try store.apply([
        .save(account("u2", in: "hearth")),
        .save(account("u3", email: "ada@example.com", in: "hearth")),
      ])
    }
    #expect(try store.account("u2", in: "hearth") == nil)
    // It goes on after that.
    try store.apply([.save(account("u4", in: "hearth"))])
    #expect(try store.account("u4", in: "hearth") != nil)
    try store.close()
  }

  @Test(
    "A session keeps its last tokens, and an account its last sessions",
    arguments: Storage.allCases
  )
  func bounds(storage: Storage) throws {
    let directory = try TemporaryDirectory()
    let store = try storage.store(in: directory)
    try store.apply([.begin(session("s", of: "u"), token: [0])])
    for step in 1...60 {
      try store.apply([
        .replace(token: [UInt8(step - 1)], successor: [UInt8(step)], at: Int64(step))
      ])
    }
    #expect(try store.session(ofToken: [9]) == nil)
    #expect(try store.session(ofToken: [10])?.replaced == 11)
    #expect(try store.session(ofToken: [60])?.replaced == nil)
    try store.apply(
      (0...100).map {
        .begin(session("t\($0)", of: "v", signedIn: Int64($0)), token: [200, UInt8($0)])
      }
    )
    #expect(try store.session(ofToken: [200, 0]) == nil)
    #expect(try store.session(ofToken: [200, 1]) != nil)
    try store.close()
  }

  @Test("Everything can be moved into another store", arguments: Storage.allCases, Storage.allCases)
  func moving(from source: Storage, to target: Storage) throws {
    let directories = (try TemporaryDirectory(), try TemporaryDirectory())
    let old = try source.store(in: directories.0)
    let new = try target.store(in: directories.1)
    let email = try #require(EmailAddress("ada@example.com"))
    let code = OneTimeCode(
      purpose: .emailVerification,
      database: "hearth",
      uid: "u",
      email: email,
      expires: 9
    )
    try old.apply([
      .save(account("u", email: "ada@example.com", in: "hearth")),
      .begin(session("s", of: "u"), token: [1]),
      .replace(token: [1], successor: [2], at: 5_000), .addCode(code, hash: [7]),
      .revoke(TokenAuthority.Revocation(database: "hearth", uid: "u", validSince: 3)),
    ])
    try old.setSecret(.keys, to: .object(("a", .integer(1))))
    let contents = try old.contents()
    #expect(contents.sessions.map(\.tokens.count) == [2])
    #expect(contents.secrets.count == 1)
    try new.restore(contents)
    #expect(try new.contents() == contents)
    #expect(try new.session(ofToken: [1])?.replaced == 5_000)
    #expect(throws: StoreError.self) { try new.restore(contents) }
    try old.close()
    try new.close()
  }
}
