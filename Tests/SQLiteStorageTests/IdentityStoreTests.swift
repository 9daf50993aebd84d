import Foundation
import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

/// Behaviour common to all stores of accounts is tested by `IdentityContractTests`.
@Suite("SQLiteIdentityStore", .timeLimit(.minutes(1)))
struct IdentityStoreTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("identities")
  }

  @Test(
    "Anything readable by others is refused and left unchanged",
    arguments: ["", "/accounts.sqlite", "/keys.json"],
    [0o040, 0o004] as [mode_t]
  )
  func readableByOthers(name: String, bits: mode_t) throws {
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

  @Test("A secret that cannot be read is not called damaged")
  func unreadableSecret() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("identities")
    let store = try SQLiteIdentityStore(directory: path)
    #expect(mkdir("\(path)/keys.json", 0o700) == 0)
    expectError(\StoreError.kind, .notWritable, saying: "Is a directory") {
      try store.secret(.keys)
    }
    try store.close()
  }

  @Test("A secret is replaced atomically, and a symbolic link in its place is not followed")
  func secrets() throws {
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

  @Test("Only one process can open the accounts, and other kinds of files are refused")
  func opening() throws {
    let store = try SQLiteIdentityStore(directory: path)
    #expect(throws: StoreError.self) { try SQLiteIdentityStore(directory: path) }
    try store.close()
    let other = directory.file("other")
    let tree = try SQLiteTreeStore(directory: other, now: 0)
    try tree.close()
    #expect(rename("\(other)/database.sqlite", "\(other)/accounts.sqlite") == 0)
    #expect(throws: StoreError.self) { try SQLiteIdentityStore(directory: other) }
  }
}
