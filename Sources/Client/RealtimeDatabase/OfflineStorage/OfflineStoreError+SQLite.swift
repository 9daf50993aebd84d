import DurableFiles
import Foundation
import GRDB
import RealtimeSync

extension OfflineStoreError {
  /// Makes an error of the last failed system call.
  init(systemCode code: Int32, _ action: String) {
    self.init(.unavailable, "\(action): \(String(cString: strerror(code)))")
  }

  /// Makes an error of one that the database or the system reports.
  init(_ error: any Error, at path: String) {
    switch error {
    case let error as OfflineStoreError: self = error
    case let error as FileFailure: self.init(systemCode: error.code, error.action)
    case let error as GRDB.DatabaseError:
      let isDamage = [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
      let detail = error.message ?? "code \(error.extendedResultCode.rawValue)"
      self.init(isDamage ? .damaged : .unavailable, "\(path): \(detail)")
    default: self.init(.unavailable, "\(path): \(error)")
    }
  }
}
