import Foundation
import GRDB
package import RealtimeHub

extension StoreFile {
  /// Copies everything that is committed at one moment into another file, and checks the copy.
  ///
  /// The server may go on writing meanwhile. The copy is a store like this one, with the ledger, the
  /// scheduled writes and the rules.
  ///
  /// - Parameter copy: The path of an empty file, which is on the disk when this returns.
  /// - Returns: What is in the copy.
  /// - Throws: `StoreError` when either file cannot be used, or the copy is damaged.
  /// - Complexity: O(size)
  package func back(up copy: String) throws(StoreError) -> StoreCheck {
    let check = try StoreError.translating(at: path) {
      guard try readWhole({ _ in true }) == true else {
        throw StoreError(.failed, "\(path) is empty: no server has used it yet")
      }
      let reader = try StoreSchema.openReader(path: path)
      defer { try? reader.close() }
      try reader.writeWithoutTransaction { database in
        try database.execute(sql: "VACUUM INTO ?", arguments: [copy])
      }
      try Self.sync(copy)
      return try StoreFile(at: copy).check()
    }
    if let fault = check.faults.first {
      throw StoreError(
        .damaged,
        "the copy is no good: \(fault); \"hearth fsck\" lists what is damaged"
      )
    }
    return check
  }

  /// Waits until a file is on the disk; SQLite does not for a copy.
  private static func sync(_ file: String) throws(StoreError) {
    let descriptor = open(file, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreError(systemCode: errno, "cannot open \(file)") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else {
      throw StoreError(systemCode: errno, "cannot write \(file)")
    }
  }
}
