package import BlogModel
import DurableFiles
import Foundation
import NIOConcurrencyHelpers
import RealtimeCore

/// Keeps unfinished stars in a file of this process, and takes over those of processes that ended.
///
/// Each running program holds a lock on its own file. A file that can be locked belongs to no one
/// any more; what it lists is carried out again, which is harmless, as the intents may be repeated.
/// Until that begins it is listed in the file of this process, so that ending this one loses nothing.
package final class FileStarJournal: StarJournal {
  /// The entries of the file.
  private struct Entries {
    var next = 1
    var pending: [Int: StarIntent] = [:]
    /// The numbers of those that were taken over and that nobody has begun again.
    var adopted: [PostID: Int] = [:]

    mutating func add(_ intent: StarIntent) -> Int {
      defer { next += 1 }
      pending[next] = intent
      return next
    }
  }

  /// What programs that ended left unfinished: of each post the last intent, which is all that matters.
  package let unfinished: [StarIntent]
  private let descriptor: Int32
  private let path: String
  private let entries: NIOLockedValueBox<Entries>

  /// Opens a journal; without a usable directory it remembers nothing beyond the process.
  ///
  /// - Parameters:
  ///   - directory: Where the files of all programs are.
  ///   - uid: Whose stars these are.
  ///   - database: The URL of the database where the posts are.
  package init(directory: String, uid: String, database: String) {
    let safeName = Self.fileName("\(uid)\n\(database)")
    try? PrivateDirectory.create(directory)
    let left = LeftJournals(directory, prefix: "stars-\(safeName)-")
    unfinished = left.intents
    (path, descriptor) = Self.open("\(directory)/stars-\(safeName)-\(getpid())")
    var entries = Entries()
    for intent in unfinished { entries.adopted[intent.post] = entries.add(intent) }
    self.entries = NIOLockedValueBox(entries)
    defer { left.release() }
    guard descriptor >= 0 else { return }
    if !unfinished.isEmpty { store(entries.pending) }
    left.remove()
  }

  /// Makes a new file and locks it.
  ///
  /// - Parameter stem: What its path begins with.
  /// - Returns: The path and the descriptor, which is below 0 where no file can be.
  private static func open(_ stem: String) -> (path: String, descriptor: Int32) {
    while true {
      let path = "\(stem)-\(String(UInt32.random(in: 0...UInt32.max), radix: 36))"
      let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if descriptor < 0 {
        if errno == EEXIST { continue }
        return (path, descriptor)
      }
      // Before it was locked another program may have taken it for one that was left; a file system
      // without locks has no such programs.
      var status = stat()
      let isTaken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
      let isGone = fstat(descriptor, &status) == 0 && status.st_nlink == 0
      if !isTaken, !isGone { return (path, descriptor) }
      Foundation.close(descriptor)
    }
  }

  /// Notes an intent; what was taken over for the same post is settled by it.
  package func begin(_ intent: StarIntent) -> Int {
    entries.withLockedValue { entries in
      if let older = entries.adopted.removeValue(forKey: intent.post) {
        entries.pending[older] = nil
      }
      let number = entries.add(intent)
      store(entries.pending)
      return number
    }
  }

  package func end(_ entry: Int) {
    entries.withLockedValue { entries in
      guard entries.pending.removeValue(forKey: entry) != nil else { return }
      store(entries.pending)
    }
  }

  package func settle(_ post: PostID) {
    entries.withLockedValue { entries in
      guard let older = entries.adopted.removeValue(forKey: post) else { return }
      entries.pending[older] = nil
      store(entries.pending)
    }
  }

  /// Removes the file when nothing is unfinished; otherwise it stays for the next program.
  func close() {
    let isDone = entries.withLockedValue { $0.pending.isEmpty }
    if isDone { unlink(path) }
    if descriptor >= 0 { Foundation.close(descriptor) }
  }

  /// Writes all entries in one call: a line each, padded so that a shorter list leaves nothing behind.
  private func store(_ pending: [Int: StarIntent]) {
    guard descriptor >= 0 else { return }
    let lines = pending.sorted { $0.key < $1.key }.map {
      "\($0.value.isStarred ? "+" : "-") \($0.value.post)\n"
    }
    let text = lines.joined()
    let count = text.utf8.count
    _ = text.withCString { pwrite(descriptor, $0, count, 0) }
    ftruncate(descriptor, off_t(count))
    fdatasync(descriptor)
  }

  /// A name for a file of any user and database.
  private static func fileName(_ owner: String) -> String {
    SHA1.digest(of: Array(owner.utf8)).prefix(8)
      .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
