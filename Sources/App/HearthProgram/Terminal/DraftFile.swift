import BlogModel
import BlogTUI
import DurableFiles
import Foundation
import RealtimeCore

/// Keeps unsent drafts from one run to the next.
///
/// Each terminal has its own file, so that none overwrites another's text. A run takes over the
/// files of terminals that have ended in any way: the locks of those files are free.
final class DraftFile {
  private let directory: String
  private let name: String
  private var lock: Int32 = -1

  /// Names the draft file of one person for this process.
  init(directory: String, uid: String) {
    let digest = SHA1.digest(of: Array(uid.utf8)).prefix(8)
    let person = digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    self.directory = "\(directory)/drafts-\(person)"
    name = "\(getpid())"
  }

  deinit {
    if lock >= 0 { close(lock) }
  }

  private func path(_ name: String) -> String { "\(directory)/\(name).json" }
  private func lockPath(_ name: String) -> String { "\(directory)/\(name).lock" }

  /// Takes over the drafts of runs that have ended.
  func load() -> Unsent {
    try? PrivateDirectory.create(directory)
    lock = Self.lock(lockPath(name)) ?? -1
    let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    var unsent = Unsent()
    var taken: [(name: String, lock: Int32)] = []
    for file in files.sorted() where file.hasSuffix(".json") {
      let other = String(file.dropLast(5))
      // The process id may have been reused: a file of this name is from an earlier process.
      guard other != name else {
        unsent.append(Self.read(path(other)))
        continue
      }
      guard let lock = Self.lock(lockPath(other)) else { continue }
      unsent.append(Self.read(path(other)))
      taken.append((other, lock))
    }
    // The other files may be removed only once their text is safely stored in this one.
    let isKept = save(unsent, isDurable: true)
    for (name, lock) in taken {
      if isKept {
        unlink(path(name))
        unlink(lockPath(name))
      }
      close(lock)
    }
    return unsent
  }

  /// Replaces the whole file, or removes it if there is nothing to keep.
  ///
  /// - Parameters:
  ///   - unsent: The drafts that have not been sent.
  ///   - isDurable: Whether to wait for the disk, so that the drafts survive a power failure. A
  ///     screen in use does not wait.
  /// - Returns: Whether the file contains everything.
  @discardableResult
  func save(_ unsent: Unsent, isDurable: Bool) -> Bool {
    if unsent.isEmpty {
      unlink(path(name))
      return true
    }
    let bytes = Array(Self.json(unsent).text.utf8)
    return (try? PrivateFile.replace(path(name), with: bytes, isDurable: isDurable)) != nil
  }

  /// Closes the file; its lock file is removed if there are no drafts.
  func close() {
    guard lock >= 0 else { return }
    if access(path(name), F_OK) != 0 { unlink(lockPath(name)) }
    Foundation.close(lock)
    lock = -1
  }

  private func close(_ descriptor: Int32) { Foundation.close(descriptor) }

  private static func lock(_ path: String) -> Int32? {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
    Foundation.close(descriptor)
    return nil
  }

  private static func json(_ unsent: Unsent) -> JSONValue {
    let posts = unsent.posts.map { draft in
      JSONValue.object(("title", .string(draft.title)), ("body", .string(draft.body)))
    }
    let sorted = unsent.comments.sorted { $0.key < $1.key }
    let comments = sorted.map { post, drafts in
      JSONMember(post, .array(drafts.map { .string($0.text) }))
    }
    // Parent comments are stored separately, so that versions without replies still find every
    // text.
    let answered = sorted.map { post, drafts in
      JSONMember(post, .array(drafts.map { $0.answered.map(json) ?? .null }))
    }
    return .object(
      ("posts", .array(posts)),
      ("comments", .object(comments)),
      ("answered", .object(answered))
    )
  }

  private static func json(_ comment: Comment) -> JSONValue {
    .object(
      ("id", .string(comment.id)),
      ("uid", .string(comment.uid)),
      ("author", .string(comment.author)),
      ("text", .string(comment.text))
    )
  }

  private static func comment(_ json: JSONValue?) -> Comment? {
    guard let id = json?["id"]?.string, let uid = json?["uid"]?.string else { return nil }
    let (author, text) = (json?["author"]?.string ?? "", json?["text"]?.string ?? "")
    return Comment(id: id, uid: uid, author: author, text: text)
  }

  private static func read(_ path: String) -> Unsent {
    guard let data = FileManager.default.contents(atPath: path),
      let json = try? JSONParser.parse(Array(data))
    else { return Unsent() }
    let posts = (json["posts"]?.elements ?? []).map {
      Draft(title: $0["title"]?.string ?? "", body: $0["body"]?.string ?? "")
    }
    var comments: [PostID: [CommentDraft]] = [:]
    if case .object(let members)? = json["comments"] {
      for member in members {
        let answered = json["answered"]?[member.name]?.elements ?? []
        comments[member.name] = member.value.elements?.enumerated().compactMap { number, text in
          let index = answered.indices.contains(number) ? answered[number] : nil
          return text.string.map { CommentDraft($0, answering: comment(index)) }
        }
      }
    }
    return Unsent(posts: posts, comments: comments)
  }
}

/// The history of typed commands, kept across runs.
struct CommandHistory {
  private let path: String

  /// Names the history file.
  init(directory: String) {
    path = "\(directory)/history"
  }

  /// The commands, oldest first.
  func load() -> [String] {
    guard let data = FileManager.default.contents(atPath: path) else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").suffix(200)
      .map(String.init)
  }

  /// Replaces the file; a failure to do so is ignored.
  func save(_ lines: [String]) {
    let text = lines.map { $0.replacing("\n", with: " ") + "\n" }.joined()
    try? PrivateFile.replace(path, with: Array(text.utf8), isDurable: false)
  }
}
