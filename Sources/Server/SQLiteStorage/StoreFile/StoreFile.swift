import Foundation
import GRDB
import RealtimeCore
package import RealtimeHub

/// The file of a store that is only read: at rest, or while a server uses it.
package struct StoreFile: Sendable {
  /// The path of the file.
  package let path: String

  /// Finds the file of a store.
  ///
  /// - Parameter path: The file, or the directory of a store.
  /// - Throws: ``StoreError`` when there is none.
  package init(at path: String) throws(StoreError) {
    var status = stat()
    let isDirectory = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    self.path = isDirectory ? StoreDirectory(path: path).database : path
    guard access(self.path, F_OK) == 0 else {
      if let fault = try AcknowledgedCommits(ofStoreAt: self.path).absence {
        throw StoreError.loss(self.path, fault)
      }
      throw StoreError(.failed, "there is no database at \(self.path)")
    }
  }

  /// Whether a directory has a store.
  package static func exists(in directory: String) -> Bool {
    StoreDirectory(path: directory).hasDatabase
  }

  /// Reads the file in one transaction, unless something is missing in it that was acknowledged.
  ///
  /// - Returns: What the body returns, or nil when the file is empty, as before the first start.
  /// - Throws: ``StoreError`` when something is missing; what ``read(_:)`` throws.
  func readWhole<Result>(_ body: (Database) throws -> Result) throws -> Result? {
    let acknowledged = try AcknowledgedCommits(ofStoreAt: path)
    let result = try read { database in
      if let fault = try acknowledged.fault(in: database) { throw StoreError.loss(path, fault) }
      return try body(database)
    }
    if result == nil, let fault = acknowledged.absence { throw StoreError.loss(path, fault) }
    return result
  }

  /// Reads the file in one transaction.
  ///
  /// - Returns: What the body returns, or nil when the file is empty, as before the first start.
  /// - Throws: What the body throws, and the failures of the database as ``StoreError``.
  func read<Result>(_ body: (Database) throws -> Result) throws -> Result? {
    do {
      let reader = try StoreSchema.openReader(path: path)
      defer { try? reader.close() }
      return try reader.read { database in
        switch try StoreSchema.identify(database, path: path) {
        case .nothing: nil
        case .store: try body(database)
        }
      }
    } catch let error as DatabaseError {
      throw StoreError(error, at: path)
    }
  }
}
