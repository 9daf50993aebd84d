import DurableFiles
import Foundation
import GRDB
package import RealtimeHub

extension SQLiteTreeStores {
  /// What was missing in a store that goes on without it.
  package struct AcceptedLoss: Sendable {
    /// What was missing, as a sentence.
    package let fault: String
    /// The directory with copies of the files as they were.
    package let copies: String
  }

  /// Goes on with what is left of a database that lacks something which was acknowledged.
  ///
  /// Its files are copied first, into a directory of their own, and those copies are on the disk before
  /// anything is changed. Nothing is repaired: what SQLite can read of the database is what is left.
  ///
  /// - Parameter name: A name that is valid.
  /// - Returns: What was missing; nil when nothing was, and nothing has been done.
  /// - Throws: ``StoreError`` when a server has the database, or its files cannot be used.
  package func acceptLoss(of name: String) throws(StoreError) -> AcceptedLoss? {
    let place = StoreDirectory(path: directory(of: name))
    guard place.hasDatabase else { return nil }
    let lock = try DirectoryLock(directory: place.path)
    defer { lock.release() }
    let file = place.database
    let acknowledged = try AcknowledgedCommits(ofStoreAt: file)
    return try StoreError.translating(at: file) {
      guard let fault = try acknowledged.fault() else { return nil }
      let copies = try place.copyAside()
      let log = WriteAheadLog.path(of: file)
      if acknowledged.hasFile {
        let queue = try StoreSchema.openWriter(path: file, synchronous: "FULL", expecting: 2)
        // What lies behind the damage goes with it, and would be missed at every start.
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try queue.close()
      } else {
        unlink(log)
      }
      unlink(StoreMark.path(beside: file))
      try DirectoryNames.synchronize(place.path)
      return AcceptedLoss(fault: fault, copies: copies)
    }
  }
}
