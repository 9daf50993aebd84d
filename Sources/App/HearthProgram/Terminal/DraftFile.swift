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
  private let isReadOnly: Bool
  private var lock: Int32 = -1

  init(directory: String, uid: String, isReadOnly: Bool = false) {
    self.directory = "\(directory)/drafts-\(SHA1.name(of: uid, byteCount: 8))"
    name = "\(getpid())"
    self.isReadOnly = isReadOnly
  }

  deinit {
    if lock >= 0 { close(lock) }
  }

  private func path(_ name: String) -> String { "\(directory)/\(name).json" }
  private func lockPath(_ name: String) -> String { "\(directory)/\(name).lock" }

  /// Takes over the drafts of runs that have ended, and what their editors have saved.
  ///
  /// `news` tells the user which files cannot be read, and what came from an editor; `problem` is why
  /// the drafts could not be stored again. If this is read-only, everything stays where it is, and
  /// `problem` says that there are drafts which could not be read.
  func load() -> (unsent: Unsent, news: [String], problem: EnvironmentError?) {
    if !isReadOnly {
      try? PrivateDirectory.create(directory)
      lock = FileDescriptors.lock(lockPath(name)) ?? -1
    }
    var unread: [String] = []
    if access(directory, R_OK | X_OK) != 0, errno != ENOENT { unread.append(cannotOpen(directory)) }
    let files = ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    var unsent = Unsent()
    var news: [String] = []
    var taken: [(files: [String], lock: Int32?)] = []
    let names = files.compactMap { file in
      [".json", ".draft"].contains { file.hasSuffix($0) }
        ? String(file.prefix { $0 != "." }) : nil
    }
    for other in Set(names).sorted() {
      // The process id may have been reused: a file of this name is from an earlier process.
      let lock =
        other == name ? nil : FileDescriptors.lock(lockPath(other), onlyReads: isReadOnly)
      guard other == name || lock != nil || isReadOnly && errno == ENOENT else {
        if errno != EWOULDBLOCK { unread.append(cannotOpen(lockPath(other))) }
        continue
      }
      guard var read = take(path(other), &news, unread: &unread) else {
        if let lock { close(lock) }
        continue
      }
      var done = [path(other)]
      for file in files where file.hasPrefix(other + ".") && file.hasSuffix(".draft") {
        let edited = "\(directory)/\(file.dropLast(6))"
        takeEdited(edited, into: &read, &news)
        done += [edited, "\(directory)/\(file)"]
      }
      unsent.append(read)
      taken.append((other == name ? Array(done.dropFirst()) : done + [lockPath(other)], lock))
    }
    // The other files may be removed only once their text is safely stored in this one.
    let problem = isReadOnly ? nil : save(unsent, isDurable: true)
    for (files, lock) in taken {
      if !isReadOnly, problem == nil { for file in files { unlink(file) } }
      if let lock { close(lock) }
    }
    news += unread.map { "Drafts of an earlier run stay there: \($0)." }
    guard isReadOnly, !unread.isEmpty else { return (unsent, news, problem) }
    return (unsent, news, EnvironmentError("not all drafts can be read"))
  }

  private func cannotOpen(_ path: String) -> String {
    "cannot open \(path): \(String(cString: strerror(errno)))"
  }

  /// Reads a draft file; one that is damaged is put aside, whatever could be read of it.
  ///
  /// Nil if the system cannot read it now, so that it stays for a later run.
  private func take(
    _ path: String,
    _ news: inout [String],
    unread: inout [String]
  ) -> Unsent? {
    do throws(FileFailure) {
      guard let bytes = try PrivateFile.read(path) else { return Unsent() }
      if let json = try? JSONParser.parse(bytes), let unsent = Self.unsent(json) { return unsent }
    } catch {
      // This run is about to write the file of its own name, which it must not replace.
      if path != self.path(name) {
        unread.append("\(error.action): \(error.reason)")
        return nil
      }
    }
    var number = 1
    var aside = path + ".damaged"
    while access(aside, F_OK) == 0 {
      number += 1
      aside = "\(path).damaged\(number)"
    }
    let isAside = !isReadOnly && rename(path, aside) == 0
    news.append("Drafts of an earlier run cannot be read; they are in \(isAside ? aside : path).")
    return Unsent()
  }

  /// Replaces a draft by what an editor has saved of it before its terminal was closed.
  private func takeEdited(_ path: String, into unsent: inout Unsent, _ news: inout [String]) {
    let file = EditorFile(path: path)
    guard file.exists else { return }
    do throws(EnvironmentError) {
      guard let bytes = try? PrivateFile.read(path + ".draft"),
        let json = try? JSONParser.parse(bytes), let before = Self.unsent(json)
      else { throw EnvironmentError("What your editor saved is of a draft that cannot be read.") }
      if let draft = before.posts.first {
        let edited = try file.post(draft)
        guard edited != draft else { return }
        unsent.posts.removeAll { $0 == draft }
        unsent.posts.append(edited)
      }
      for (post, drafts) in before.comments {
        guard let draft = drafts.first else { continue }
        let edited = try file.comment(draft)
        guard edited != draft else { return }
        unsent.comments[post]?.removeAll { $0 == draft }
        unsent.comments[post, default: []].append(edited)
      }
      if !isReadOnly {
        news.append("What your editor saved last is kept as a draft; :drafts lists it.")
      }
    } catch {
      let aside = isReadOnly ? path : path + ".kept"
      if !isReadOnly { rename(path, aside) }
      news.append("\(error.description) It is in \(aside).")
    }
  }

  /// Replaces the whole file, or removes it if there is nothing to keep; returns why it does not
  /// contain everything.
  ///
  /// If it is to be durable, this waits for the disk, so that the drafts survive a power failure.
  /// While somebody types, a screen does not wait.
  func save(_ unsent: Unsent, isDurable: Bool) -> EnvironmentError? {
    if unsent.isEmpty {
      unlink(path(name))
      return nil
    }
    do throws(FileFailure) {
      try PrivateDirectory.create(directory)
      let bytes = Array(Self.json(unsent).text.utf8)
      try PrivateFile.replace(path(name), with: bytes, isDurable: isDurable)
      return nil
    } catch {
      return EnvironmentError("\(error.action): \(error.reason).")
    }
  }

  /// Makes a file for an editor, with a note of what it changes, which ``load()`` looks for if this
  /// process ends before the editor does.
  ///
  /// - Throws: ``EnvironmentError`` if it cannot be written.
  func editorFile(
    for draft: Unsent,
    text: String
  ) throws(EnvironmentError) -> EditorFile {
    do throws(FileFailure) {
      try PrivateDirectory.create(directory)
      var number = 1
      while access("\(directory)/\(name).\(number).txt", F_OK) == 0 { number += 1 }
      let file = EditorFile(path: "\(directory)/\(name).\(number).txt")
      let note = Array(Self.json(draft).text.utf8)
      try PrivateFile.replace(file.path, with: Array(text.utf8), isDurable: false)
      try PrivateFile.replace(file.path + ".draft", with: note, isDurable: false)
      return file
    } catch {
      throw EnvironmentError("No file for the editor: \(error.action): \(error.reason).")
    }
  }

  /// Closes the file; its lock file is removed if there are no drafts.
  func close() {
    guard lock >= 0 else { return }
    if access(path(name), F_OK) != 0 { unlink(lockPath(name)) }
    Foundation.close(lock)
    lock = -1
  }

  private func close(_ descriptor: Int32) { Foundation.close(descriptor) }

  private static func json(_ unsent: Unsent) -> JSONValue {
    let posts = unsent.posts.map { draft in
      JSONValue.object(
        ("title", .string(draft.title)),
        ("body", .string(draft.body)),
        ("edits", draft.editing.map(json) ?? .null)
      )
    }
    let sorted = unsent.comments.sorted { $0.key < $1.key }
    // Parent comments and originals are stored separately, so that versions without them still
    // find every text.
    func members(_ value: (CommentDraft) -> JSONValue) -> JSONValue {
      .object(sorted.map { JSONMember($0.key, .array($0.value.map(value))) })
    }
    return .object(
      ("posts", .array(posts)),
      ("comments", members { .string($0.text) }),
      ("answered", members { $0.answered.map(json) ?? .null }),
      ("edits", members { $0.editing.map(json) ?? .null })
    )
  }

  private static func json(_ post: Post) -> JSONValue {
    .object(
      ("id", .string(post.id)),
      ("uid", .string(post.uid)),
      ("author", .string(post.author)),
      ("title", .string(post.title)),
      ("body", .string(post.body))
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

  private static func post(_ json: JSONValue?) -> Post? {
    guard let id = json?["id"]?.string, let uid = json?["uid"]?.string else { return nil }
    let (author, title) = (json?["author"]?.string ?? "", json?["title"]?.string ?? "")
    return Post(id: id, uid: uid, author: author, title: title, body: json?["body"]?.string ?? "")
  }

  private static func comment(_ json: JSONValue?) -> Comment? {
    guard let id = json?["id"]?.string, let uid = json?["uid"]?.string else { return nil }
    let (author, text) = (json?["author"]?.string ?? "", json?["text"]?.string ?? "")
    return Comment(id: id, uid: uid, author: author, text: text)
  }

  /// The drafts of a file; nil if it is not one that this program has written.
  private static func unsent(_ json: JSONValue) -> Unsent? {
    var unsent = Unsent()
    guard let posts = json["posts"]?.elements, case .object(let members)? = json["comments"] else {
      return nil
    }
    for draft in posts {
      guard let title = draft["title"]?.string, let body = draft["body"]?.string else { return nil }
      unsent.posts.append(Draft(title: title, body: body, editing: post(draft["edits"])))
    }
    for member in members {
      guard let texts = member.value.elements else { return nil }
      for (number, text) in texts.enumerated() {
        guard let text = text.string else { return nil }
        func comment(_ name: String) -> Comment? {
          let values = json[name]?[member.name]?.elements ?? []
          return values.indices.contains(number) ? Self.comment(values[number]) : nil
        }
        let draft = CommentDraft(text, answering: comment("answered"), editing: comment("edits"))
        unsent.comments[member.name, default: []].append(draft)
      }
    }
    return unsent
  }
}

/// The history of typed commands, kept across runs.
struct CommandHistory {
  private let path: String

  init(directory: String) {
    path = "\(directory)/history"
  }

  /// The commands, oldest first.
  func load() -> [String] {
    let bytes = (try? PrivateFile.read(path)) ?? []
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").suffix(200)
      .map(String.init)
  }

  /// Replaces the file; a failure to do so is ignored.
  func save(_ lines: [String]) { try? replace(with: lines) }

  private func replace(with lines: [String]) throws(FileFailure) {
    // What cannot be read is not among the lines, and must not be lost.
    _ = try PrivateFile.read(path)
    let text = lines.map { $0.replacing("\n", with: " ") + "\n" }.joined()
    try PrivateFile.replace(path, with: Array(text.utf8), isDurable: false)
  }
}
