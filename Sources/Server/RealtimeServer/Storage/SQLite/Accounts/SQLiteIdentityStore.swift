import DurableFiles
import Foundation
import GRDB
package import RealtimeCore

/// The accounts of a server in a directory that only its owner may enter.
///
///     DIRECTORY/accounts.sqlite            accounts, sessions, codes
///     DIRECTORY/accounts.sqlite-mark       how much of that has been acknowledged
///     DIRECTORY/keys.json                  what tokens are signed with
///     DIRECTORY/custom-token-key.json      what programs of administrators sign with
///
/// Exports and backups of databases contain none of this, so a backup gives no one access.
package final class SQLiteIdentityStore: MovableIdentityStore, @unchecked Sendable {
  // Safety: the writer, the mark and the count are used from one thread at a time, like every
  // `IdentityStore`. All others are Sendable.

  private let directory: String
  private let path: String
  private let writer: DurableWriter
  private let lock: DirectoryLock
  /// Records what has been acknowledged; nil if it cannot be used, so that a loss would go
  /// undetected.
  private let mark: HighWaterMark?
  private var changeCount: Int64

  /// Opens the accounts of a directory, which is created if it is missing.
  ///
  /// - Throws: `StoreError` when it cannot be used, another process uses it, other users may enter
  ///   it, or acknowledged changes are missing from it.
  package init(directory: String) throws(StoreError) {
    self.directory = directory
    path = directory + "/accounts.sqlite"
    let storeDirectory = StoreDirectory(path: directory)
    try storeDirectory.create()
    try SecretFiles.checkPrivate(directory)
    lock = try DirectoryLock(directory: directory, patience: .milliseconds(500))
    (writer, changeCount) = try StoreError.translating(at: path) { [path] in
      try IdentitySchema.checkForLoss(path)
      try SecretFiles.create(path)
      let writer = try DurableWriter(path: path, checkpointPages: 1_000) {
        try IdentitySchema.open(path)
      }
      return (writer, try writer.queue.read(IdentitySchema.changeCount))
    }
    mark = try? HighWaterMark(path: CompanionFile.mark(of: path))
    moveMark()
  }

  private func moveMark() {
    try? mark?.move(to: HighWaterMark.Position(others: changeCount))
  }

  /// Whether a directory has accounts.
  package static func exists(in directory: String) throws(StoreError) -> Bool {
    let path = directory + "/accounts.sqlite"
    return try StoreError.translating(at: path) { try FilePath.exists(path) }
  }

  // MARK: Reading

  package func read<Value>(
    _ body: (IdentityReader) throws -> Value
  ) throws(StoreError) -> Value {
    try StoreError.translating(at: path) {
      try writer.queue.read { try body(IdentityReader($0)) }
    }
  }

  // MARK: Writing

  private func write(_ body: (IdentityWriter<any Error>) throws -> Void) throws {
    try StoreError.translating(at: path) {
      try writer.write { connection in
        try body(IdentityWriter(connection))
        try connection.cachedStatement(sql: "UPDATE changes SET number = number + 1").execute()
      }
    }
    changeCount += 1
    moveMark()
  }

  package func apply(_ changes: [IdentityChange]) throws {
    try write { writer in
      for change in changes { try writer.apply(change) }
    }
  }

  package func restore(_ contents: IdentityContents) throws {
    guard try self.contents() == IdentityContents() else {
      throw StoreError(.failed, description: "\(directory): it already has accounts or keys")
    }
    try write { try $0.add(contents) }
    for (file, json) in contents.secrets { try setSecret(file, to: json) }
  }

  // MARK: Secrets

  package func secret(_ file: SecretFile) throws -> JSONValue? {
    try SecretFiles.read("\(directory)/\(file.rawValue)")
  }

  package func setSecret(_ file: SecretFile, to json: JSONValue) throws {
    try SecretFiles.replace("\(directory)/\(file.rawValue)", with: json)
  }

  package func close() throws {
    try StoreError.translating(at: path) { try writer.close() }
    try? mark?.synchronize()
    lock.release()
  }
}
