import Foundation
import GRDB
import RealtimeHub

/// The source of the security rules as it was last set: one row, or none when it never was.
struct RulesTable {
  private let database: Database
  private let path: String

  init(_ database: Database, path: String) {
    self.database = database
    self.path = path
  }

  /// Replaces the source.
  ///
  /// It is sealed, since a changed character may allow what was forbidden.
  func save(_ source: String) throws {
    var writer = BinaryWriter()
    writer.write(text: source)
    writer.seal()
    try database.cachedStatement(sql: "INSERT OR REPLACE INTO rules (id, source) VALUES (1, ?)")
      .execute(arguments: [Data(writer.bytes)])
  }

  /// The source, or nil when it was never set.
  func load() throws -> String? {
    // A file that is only read has the tables of the version that wrote it.
    guard try database.tableExists("rules"),
      let bytes = try Data.fetchOne(database, sql: "SELECT source FROM rules")
    else { return nil }
    do throws(BinaryReader.Failure) {
      var reader = try BinaryReader(sealed: Array(bytes))
      return try reader.text()
    } catch {
      throw StoreError.damaged(path, "the security rules are damaged: \(error.reason)")
    }
  }
}
