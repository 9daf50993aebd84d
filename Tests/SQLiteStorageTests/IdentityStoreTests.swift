import Foundation
import RealtimeCore
import RealtimeHub
import RealtimeServer
import SQLiteStorage
import TestSupport
import Testing

@Suite("SQLiteIdentityStore", .timeLimit(.minutes(1)))
struct IdentityStoreTests {
  private func account(
    _ uid: String,
    email: String? = nil,
    in database: String = "hearth"
  ) -> Account {
    var account = Account(database: database, uid: uid, created: 1_000)
    account.email = email.flatMap { EmailAddress($0) }
    return account
  }

  private func session(_ id: String, of uid: String) -> SignInSession {
    SignInSession(id: id, database: "hearth", uid: uid, provider: "password", signedIn: 1)
  }

  @Test("Everything about an account comes back after the store was closed")
  func account() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("identities")
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
    let first = try SQLiteIdentityStore(directory: path)
    try first.apply([.save(full)])
    try first.close()
    let second = try SQLiteIdentityStore(directory: path)
    #expect(try second.account("u1", in: "hearth") == full)
    #expect(try second.account("u1", in: "other") == nil)
    let email = try #require(EmailAddress("ADA@example.com"))
    #expect(try second.account(of: email, in: "hearth") == full)
    try second.close()
  }

  @Test("Two accounts of a database never have one address, and none of the changes is made")
  func uniqueEmail() throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteIdentityStore(directory: directory.file("identities"))
    try store.apply([.save(account("u1", email: "ada@example.com"))])
    try store.apply([.save(account("u1", email: "ada@example.com", in: "other"))])
    #expect(throws: StoreError.self) {
      try store.apply([.save(account("u2")), .save(account("u3", email: "ada@example.com"))])
    }
    #expect(try store.account("u2", in: "hearth") == nil)
    try store.close()
  }

  @Test("The directory and its files are for their owner only")
  func modes() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("identities")
    let store = try SQLiteIdentityStore(directory: path)
    try store.apply([.save(account("u1"))])
    try store.setSecret(.keys, to: .object(("a", .integer(1))))
    func mode(_ path: String) -> mode_t {
      var status = stat()
      return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }
    #expect(mode(path) == 0o700)
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    #expect(names.contains("accounts.sqlite") && names.contains("keys.json"))
    for name in names { #expect(mode("\(path)/\(name)") == 0o600, "\(name)") }
    try store.close()
  }

  @Test(
    "What others can read is refused, and stays as it is",
    arguments: ["", "/accounts.sqlite", "/keys.json"],
    [0o040, 0o004] as [mode_t]
  )
  func readableByOthers(name: String, bits: mode_t) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("identities")
    let store = try SQLiteIdentityStore(directory: path)
    try store.setSecret(.keys, to: .object(("a", .integer(1))))
    try store.close()
    #expect(chmod(path + name, (name.isEmpty ? 0o700 : 0o600) | bits) == 0)
    #expect {
      let store = try SQLiteIdentityStore(directory: path)
      _ = try store.secret(.keys)
    } throws: { error in
      (error as? StoreError)?.description.contains("others") == true
    }
  }

  @Test("A secret is replaced as a whole, and a symbolic link in its place is not followed")
  func secrets() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("identities")
    let store = try SQLiteIdentityStore(directory: path)
    #expect(try store.secret(.customTokenKey) == nil)
    for value in [1, 2] as [Int64] {
      try store.setSecret(.customTokenKey, to: .object(("a", .integer(value))))
      #expect(try store.secret(.customTokenKey)?["a"]?.integer == value)
    }
    try FileManager.default.createSymbolicLink(
      atPath: "\(path)/keys.json",
      withDestinationPath: "\(path)/custom-token-key.json"
    )
    #expect(throws: StoreError.self) { try store.secret(.keys) }
    try store.close()
  }

  @Test("Only one process has the accounts, and only files of this kind are taken")
  func opening() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("identities")
    let store = try SQLiteIdentityStore(directory: path)
    #expect(throws: StoreError.self) { try SQLiteIdentityStore(directory: path) }
    try store.close()
    let other = directory.file("other")
    let tree = try SQLiteTreeStore(directory: other, now: 0)
    try tree.close()
    #expect(rename("\(other)/database.sqlite", "\(other)/accounts.sqlite") == 0)
    #expect(throws: StoreError.self) { try SQLiteIdentityStore(directory: other) }
  }

  /// Does the same to a store on disk and one in memory, and compares what they know.
  @Test("The store on disk and the one in memory agree", arguments: 0..<20 as Range<UInt64>)
  func model(seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    let disk = try SQLiteIdentityStore(directory: directory.file("identities"))
    let memory = MemoryIdentityStore()
    var random = SplitMix64(seed: seed)
    var tokens: [[UInt8]] = []
    var lastSession = 0
    let uids = ["a", "b", "B", "a-b", "~"]
    for step in 0..<120 {
      let uid = uids[random.below(uids.count)]
      let database = random.below(4) == 0 ? "other" : "hearth"
      let token = [UInt8(step), UInt8(random.below(256))]
      let change: IdentityChange
      switch random.below(12) {
      case 0...2: change = .save(account(uid, email: "\(step)@example.com", in: database))
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
      try disk.apply([change])
      memory.apply([change])
      for name in ["hearth", "other"] {
        #expect(
          try disk.accounts(in: name, after: nil, limit: 99)
            == memory.accounts(in: name, after: nil, limit: 99)
        )
        #expect(
          try disk.accounts(in: name, after: "b", limit: 1)
            == memory.accounts(in: name, after: "b", limit: 1)
        )
      }
      for token in tokens {
        #expect(try disk.session(ofToken: token) == memory.session(ofToken: token))
      }
    }
    #expect(try Set(disk.revocations(since: 10)) == Set(memory.revocations(since: 10)))
    try disk.close()
  }

  @Test("A session keeps its last tokens, and an account its last sessions")
  func bounds() throws {
    let directory = try TemporaryDirectory()
    let disk = try SQLiteIdentityStore(directory: directory.file("identities"))
    for store in [disk, MemoryIdentityStore()] as [any IdentityStore] {
      try store.apply([.begin(session("s", of: "u"), token: [0])])
      for step in 1...60 {
        try store.apply([
          .replace(token: [UInt8(step - 1)], successor: [UInt8(step)], at: Int64(step))
        ])
      }
      #expect(try store.session(ofToken: [9]) == nil)
      #expect(try store.session(ofToken: [10])?.replaced == 11)
      #expect(try store.session(ofToken: [60])?.replaced == nil)
      let sessions = (0...100).map { number in
        IdentityChange.begin(
          SignInSession(
            id: "t\(number)",
            database: "hearth",
            uid: "v",
            provider: "password",
            signedIn: Int64(number)
          ),
          token: [200, UInt8(number)]
        )
      }
      try store.apply(sessions)
      #expect(try store.session(ofToken: [200, 0]) == nil)
      #expect(try store.session(ofToken: [200, 1]) != nil)
    }
    try disk.close()
  }

  @Test("What has no use any more is tidied away")
  func tidying() throws {
    let directory = try TemporaryDirectory()
    let disk = try SQLiteIdentityStore(directory: directory.file("identities"))
    let email = try #require(EmailAddress("ada@example.com"))
    for store in [disk, MemoryIdentityStore()] as [any IdentityStore] {
      let code = OneTimeCode(
        purpose: .passwordReset,
        database: "hearth",
        uid: "u",
        email: email,
        expires: 10_000
      )
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
    }
    try disk.close()
  }

  @Test("A session that is used is kept for longer")
  func use() throws {
    let directory = try TemporaryDirectory()
    let disk = try SQLiteIdentityStore(directory: directory.file("identities"))
    for store in [disk, MemoryIdentityStore()] as [any IdentityStore] {
      try store.apply([
        .begin(session("s", of: "u"), token: [1]),
        .replace(token: [1], successor: [2], at: 5_000),
      ])
      try store.apply([.tidy(at: IdentityKeeping.session + 4_999)])
      #expect(try store.session(ofToken: [2]) != nil)
      try store.apply([.tidy(at: IdentityKeeping.session + 5_000)])
      #expect(try store.session(ofToken: [2]) == nil)
    }
    try disk.close()
  }

  @Test(
    "The codes of an account go with it",
    arguments: [IdentityChange.delete(uid: "u", database: "hearth"), .clear(database: "hearth")]
  )
  func codes(change: IdentityChange) throws {
    let directory = try TemporaryDirectory()
    let disk = try SQLiteIdentityStore(directory: directory.file("identities"))
    let email = try #require(EmailAddress("ada@example.com"))
    for store in [disk, MemoryIdentityStore()] as [any IdentityStore] {
      func code(in database: String) -> OneTimeCode {
        OneTimeCode(
          purpose: .passwordReset,
          database: database,
          uid: "u",
          email: email,
          expires: 10_000
        )
      }
      try store.apply([
        .addCode(code(in: "hearth"), hash: [1]), .addCode(code(in: "other"), hash: [2]), change,
      ])
      #expect(try store.code([1]) == nil)
      #expect(try store.code([2]) != nil)
    }
    try disk.close()
  }
}
