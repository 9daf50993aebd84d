import Foundation
import TestSupport

extension TemporaryDirectory {
  /// The path of a store in this directory, which does not exist initially.
  var store: String { path + "/store" }
  /// The path of that store's database.
  var database: String { store + "/database.sqlite" }

  /// Copies the current files of a store, the mark before the database and that before its
  /// write-ahead log.
  func copyFiles(of other: String) throws {
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    chmod(store, 0o700)
    for name in ["/database.sqlite-mark", "/database.sqlite", "/database.sqlite-wal"] {
      guard let data = FileManager.default.contents(atPath: other + name) else { continue }
      try data.write(to: URL(fileURLWithPath: store + name))
    }
  }

  /// Creates the files of a store from their bytes.
  func write(_ files: [String: [UInt8]]) throws {
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    for (name, bytes) in files {
      try Data(bytes).write(to: URL(fileURLWithPath: store + "/" + name))
    }
  }

  /// The bytes of the database.
  func databaseBytes() throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: database)))
  }

  /// Replaces the bytes of the database.
  func writeDatabase(_ bytes: [UInt8]) throws {
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(fileURLWithPath: database))
  }
}
