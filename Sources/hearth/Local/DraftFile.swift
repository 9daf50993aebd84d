import BlogTUI
import Foundation
import RealtimeTree

/// Keeps what was typed and not sent from one run to the next.
struct DraftFile {
  private let path: String

  /// Names the file of one person.
  init(directory: String, uid: String) {
    let name = SHA1.digest(of: Array(uid.utf8)).prefix(8)
      .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    path = "\(directory)/drafts-\(name).json"
  }

  /// The drafts of the last run; none when there is no file that can be read.
  func load() -> [Draft] {
    guard let data = FileManager.default.contents(atPath: path),
      let json = try? JSONParser.parse(Array(data))
    else { return [] }
    return (json.elements ?? []).map {
      Draft(title: $0["title"]?.string ?? "", body: $0["body"]?.string ?? "")
    }
  }

  /// Replaces the file, or removes it when there is nothing to keep.
  func save(_ drafts: [Draft]) {
    if drafts.isEmpty {
      unlink(path)
      return
    }
    let json = JSONValue.array(
      drafts.map { .object(("title", .string($0.title)), ("body", .string($0.body))) }
    )
    let isCreated = FileManager.default.createFile(
      atPath: path + ".new",
      contents: Data(json.text.utf8),
      attributes: [.posixPermissions: 0o600]
    )
    if isCreated { rename(path + ".new", path) }
  }
}
