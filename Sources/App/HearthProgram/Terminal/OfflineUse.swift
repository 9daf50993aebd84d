import BlogModel
import DurableFiles
import Foundation
import RealtimeCore
import RealtimeDatabase
import RealtimeTransport

/// Stores what a terminal has read and not yet sent, so that it works without a server.
final class OfflineUse: Sendable {
  private let directory: String
  private let slot: OfflineSlot?
  /// What the database's file is named after, and what earlier versions named it after.
  private let identities: [String]

  /// Claims a slot for this terminal; an ephemeral database is not stored here either.
  ///
  /// Writes are sent only as the user who made them. The address is the URL of the database; nil
  /// for that of the data directory, whose socket depends on the environment.
  ///
  /// - Throws: `DatabaseError` when the URL does not name a database.
  init(_ paths: ProgramPaths, uid: String, address: String?) throws {
    identities =
      if let address {
        [try Database.target(of: address).identity]
      } else {
        [paths.data]
          + paths.formerSockets.map {
            ConnectionTarget(unixSocket: $0, namespace: "hearth").identity
          }
      }
    directory = paths.state + "/offline/" + SHA1.name(of: uid, byteCount: 8)
    slot = paths.isEphemeral ? nil : OfflineSlot.claim(in: directory)
  }

  /// The name under which others see this terminal; the next program in this slot has the same key.
  ///
  /// The rules bound the number of keys, so a key is a letter and a number.
  var terminal: TerminalName {
    let host = Self.hostName
    let name = ttyname(STDIN_FILENO).map { String(cString: $0) } ?? "terminal"
    let text = name.hasPrefix("/dev/") ? String(name.dropFirst(5)) : name
    let device = slot.map { "\(directory)/\($0.number)" } ?? "process \(getpid())"
    let digest = SHA1.digest(of: Array("\(host) \(device)".utf8)).prefix(8)
    let letter = Character(Unicode.Scalar(UInt8(ascii: "a") + digest[0] % 26))
    return TerminalName(key: "\(letter)\(digest[1] % 100)", text: "\(text) on \(host)")
  }

  /// Whether anything is stored: the database is not ephemeral, and few enough terminals run.
  var isKept: Bool { slot != nil }

  /// Sets the persistence directory of a database that has not been opened yet.
  func prepare(_ options: inout DatabaseOptions) {
    options.persistenceDirectory = slot?.directory
    options.persistenceIdentity = identities.first
  }

  /// Turns on persistence for a database that was opened with those options.
  func enable(_ database: Database) {
    if slot != nil { database.isPersistenceEnabled = true }
  }

  /// Sends the writes that terminals left unsent when they ended.
  ///
  /// - Throws: `DatabaseError` when the URL does not name a database.
  func sendLeftovers(url: String, options: DatabaseOptions, as author: Author) throws {
    guard let slot else { return }
    let own = identities.dropFirst().map { (slot, $0) }
    let others = OfflineSlot.abandoned(in: directory).flatMap { slot in
      identities.map { (slot, $0) }
    }
    for (slot, identity) in own + others {
      let file = OfflineFile(directory: slot.directory, identity: identity)
      guard access(file.path, F_OK) == 0 else { continue }
      var options = options
      options.persistenceDirectory = slot.directory
      options.persistenceIdentity = identity
      let database = try Database(url: url, options: options)
      database.callbackQueue = DispatchQueue(label: "hearth.leftovers")
      database.isPersistenceEnabled = true
      Self.send(database, in: file, of: slot, as: author)
    }
  }

  /// Keeps the database and its slot open until all its writes are acknowledged.
  ///
  /// If the file cannot be read now, it stays for the next program.
  private static func send(
    _ database: Database,
    in file: OfflineFile,
    of slot: OfflineSlot,
    as author: Author
  ) {
    let end = Once()
    database.observeConnection { status in
      guard status.phase == .connected, status.pendingWrites == 0, end.isFirst() else { return }
      Task {
        await Blog(database: database, me: author).removeFragments()
        let isKept = (try? await database.waitUntilStored()) != nil
        await database.close()
        withExtendedLifetime(slot) { if isKept { file.remove() } }
      }
    }
    database.goOnline()
  }

  /// The name of this machine, determined without a name server.
  private static var hostName: String {
    var bytes = [UInt8](repeating: 0, count: 256)
    let result = bytes.withUnsafeMutableBytes { buffer in
      buffer.bindMemory(to: CChar.self).baseAddress.map { gethostname($0, buffer.count - 1) }
    }
    guard result == 0 else { return "this machine" }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}

/// A directory reserved for one running program, which a later program can take over.
///
/// Each of a user's terminals stores what it has read and not yet sent in a slot of its own. A slot
/// is held by a lock, which the system releases when the process ends in any way.
final class OfflineSlot: Sendable {
  /// How many programs of one user can have a slot.
  static let limit = 64

  /// The directory of this program's database file.
  let directory: String
  let number: Int
  private let descriptor: Int32

  private init(directory: String, number: Int, descriptor: Int32) {
    self.directory = directory
    self.number = number
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Claims the first free slot; nil if there is none, or no usable directory.
  static func claim(in directory: String) -> OfflineSlot? {
    try? PrivateDirectory.create(directory)
    for number in 0..<limit {
      if let slot = open(number, in: directory) { return slot }
    }
    return nil
  }

  /// Claims the non-empty slots of programs that have ended.
  static func abandoned(in directory: String) -> [OfflineSlot] {
    (0..<limit).compactMap { number in
      let path = "\(directory)/\(number)"
      guard FileManager.default.fileExists(atPath: path) else { return nil }
      return open(number, in: directory)
    }
  }

  private static func open(_ number: Int, in directory: String) -> OfflineSlot? {
    FileDescriptors.lock("\(directory)/\(number).lock").map {
      OfflineSlot(directory: "\(directory)/\(number)", number: number, descriptor: $0)
    }
  }
}
