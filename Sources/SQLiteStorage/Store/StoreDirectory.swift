import DurableFiles
import Foundation
import RealtimeHub

/// The directory of a store and the names in it.
struct StoreDirectory: Sendable {
  /// The path of the directory.
  let path: String

  /// The path of the database.
  var database: String { path + "/database.sqlite" }

  /// Creates the directory, and those above, for the owner only.
  func create() throws(StoreError) {
    try StoreError.translating(at: path) { try PrivateDirectory.create(path) }
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw StoreError(systemCode: errno, "cannot read \(path)")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw StoreError(systemCode: ENOTDIR, "cannot use \(path)")
    }
  }

  /// Creates the file of the database, durably and for the owner only.
  ///
  /// Its companions take over its permissions.
  ///
  /// - Throws: ``StoreError`` when it cannot be created, or the disk does not work.
  func createFile() throws(StoreError) {
    try StoreError.translating(at: database) {
      try PrivateFile.create(database, followsLink: true)
    }
  }

  /// Whether there is a database.
  var hasDatabase: Bool { access(database, F_OK) == 0 }
}
