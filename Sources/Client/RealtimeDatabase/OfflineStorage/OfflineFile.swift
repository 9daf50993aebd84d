#if OfflineStorage
import DurableFiles
import Foundation
import GRDB
import RealtimeCore

package struct OfflineFile: Sendable {
  package let path: String
  private static let nameBytes = 80

  /// Names the file, in the directory of all stores, of the database with an identity.
  package init(directory: String?, identity: String) {
    let directory = directory ?? "\(FilePath.stateDirectory())/realtime-database"
    let readable = identity.utf8.map {
      $0.isAlphanumeric || $0 == UInt8(ascii: "_") ? $0 : UInt8(ascii: "-")
    }
    let hex = SHA1.name(of: identity, byteCount: 4)
    let name = String(decoding: readable.suffix(Self.nameBytes), as: UTF8.self)
    path = "\(directory)/\(name)-\(hex).sqlite"
  }

  /// Creates the directory and the file if they are missing, durably and for the owner only.
  func create() throws(OfflineStoreError) {
    do {
      try PrivateDirectory.create(FilePath.directory(of: path))
      try PrivateFile.create(path, followsLink: true)
    } catch {
      throw OfflineStoreError(error, at: path)
    }
  }

  /// Removes the file, which no database may have open, and its companions.
  package func remove() {
    for companion in ["-wal", "-shm", "", ".lock"] { unlink(path + companion) }
  }

  /// The size of the write-ahead log, in bytes.
  var logBytes: Int {
    // It is beside the file itself, even if the path is a link.
    let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    var status = stat()
    return stat(file + "-wal", &status) == 0 ? Int(status.st_size) : 0
  }

  /// Renames the file and its companions; they can still be examined, but are no longer used.
  func setAside(because damage: OfflineStoreError) throws(OfflineStoreError) -> OfflineStoreError {
    var number = 1
    while access("\(path).damaged-\(number)", F_OK) == 0 { number += 1 }
    let target = "\(path).damaged-\(number)"
    guard rename(path, target) == 0 else {
      throw OfflineStoreError(systemCode: errno, "cannot move the damaged file \(path) aside")
    }
    for companion in ["-wal", "-shm"] { _ = rename(path + companion, target + companion) }
    return OfflineStoreError(.damaged, description: "\(damage); it has been renamed to \(target)")
  }
}

/// The exclusive use of a file, held until the value is released or the process ends.
final class OfflineFileLock: Sendable {
  private let descriptor: Int32

  /// Locks a file, or throws if another process or database has locked it.
  init(_ file: OfflineFile) throws(OfflineStoreError) {
    let path = file.path + ".lock"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw OfflineStoreError(systemCode: errno, "cannot open \(path)") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      guard code == EWOULDBLOCK else {
        throw OfflineStoreError(systemCode: code, "cannot lock \(path)")
      }
      throw OfflineStoreError(
        .inUse,
        description:
          "\(file.path) is in use by another program or database; nothing is kept on disk by this one"
      )
    }
  }

  deinit {
    // A child process that has not run its program yet has a copy of the descriptor, which would
    // keep the lock.
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}

extension OfflineStoreError {
  /// Makes an error from a failed system call.
  init(systemCode code: Int32, _ action: String) {
    self.init(.unavailable, description: "\(action): \(String(cString: strerror(code)))")
  }

  /// Makes an error from one that SQLite or the system reported.
  init(_ error: any Error, at path: String) {
    switch error {
    case let error as OfflineStoreError: self = error
    case is RowDecodingError: self.init(.damaged, description: "\(path): a value of another type")
    case let error as FileFailure: self.init(systemCode: error.code, error.action)
    case let error as GRDB.DatabaseError:
      // A header may forbid changes to a file that could be changed.
      let isDamage =
        [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
        || error.extendedResultCode == .SQLITE_READONLY && access(path, W_OK) == 0
      let detail = error.message ?? "code \(error.extendedResultCode.rawValue)"
      self.init(isDamage ? .damaged : .unavailable, description: "\(path): \(detail)")
    default: self.init(.unavailable, description: "\(path): \(error)")
    }
  }
}
#endif
