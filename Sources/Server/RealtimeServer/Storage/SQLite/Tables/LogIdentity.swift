import Foundation
import GRDB
import GRDBSQLite

/// Binds a write-ahead log to the file that it belongs to.
///
/// SQLite copies any log beside a file into it. After a backup has been copied by hand over a file,
/// the log of the previous one would be mixed into the backup. So a log begins with a transaction
/// that writes two names into the file: a new one, and the one before it, which the file has at that
/// time. A log belongs to a file with the first old name, or with any new name that is in the log:
/// then a part of the log has been copied. Earlier versions of the program leave the table alone.
struct LogIdentity: Equatable {
  private static let table = "log_identity"
  /// What the row begins with, so that it is found in a page.
  private static let sign = Array("Hearth log name:".utf8)
  private static let nameBytes = 8

  /// The name of the file as soon as this has been copied into it.
  let name: [UInt8]
  /// The name of the file before that; zeros if it had none.
  let previous: [UInt8]

  /// Makes a new name.
  init(after previous: LogIdentity?) {
    name = (0..<Self.nameBytes).map { _ in UInt8.random(in: 0...255) }
    self.previous = previous?.name ?? [UInt8](repeating: 0, count: Self.nameBytes)
  }

  /// Decodes the bytes of the row, or returns nil when they are not such a row.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.sign.count + 2 * Self.nameBytes, bytes.starts(with: Self.sign) else {
      return nil
    }
    name = Array(bytes[Self.sign.count...].prefix(Self.nameBytes))
    previous = Array(bytes.suffix(Self.nameBytes))
  }

  /// Reads the identity that a connection sees; nil if the file has none.
  init?(_ database: Database) throws {
    guard try database.tableExists(Self.table),
      let data = try Data.fetchOne(database, sql: "SELECT identity FROM \(Self.table)"),
      let identity = LogIdentity([UInt8](data))
    else { return nil }
    self = identity
  }

  /// Writes the identity, within a transaction.
  func save(_ database: Database) throws {
    try database.execute(
      sql:
        "CREATE TABLE IF NOT EXISTS \(Self.table) (id INTEGER PRIMARY KEY, identity BLOB NOT NULL)"
    )
    try database.execute(
      sql: "INSERT OR REPLACE INTO \(Self.table) VALUES (1, ?)",
      arguments: [Data(Self.sign + name + previous)]
    )
  }

  /// Gives a copy a name of its own, so that no log of the original belongs to it.
  static func renew(_ copy: String) throws {
    let queue = try DatabaseQueue(path: copy)
    try queue.write { database in
      guard try database.tableExists(table) else { return }
      try LogIdentity(after: nil).save(database)
    }
    try queue.close()
  }

  /// What a file says without its log.
  enum InFile: Equatable {
    /// The name of the file; nil if it has none.
    case name([UInt8]?)
    /// The file cannot be read without its log.
    case unknown
  }

  /// Reads a file as if there were no log beside it.
  static func ofFile(_ path: String) -> InFile {
    var allowed = CharacterSet.urlPathAllowed
    allowed.remove(charactersIn: "?#%")
    guard let name = path.addingPercentEncoding(withAllowedCharacters: allowed) else {
      return .unknown
    }
    var connection: OpaquePointer?
    var statement: OpaquePointer?
    defer {
      sqlite3_finalize(statement)
      sqlite3_close(connection)
    }
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
    guard sqlite3_open_v2("file:\(name)?immutable=1", &connection, flags, nil) == SQLITE_OK else {
      return .unknown
    }
    let count = "SELECT count(*) FROM sqlite_master WHERE name = '\(table)'"
    guard sqlite3_prepare_v2(connection, count, -1, &statement, nil) == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW
    else { return .unknown }
    if sqlite3_column_int(statement, 0) == 0 { return .name(nil) }
    sqlite3_finalize(statement)
    statement = nil
    let select = "SELECT identity FROM \(table)"
    guard sqlite3_prepare_v2(connection, select, -1, &statement, nil) == SQLITE_OK else {
      return .unknown
    }
    switch sqlite3_step(statement) {
    case SQLITE_ROW:
      // Safety: SQLite keeps the bytes of the column until the statement is finalized.
      let blob = sqlite3_column_blob(statement, 0)
      let bytes = UnsafeRawBufferPointer(
        start: blob,
        count: blob == nil ? 0 : Int(sqlite3_column_bytes(statement, 0))
      )
      return LogIdentity(Array(bytes)).map { .name($0.name) } ?? .unknown
    case SQLITE_DONE: return .name(nil)
    default: return .unknown
    }
  }

  /// How often a file and a log that a server may be changing are compared.
  private static let attempts = 5

  /// Why the log beside a file must not be copied into it; nil if it belongs to the file.
  ///
  /// A log that does not say what it belongs to, which an earlier version of the program or an
  /// interrupted start leaves, belongs to the file if both together are intact. The result follows
  /// the name of the file.
  ///
  /// - Throws: ``StoreError`` when the log cannot be read.
  /// - Complexity: O(log), but O(size) for a log that does not say what it belongs to.
  static func fault(ofLogBeside path: String) throws -> String? {
    let fault =
      "its write-ahead log belongs to another file, for example because a backup was copied over it"
    for attempt in 1... {
      guard let names = try WriteAheadLog(of: path)?.identities() else { return nil }
      guard let first = names.first else {
        let reader = try? StoreSchema.openReader(path: path)
        defer { try? reader?.close() }
        let answer = try? reader?.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        return answer == "ok" ? nil : "\(fault), or is damaged"
      }
      guard case .name(let found) = ofFile(path) else { return nil }
      let name = found ?? [UInt8](repeating: 0, count: nameBytes)
      if name == first.previous || names.contains(where: { $0.name == name }) { return nil }
      // A server may have begun another log meanwhile.
      if attempt == attempts { return fault }
    }
    return nil
  }
}
