import FaultyStorage
import Foundation
import RealtimeHub
import RealtimeServer
import SQLiteStorage
import TestSupport
import Testing

@Suite("Accounts on a disk that fails")
struct FaultyAccountsTests {
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

  /// The accounts that are found by whoever opens these files.
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

  /// The accounts that are there after the server was killed now.
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
    "What was refused is not there after a kill, and what was acknowledged is",
    arguments: FaultyDisk.Fault.allCases
  )
  func everyOperation(fault: FaultyDisk.Fault) throws {
    var refusals = 0
    for round in 1...24 {
      let directory = try TemporaryDirectory()
      let disk = FaultyDisk(directory: directory.store)
      let store = try SQLiteIdentityStore(directory: directory.store)
      var acknowledged: [Account] = []
      disk.fail(at: round, fault, lasting: false)
      for number in 1...4 {
        let new = account(number, nameLength: 6_000)
        do {
          try store.apply([.save(new)])
          acknowledged.append(new)
        } catch let error as StoreError {
          refusals += 1
          #expect(error.doubt == nil)
        }
        #expect(try accounts(store) == acknowledged)
        #expect(try accountsAfterKill(directory) == acknowledged, "round \(round)")
      }
      try store.close()
      #expect(try accountsAfterKill(directory) == acknowledged)
    }
    #expect(refusals >= 12)
  }

  @Test("Where it cannot be settled the error says so, and nothing is written before it is")
  func doubt() throws {
    let directory = try TemporaryDirectory()
    let disk = FaultyDisk(directory: directory.store)
    let store = try SQLiteIdentityStore(directory: directory.store)
    try store.apply([.save(account(1))])
    disk.fail(DiskFault(.sync, at: 1, times: .max))
    let doubtful = #expect(throws: StoreError.self) { try store.apply([.save(account(2))]) }
    #expect(doubtful?.doubt == .thisBatch)
    // As long as the store is open, it is not there; but the disk has it.
    #expect(try accounts(store) == [account(1)])
    #expect(try accountsAfterKill(directory) == [account(1), account(2)])
    let later = #expect(throws: StoreError.self) { try store.apply([.save(account(3))]) }
    #expect(later?.doubt == .earlierBatch)
    #expect(try accounts(store) == [account(1)])
    disk.repair()
    try store.apply([.save(account(4))])
    #expect(try accounts(store) == [account(1), account(4)])
    #expect(try accountsAfterKill(directory) == [account(1), account(4)])
    try store.close()
    #expect(try accountsAfterKill(directory) == [account(1), account(4)])
  }

  @Test("Goes on with files that are opened anew, after a device has gone and come back")
  func reopening() throws {
    let directory = try TemporaryDirectory()
    let disk = FaultyDisk(directory: directory.store)
    let store = try SQLiteIdentityStore(directory: directory.store)
    try store.apply([.save(account(1))])
    disk.breakOpenFiles()
    #expect(throws: StoreError.self) { try store.apply([.save(account(2))]) }
    // Opened anew, it still has one owner for an address, and sessions end with their account.
    #expect(throws: StoreError.self) {
      var twin = Account(database: "hearth", uid: "twin", created: 1)
      twin.email = account(1).email
      try store.apply([.save(twin)])
    }
    try store.apply([.begin(session("s", of: account(1)), token: [1])])
    try store.apply([.delete(uid: account(1).uid, database: "hearth")])
    #expect(try store.session(ofToken: [1]) == nil)
    try store.close()
    #expect(try accountsAfterKill(directory) == [])
  }

  @Test("A file that is gone is not made anew behind the back of whoever runs the server")
  func missing() throws {
    let directory = try TemporaryDirectory()
    let disk = FaultyDisk(directory: directory.store)
    let store = try SQLiteIdentityStore(directory: directory.store)
    try store.apply([.save(account(1))])
    let file = directory.store + "/accounts.sqlite"
    #expect(rename(file, file + ".away") == 0)
    disk.fail(DiskFault(.sync, at: 1, times: 1))
    #expect(throws: StoreError.self) { try store.apply([.save(account(2))]) }
    #expect(throws: StoreError.self) { try store.apply([.save(account(3))]) }
    #expect(!FileManager.default.fileExists(atPath: file))
    #expect(rename(file + ".away", file) == 0)
    try store.apply([.save(account(4))])
    #expect(try accounts(store) == [account(1), account(4)])
    try store.close()
  }

  @Test(
    "What was acknowledged is there after the power has gone, also when the log could not be copied",
    arguments: 1...12 as ClosedRange<UInt64>
  )
  func powerLoss(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let directory = try TemporaryDirectory()
    let disk = FaultyDisk(directory: directory.store)
    disk.expectPowerLoss()
    let store = try SQLiteIdentityStore(directory: directory.store)
    var acknowledged: [Account] = []
    var failures = 0
    for number in 1...12 {
      if Int.random(in: 0..<3, using: &random) > 0 {
        let kind: DiskFault.Kind = Bool.random(using: &random) ? .sync : .write
        disk.fail(DiskFault(kind, at: Int.random(in: 1...3, using: &random), times: 1))
      }
      let new = account(number)
      var changes = [IdentityChange.save(new)]
      // One in four fills so many pages that the log is copied into the file after it.
      if Int.random(in: 0..<4, using: &random) == 0 {
        let claims = String(repeating: "long ", count: 1_000_000)
        let session = session("s\(number)", of: new, claims: claims)
        changes.append(.begin(session, token: [UInt8(number)]))
      }
      do {
        try store.apply(changes)
        acknowledged.append(new)
      } catch let error as StoreError {
        failures += 1
        #expect(error.doubt == nil)
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
