import BlogModel
import Foundation
import NIOConcurrencyHelpers
import RealtimeTree

/// Keeps unfinished stars in a file of this process, and takes over those of processes that ended.
///
/// Each running program holds a lock on its own file. A file that can be locked belongs to no one
/// any more; what it lists is carried out again, which is harmless, as the intents may be repeated.
final class FileStarJournal: StarJournal {
  /// What programs that ended left unfinished.
  let unfinished: [StarIntent]
  private let descriptor: Int32
  private let path: String
  private let entries = NIOLockedValueBox((next: 1, pending: [Int: StarIntent]()))

  /// Opens a journal; without a usable directory it remembers nothing beyond the process.
  ///
  /// - Parameters:
  ///   - directory: Where the files of all programs are.
  ///   - uid: Whose stars these are.
  init(directory: String, uid: String) {
    let safeName = Self.fileName(uid)
    try? FileManager.default.createDirectory(
      atPath: directory,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    unfinished = Self.takeOver(directory, prefix: "stars-\(safeName)-")
    path = "\(directory)/stars-\(safeName)-\(getpid())"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor >= 0 { flock(descriptor, LOCK_EX | LOCK_NB) }
  }

  func begin(_ intent: StarIntent) -> Int {
    entries.withLockedValue { entries in
      let number = entries.next
      entries.next += 1
      entries.pending[number] = intent
      store(entries.pending)
      return number
    }
  }

  func end(_ entry: Int) {
    entries.withLockedValue { entries in
      guard entries.pending.removeValue(forKey: entry) != nil else { return }
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

  private static func takeOver(_ directory: String, prefix: String) -> [StarIntent] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    var intents: [StarIntent] = []
    for name in names.sorted() where name.hasPrefix(prefix) {
      let path = "\(directory)/\(name)"
      let descriptor = open(path, O_RDWR | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      defer { Foundation.close(descriptor) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
      let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      for line in text.split(separator: "\n") {
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0] == "+" || parts[0] == "-" else { continue }
        intents.append(StarIntent(post: String(parts[1]), isStarred: parts[0] == "+"))
      }
      unlink(path)
    }
    return intents
  }

  /// A name for a file of any user name.
  private static func fileName(_ uid: String) -> String {
    SHA1.digest(of: Array(uid.utf8)).prefix(8)
      .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
