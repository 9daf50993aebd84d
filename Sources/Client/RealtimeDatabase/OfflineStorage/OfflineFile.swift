import DurableFiles
import Foundation
import RealtimeCore
import RealtimeSync

/// Where the store of one database lies.
package struct OfflineFile: Sendable {
  /// The path of the file.
  package let path: String

  private static let nameBytes = 80

  /// Names the file of a database.
  ///
  /// - Parameters:
  ///   - directory: The directory of all stores.
  ///   - identity: What tells the database from others: its server and its name.
  package init(directory: String, identity: String) {
    let readable = identity.utf8.map { Self.isPlain($0) ? $0 : UInt8(ascii: "-") }
    let digest = SHA1.digest(of: Array(identity.utf8)).prefix(4)
    let hex = digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    let name = String(decoding: readable.suffix(Self.nameBytes), as: UTF8.self)
    path = "\(directory)/\(name)-\(hex).sqlite"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// The place of stores unless another is chosen: `$XDG_STATE_HOME`, or `~/.local/state`.
  ///
  /// - Parameter environment: The environment of the process.
  /// - Returns: The path of a directory that may not be there yet.
  package static func defaultDirectory(_ environment: [String: String]) -> String {
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
      return state + "/realtime-database"
    }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return (home ?? NSHomeDirectory()) + "/.local/state/realtime-database"
  }

  /// Makes the directory and the file where they are missing, durably, and for their owner only.
  func create() throws(OfflineStoreError) {
    do {
      try PrivateDirectory.create((path as NSString).deletingLastPathComponent)
      try PrivateFile.create(path, followsLink: true)
    } catch {
      throw OfflineStoreError(error, at: path)
    }
  }

  /// The size of the write-ahead log, in bytes.
  var logBytes: Int {
    var status = stat()
    return stat(path + "-wal", &status) == 0 ? Int(status.st_size) : 0
  }

  /// Renames the file and its companions, so that they can be looked at and are used no more.
  ///
  /// - Returns: The new name of the file.
  func setAside() throws(OfflineStoreError) -> String {
    var number = 1
    while access("\(path).damaged-\(number)", F_OK) == 0 { number += 1 }
    let target = "\(path).damaged-\(number)"
    guard rename(path, target) == 0 else {
      throw OfflineStoreError(systemCode: errno, "cannot set the damaged file \(path) aside")
    }
    for companion in ["-wal", "-shm"] { _ = rename(path + companion, target + companion) }
    return target
  }
}
