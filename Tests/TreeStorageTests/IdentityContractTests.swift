import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeServer

/// Behaviour that all stores of accounts share, whatever they store them in.
@Suite("The account store contract", .timeLimit(.minutes(2)))
struct IdentityContractTests {
  private let directory: TemporaryDirectory
  private let email: EmailAddress

  init() throws {
    directory = try TemporaryDirectory()
    email = try #require(EmailAddress("ada@example.com"))
  }

  private func code(
    _ purpose: OneTimeCode.Purpose = .passwordReset,
    in database: String = "hearth",
    expires: Int64 = 10_000
  ) -> OneTimeCode {
    OneTimeCode(purpose: purpose, database: database, uid: "u", email: email, expires: expires)
  }

  private func account(
    _ uid: String,
    email: String? = nil,
    in database: String = "hearth"
  ) -> Account {
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

  /// Makes the same changes to a store and to a model of it, and compares their content.
  @Test(
    "A store agrees with its model",
    arguments: Storage.allCases,
    Thoroughness.seeds(30)
  )
  func model(storage: Storage, seed: UInt64) throws {
    let store = try storage.identities(in: directory)
    let expected = ModelIdentityStore()
    var random = SplitMix64(seed: seed)
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
        let old = expected.account(uid, in: database)
        change = .save(account(uid, email: email, in: database), insteadOf: old)
      case 3: change = .delete(uid: uid, database: database)
      case 4: change = random.below(5) == 0 ? .clear(database: database) : .tidy(at: Int64(step))
      case 5...7:
        lastSession += 1
        tokens.append(token)
        change = .begin(session("s\(lastSession)", of: uid), token: token)
      case 8...9:
        guard let old = tokens.randomElement(using: &random),
          expected.session(ofToken: old)?.replaced == nil
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
      expected.apply([change])
      for name in ["hearth", "other"] {
        let all = expected.accounts(in: name, after: nil, limit: 99)
        #expect(try store.accounts(in: name, after: nil, limit: 99) == all)
        #expect(
          try store.accounts(in: name, after: "b", limit: 1)
            == expected.accounts(in: name, after: "b", limit: 1)
        )
        for email in all.compactMap(\.email) {
          #expect(
            try store.account(of: email, in: name) == expected.account(of: email, in: name)
          )
        }
      }
      for token in tokens.suffix(12) {
        #expect(try store.session(ofToken: token) == expected.session(ofToken: token))
      }
    }
    for token in tokens {
      #expect(try store.session(ofToken: token) == expected.session(ofToken: token))
    }
    #expect(try Set(store.revocations(since: 10)) == Set(expected.revocations(since: 10)))
    try store.close()
  }

  @Test(
    "Two accounts of a database cannot share an address; the whole set of changes is refused",
    arguments: Storage.allCases
  )
  func uniqueEmail(storage: Storage) throws {
    let store = try storage.identities(in: directory)
    try store.apply([.save(account("u1", email: "ada@example.com", in: "hearth"))])
    try store.apply([.save(account("u1", email: "ada@example.com", in: "other"))])
    #expect(throws: StoreError.self) {
      try store.apply([
        .save(account("u2", in: "hearth")),
        .save(account("u3", email: "ada@example.com", in: "hearth")),
      ])
    }
    #expect(try store.account("u2", in: "hearth") == nil)
    // The store continues to work after that.
    try store.apply([.save(account("u4", in: "hearth"))])
    #expect(try store.account("u4", in: "hearth") != nil)
    try store.close()
  }

  @Test(
    "A session keeps only its last tokens, and an account its last sessions",
    arguments: Storage.allCases
  )
  func bounds(storage: Storage) throws {
    let store = try storage.identities(in: directory)
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

  @Test("Everything about an account survives a reopening of the store", arguments: Storage.durable)
  func account(storage: Storage) throws {
    let open = try storage.durableIdentities(in: directory)
    var full = account("u1", email: "ada@example.com")
    full.isEmailVerified = true
    full.displayName = "Ada \u{0301}"
    full.photoURL = "https://example.com/a.png"
    full.password = try PasswordHash(
      of: Password("correct horse"),
      salt: [UInt8](repeating: 7, count: PasswordHash.saltBytes),
      cost: .token
    )
    full.customClaims = [JSONMember("level", .integer(3))]
    full.isDisabled = true
    full.lastSignIn = 2_000
    full.passwordChanged = 3_000
    full.validSince = 4
    full.resetRequested = 5_000
    let first = try open()
    try first.apply([.save(full)])
    try first.close()
    let second = try open()
    #expect(try second.account("u1", in: "hearth") == full)
    #expect(try second.account("u1", in: "other") == nil)
    let email = try #require(EmailAddress("ADA@example.com"))
    #expect(try second.account(of: email, in: "hearth") == full)
    try second.close()
  }

  @Test("Expired entries are removed", arguments: Storage.allCases)
  func tidying(storage: Storage) throws {
    let store = try storage.identities(in: directory)
    let code = code()
    let note = TokenAuthority.Revocation(database: "hearth", uid: "u", validSince: 1)
    try store.apply([
      .addCode(code, hash: [1]), .begin(session("s", of: "u"), token: [2]), .revoke(note),
    ])
    try store.apply([.tidy(at: 9_999)])
    #expect(try store.code([1]) == code)
    #expect(try store.session(ofToken: [2]) != nil)
    #expect(try store.revocations(since: 0) == [note])
    try store.apply([.tidy(at: 10_000)])
    #expect(try store.code([1]) == nil)
    #expect(try store.session(ofToken: [2]) != nil)
    try store.apply([.tidy(at: IdentityKeeping.session + 1_000)])
    #expect(try store.code([1]) == nil)
    #expect(try store.session(ofToken: [2]) == nil)
    #expect(try store.revocations(since: 0) == [])
    try store.close()
  }

  @Test("Using a session keeps it longer", arguments: Storage.allCases)
  func use(storage: Storage) throws {
    let store = try storage.identities(in: directory)
    try store.apply([
      .begin(session("s", of: "u"), token: [1]),
      .replace(token: [1], successor: [2], at: 5_000),
    ])
    try store.apply([.tidy(at: IdentityKeeping.session + 4_999)])
    #expect(try store.session(ofToken: [2]) != nil)
    try store.apply([.tidy(at: IdentityKeeping.session + 5_000)])
    #expect(try store.session(ofToken: [2]) == nil)
    try store.close()
  }

  @Test(
    "Deleting an account deletes its codes",
    arguments: [IdentityChange.delete(uid: "u", database: "hearth"), .clear(database: "hearth")],
    Storage.allCases
  )
  func codes(change: IdentityChange, storage: Storage) throws {
    let store = try storage.identities(in: directory)
    try store.apply([
      .addCode(code(), hash: [1]), .addCode(code(in: "other"), hash: [2]), change,
    ])
    #expect(try store.code([1]) == nil)
    #expect(try store.code([2]) != nil)
    try store.close()
  }

  @Test(
    "A token that is replaced twice by the same one has one successor",
    arguments: Storage.allCases
  )
  func replacedTwice(storage: Storage) throws {
    let store = try storage.identities(in: directory)
    try store.apply([.begin(session("s", of: "u"), token: [1])])
    for time in 5...6 as ClosedRange<Int64> {
      try store.apply([.replace(token: [1], successor: [2], at: time)])
    }
    #expect(try store.session(ofToken: [1])?.replaced == 6)
    #expect(try store.session(ofToken: [2])?.session.id == "s")
    #expect(try store.session(ofToken: [2])?.replaced == nil)
    try store.close()
  }

  @Test("Renaming a database moves its accounts and ends their tokens", arguments: Storage.allCases)
  func renaming(storage: Storage) throws {
    let store = try storage.identities(in: directory)
    let code = code()
    func note(_ uid: String, _ second: Int64) -> TokenAuthority.Revocation {
      TokenAuthority.Revocation(database: "hearth", uid: uid, validSince: second)
    }
    // PostgreSQL can read no JSON with this character.
    let claims = [JSONMember("odd", .string("\u{0}"))]
    var odd = account("t")
    odd.customClaims = claims
    try store.apply([
      .save(odd), .save(account("u", email: "ada@example.com")), .save(account("v")),
      .save(account("w", in: "other")), .begin(session("s", of: "u"), token: [1]),
      .addCode(code, hash: [2]), .revoke(note("t", 9)), .revoke(note("u", 3)),
      .revokeAll(database: "hearth", validSince: 9), .rename(database: "hearth", to: "new"),
    ])
    #expect(try store.accounts(in: "hearth", after: nil, limit: 9).isEmpty)
    let moved = try store.accounts(in: "new", after: nil, limit: 9)
    odd.database = "new"
    #expect(
      moved == [
        odd, account("u", email: "ada@example.com", in: "new"),
        account("v", in: "new"),
      ]
    )
    #expect(try store.account(of: email, in: "new")?.uid == "u")
    #expect(try store.session(ofToken: [1])?.session.database == "new")
    #expect(try store.code([2]) == nil)
    #expect(try store.accounts(in: "other", after: nil, limit: 9).count == 1)
    // The tokens after an earlier revocation in the same second are dated to that second.
    #expect(try Set(store.revocations(since: 0)) == [note("t", 10), note("u", 9), note("v", 9)])
    try store.close()
  }

  @Test("Everything can be moved to another store", arguments: Storage.durable, Storage.durable)
  func moving(from source: Storage, to target: Storage) throws {
    let directories = (try TemporaryDirectory(), try TemporaryDirectory())
    let old = try source.durableIdentities(in: directories.0)()
    let new = try target.durableIdentities(in: directories.1)()
    let code = code(.emailVerification, expires: 9)
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
