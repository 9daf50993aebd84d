import FaultyStorage
import Foundation
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("Accounts on a failing disk")
struct FaultyAccountsTests {
  private let directory: TemporaryDirectory
  private let disk: FaultyDisk

  init() throws {
    directory = try TemporaryDirectory()
    disk = FaultyDisk(directory: directory.store)
  }

  private func account(_ number: Int, nameLength: Int = 0) -> Account {
    var account = Account(database: "hearth", uid: "u\(100 + number)", created: 1_000)
    account.email = EmailAddress("u\(number)@example.com")
    account.displayName = String(repeating: "long ", count: nameLength / 5)
    return account
  }

  private func session(_ id: String, of account: Account, claims: String? = nil) -> SignInSession {
    SignInSession(
      id: id,
      database: account.database,
      uid: account.uid,
      provider: "password",
      signedIn: 1,
      claims: claims
    )
  }

  private func accounts(_ store: SQLiteIdentityStore) throws -> [Account] {
    try store.accounts(in: "hearth", after: nil, limit: .max)
  }

  /// The accounts found when these files are opened.
  private func accounts(after files: (TemporaryDirectory) throws -> Void) throws -> [Account] {
    let image = try TemporaryDirectory()
    try files(image)
    #expect(chmod(image.store, 0o700) == 0)
    for name in try FileManager.default.contentsOfDirectory(atPath: image.store) {
      #expect(chmod("\(image.store)/\(name)", 0o600) == 0)
    }
    let store = try SQLiteIdentityStore(directory: image.store)
    defer { try? store.close() }
    return try accounts(store)
  }

  /// The accounts that would exist if the server were killed at this point.
  private func accountsAfterKill(_ directory: TemporaryDirectory) throws -> [Account] {
    try accounts { image in
      try FileManager.default.createDirectory(
        atPath: image.store,
        withIntermediateDirectories: true
      )
      for name in ["/accounts.sqlite", "/accounts.sqlite-wal"] {
        guard let data = FileManager.default.contents(atPath: directory.store + name) else {
          continue
        }
        try data.write(to: URL(fileURLWithPath: image.store + name))
      }
    }
  }

  @Test(
    "A kill loses no acknowledged change and revives none refused for lack of space",
    arguments: FaultyDisk.Fault.allCases
  )
  func everyOperation(fault: FaultyDisk.Fault) throws {
    var failures = 0
    let rounds = Thoroughness.third(of: 1...24)
    for round in rounds {
      let directory = try TemporaryDirectory()
      let disk = FaultyDisk(directory: directory.store)
      var store = try SQLiteIdentityStore(directory: directory.store)
      var acknowledged: [Account] = []
      disk.fail(at: round, fault, lasting: false)
      for number in 1...4 {
        let new = account(number, nameLength: 6_000)
        do {
          try store.apply([.save(new)])
          acknowledged.append(new)
          #expect(try accountsAfterKill(directory) == acknowledged, "round \(round)")
        } catch let error as StoreError {
          failures += 1
          #expect(try accounts(store) == acknowledged)
          let left = try accountsAfterKill(directory)
          #expect(left == acknowledged || error.kind != .full && left == acknowledged + [new])
          guard error.kind != .full else { continue }
          try store.close()
          store = try SQLiteIdentityStore(directory: directory.store)
          acknowledged = try accounts(store)
          #expect(acknowledged == left)
        }
        #expect(try accounts(store) == acknowledged)
      }
      try store.close()
      #expect(try accountsAfterKill(directory) == acknowledged)
    }
    #expect(failures >= rounds.count / 2)
  }

  @Test("After a disk failure nothing more is written; a reopened store has whole changes only")
  func finished() throws {
    let store = try SQLiteIdentityStore(directory: directory.store)
    try store.apply([.save(account(1))])
    disk.fail(DiskFault(.sync, at: 1, times: 1))
    let first = expectError(\StoreError.kind, .failed) { try store.apply([.save(account(2))]) }
    // While the store is open, the account does not exist; but the disk may have it.
    #expect(try accounts(store) == [account(1)])
    #expect(try accountsAfterKill(directory) == [account(1), account(2)])
    let operations = disk.operationCount
    let later = #expect(throws: StoreError.self) { try store.apply([.save(account(3))]) }
    #expect(later?.description == first?.description)
    try store.close()
    #expect(disk.operationCount == operations)
    let next = try SQLiteIdentityStore(directory: directory.store)
    #expect(try accounts(next) == [account(1), account(2)])
    try next.apply([.save(account(4))])
    try next.close()
    #expect(try accountsAfterKill(directory) == [account(1), account(2), account(4)])
  }

  @Test(
    "Acknowledged changes survive a power loss, even if the log could not be copied",
    arguments: powerLossSeeds(Thoroughness.third(of: 1...12))
  )
  func powerLoss(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    disk.expectPowerLoss()
    var store = try SQLiteIdentityStore(directory: directory.store)
    var acknowledged: [Account] = []
    var failures = 0
    for number in 1...12 {
      if Int.random(in: 0..<3, using: &random) > 0 {
        let kind: DiskFault.Kind = Bool.random(using: &random) ? .sync : .write
        disk.fail(DiskFault(kind, at: Int.random(in: 1...3, using: &random), times: 1))
      }
      let new = account(number)
      var changes = [IdentityChange.save(new)]
      // One in four fills so many pages that the log is then copied into the file.
      if Int.random(in: 0..<4, using: &random) == 0 {
        let claims = String(repeating: "long ", count: 1_000_000)
        let session = session("s\(number)", of: new, claims: claims)
        changes.append(.begin(session, token: [UInt8(number)]))
      }
      do {
        try store.apply(changes)
        acknowledged.append(new)
      } catch is StoreError {
        failures += 1
        try store.close()
        disk.repair()
        store = try SQLiteIdentityStore(directory: directory.store)
        acknowledged = try accounts(store)
      }
      for chance in [0, 1, 2] {
        let files = disk.filesAfterPowerLoss { Int.random(in: 0..<2, using: &random) < chance }
        let found = try accounts { try $0.write(files) }
        #expect(found.map(\.uid) == acknowledged.map(\.uid), "seed \(seed), \(number), \(chance)")
      }
    }
    #expect(failures > 0)
    disk.repair()
    try store.close()
    #expect(try accountsAfterKill(directory) == acknowledged)
  }
}
