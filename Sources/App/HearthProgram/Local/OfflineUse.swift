import BlogModel
import Foundation
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeDatabase

/// Keeps what one terminal has read and not yet sent, so that it starts and works without a server.
final class OfflineUse: Sendable {
  private let directory: String
  private let slot: OfflineSlot?

  /// Takes a place for this terminal.
  ///
  /// - Parameters:
  ///   - places: Where things are; a database that keeps nothing is not kept here either.
  ///   - uid: Who uses it; writes are sent by the one who made them.
  init(_ places: Places, uid: String) {
    let digest = SHA1.digest(of: Array(uid.utf8)).prefix(8)
    directory = places.state + "/offline/" + Self.hexadecimal(digest)
    slot = places.isEphemeral ? nil : OfflineSlot.claim(in: directory)
  }

  /// How the others know this terminal; its key stays the same for the next program in its place.
  ///
  /// The rules bound how many keys there can be, so it is a letter and a number.
  var terminal: TerminalName {
    let host = Self.hostName
    let name = ttyname(STDIN_FILENO).map { String(cString: $0) } ?? "terminal"
    let text = name.hasPrefix("/dev/") ? String(name.dropFirst(5)) : name
    let place = slot.map { "\(directory)/\($0.number)" } ?? "process \(getpid())"
    let digest = SHA1.digest(of: Array("\(host) \(place)".utf8)).prefix(8)
    let letter = Character(Unicode.Scalar(UInt8(ascii: "a") + digest[0] % 26))
    return TerminalName(key: "\(letter)\(digest[1] % 100)", text: "\(text) on \(host)")
  }

  /// Tells a database, before its first use, where to keep things.
  func prepare(_ options: inout DatabaseOptions) {
    options.persistenceDirectory = slot?.directory
  }

  /// Has a database that was made with those options keep things.
  func enable(_ database: Database) {
    if slot != nil { database.isPersistenceEnabled = true }
  }

  /// Sends what terminals left behind that ended before they could send it.
  ///
  /// - Parameters:
  ///   - url: The database.
  ///   - options: How it connects.
  ///   - author: Who uses it.
  /// - Throws: `DatabaseError` when that is no database.
  func sendLeftovers(url: String, options: DatabaseOptions, as author: Author) throws {
    guard slot != nil else { return }
    for abandoned in OfflineSlot.abandoned(in: directory) {
      var options = options
      options.persistenceDirectory = abandoned.directory
      let database = try Database(url: url, options: options)
      database.callbackQueue = DispatchQueue(label: "hearth.leftovers")
      database.isPersistenceEnabled = true
      Self.send(database, of: abandoned, as: author)
    }
  }

  /// Holds the database and its slot until nothing in it waits any more.
  private static func send(_ database: Database, of slot: OfflineSlot, as author: Author) {
    let isDone = NIOLockedValueBox(false)
    database.observeConnection { status in
      guard status.phase == .connected, status.pendingWrites == 0 else { return }
      let isFirst = isDone.withLockedValue { isDone in
        defer { isDone = true }
        return !isDone
      }
      guard isFirst else { return }
      Task {
        await Blog(database: database, me: author).removeFragments()
        await database.close()
        slot.clear()
      }
    }
    database.goOnline()
  }

  /// The name of this machine, without asking a name server.
  private static var hostName: String {
    var bytes = [UInt8](repeating: 0, count: 256)
    let result = bytes.withUnsafeMutableBytes { buffer in
      buffer.bindMemory(to: CChar.self).baseAddress.map { gethostname($0, buffer.count - 1) }
    }
    guard result == 0 else { return "this machine" }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
