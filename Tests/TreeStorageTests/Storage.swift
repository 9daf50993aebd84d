import HearthLab
import PostgresStorage
import PostgresTestSupport
import TestSupport

@testable import RealtimeServer

/// Where a database or accounts are stored.
enum Storage: CaseIterable {
  case memory
  case sqlite
  case postgres

  /// The storages that can be tested on this machine.
  static let allCases: [Storage] = [.memory] + durable

  /// The storages whose databases outlive the server and can be maintained by tools.
  ///
  /// PostgreSQL is left out where it is not installed, and a message is printed.
  static let durable: [Storage] = PostgresServer.isInstalled ? [.sqlite, .postgres] : [.sqlite]

  func stores(in directory: TemporaryDirectory) throws -> any TreeStores {
    switch self {
    case .memory: MemoryTreeStores()
    case .sqlite, .postgres: try databases(in: directory)
    }
  }

  func databases(in directory: TemporaryDirectory) throws -> any StoredDatabases {
    guard self == .postgres else {
      return SQLiteTreeStores(directory: directory.file("store")) { 0 }
    }
    let url = try PostgresServer.shared.get().makeDatabase()
    var options = PostgresStoreOptions()
    options.copy = { try SQLiteDatabase.copy($0, to: $1) }
    return PostgresTreeStores(at: PostgresAddress(url), options: options) { 0 }
  }

  /// Makes a store of accounts.
  func identities(in directory: TemporaryDirectory) throws -> any IdentityStore {
    self == .memory ? MemoryIdentityStore() : try durableIdentities(in: directory)()
  }

  /// Makes a place for a store of accounts that outlives the server, and returns a closure that
  /// opens the store.
  func durableIdentities(
    in directory: TemporaryDirectory
  ) throws -> () throws -> any MovableIdentityStore {
    guard self == .postgres else {
      return { try SQLiteIdentityStore(directory: directory.file("identities")) }
    }
    let address = PostgresAddress(try PostgresServer.shared.get().makeDatabase())
    for name in ["hearth", "other", "new"] {
      _ = try PostgresTreeStores(at: address).create(name)
    }
    return { try PostgresIdentityStore(at: address) }
  }
}
