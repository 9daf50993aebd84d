import DurableFiles
import Foundation
import GRDB

/// What a file is to whoever reads it, which decides what can be done about damage.
enum FileRole {
  case data
  /// The same, in the report of "hearth fsck".
  case checkedData
  /// A file that somebody has named, such as a backup.
  case copy
}

extension StoreError {
  /// Translates an error of the database or of the system.
  init(_ error: any Error, at path: String, as role: FileRole = .data) {
    switch error {
    case let error as StoreError: self = error
    case let error as DatabaseError: self.init(error, at: path, as: role)
    case let error as DamagedData: self = .damaged(path, because: error.description, as: role)
    case is RowDecodingError:
      self = .damaged(path, because: "a row has invalid contents", as: role)
    case let error as FileFailure: self.init(systemCode: error.code, error.action)
    default: self.init(.failed, description: "\(path): \(error)")
    }
  }

  private init(_ error: DatabaseError, at path: String, as role: FileRole) {
    let detail = error.message ?? "code \(error.extendedResultCode.rawValue)"
    switch error.resultCode {
    case .SQLITE_FULL:
      self.init(.full, description: "\(path): the disk is full; free some space and try again")
    case .SQLITE_IOERR:
      // SQLite also reports this when a companion file cannot grow while the database is opened.
      let (fault, advice) =
        Self.isFull(at: path)
        ? ("is full", "free some space, then") : ("failed", "once it works,")
      self.init(
        .failed,
        description:
          "\(path): the disk \(fault) (\(detail)); no acknowledged write is lost;"
          + " \(advice) start the server again"
      )
    case .SQLITE_BUSY:
      self.init(.busy, description: "\(path) is in use by another process: \(detail)")
    case .SQLITE_NOTADB, .SQLITE_CORRUPT: self = .damaged(path, because: detail, as: role)
    case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM:
      self.init(.notWritable, description: "\(path) cannot be opened or written: \(detail)")
    default: self.init(.failed, description: "\(path): \(detail)")
    }
  }

  /// Whether the disk of a file has no space left for even a few pages.
  private static func isFull(at path: String) -> Bool {
    var information = statvfs()
    return statvfs(path, &information) == 0
      && information.f_bavail * information.f_frsize < 65_536
  }

  /// Describes a failed system call.
  init(systemCode code: Int32, _ action: String) {
    let reason = String(cString: strerror(code))
    let kind: Kind =
      switch code {
      case ENOSPC, EDQUOT, EFBIG: .full
      case EACCES, EPERM, EROFS, ENOTDIR, ENOENT, EISDIR, ENAMETOOLONG, ELOOP: .notWritable
      default: .failed
      }
    self.init(kind, description: "\(action): \(reason)")
  }

  /// Describes a file that is damaged, or is not a file of this program.
  static func damaged(
    _ path: String,
    because detail: String,
    as role: FileRole = .data
  ) -> StoreError {
    let name = FilePath.name(of: path)
    let check = role == .data ? " \"hearth fsck\" lists what is damaged;" : ""
    let advice =
      ". The file is unchanged;\(check) restore a backup (\"hearth restore\"), or move the file"
      + " and its companions (\(name)-*) away to start empty"
    return StoreError(
      .damaged,
      description: "\(path): \(detail)\(role == .copy ? "" : advice)"
    )
  }

  /// Runs a closure that uses the database, and translates its errors.
  static func translating<Result>(
    at path: String,
    as role: FileRole = .data,
    _ body: () throws -> Result
  ) throws(StoreError) -> Result {
    do {
      return try body()
    } catch {
      throw StoreError(error, at: path, as: role)
    }
  }
}
