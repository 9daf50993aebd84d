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
    let components = path.split(separator: "/", omittingEmptySubsequences: true)
    var current = path.hasPrefix("/") ? "" : "."
    for component in components {
      current += "/" + component
      if mkdir(current, 0o700) == 0 || errno == EEXIST { continue }
      throw StoreError(systemCode: errno, "cannot create the directory \(current)")
    }
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw StoreError(systemCode: errno, "cannot read \(path)")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw StoreError(systemCode: ENOTDIR, "cannot use \(path)")
    }
  }

  /// Creates the file of the database for the owner only; its companions take over its permissions.
  func createFile() throws(StoreError) {
    let descriptor = open(database, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StoreError(systemCode: errno, "cannot open \(database)") }
    close(descriptor)
  }

  /// Whether there is a database.
  var hasDatabase: Bool { access(database, F_OK) == 0 }
}
