import BlogModel
import Foundation

/// The files of programs that ended, locked until they are removed or left to another program.
struct LeftJournals {
  /// What they list: of each post the last intent, in the order of the files.
  let intents: [StarIntent]
  private let files: [(path: String, descriptor: Int32)]

  /// Locks and reads the files that no running program holds.
  ///
  /// - Parameters:
  ///   - directory: Where the files are.
  ///   - prefix: What their names begin with.
  init(_ directory: String, prefix: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    var files: [(path: String, descriptor: Int32)] = []
    var intents: [StarIntent] = []
    for name in names.sorted() where name.hasPrefix(prefix) {
      let path = "\(directory)/\(name)"
      let descriptor = open(path, O_RDWR | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        continue
      }
      files.append((path, descriptor))
      let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      for line in text.split(separator: "\n") {
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0] == "+" || parts[0] == "-" else { continue }
        let intent = StarIntent(post: String(parts[1]), isStarred: parts[0] == "+")
        intents.removeAll { $0.post == intent.post }
        intents.append(intent)
      }
    }
    self.files = files
    self.intents = intents
  }

  /// Removes the files, once what they list is kept elsewhere.
  func remove() {
    for file in files { unlink(file.path) }
  }

  /// Gives the files free, for another program where they are not removed.
  func release() {
    for file in files { close(file.descriptor) }
  }
}
