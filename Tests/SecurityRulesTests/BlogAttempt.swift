import Foundation
import RealtimeCore
import Testing

/// A write request: the user (nil for anonymous), the changes, and whether it is allowed.
struct BlogAttempt: Sendable, CustomTestStringConvertible {
  let name: String
  let uid: String?
  fileprivate(set) var changes: [(path: Path, json: String)]
  let isAllowed: Bool
  /// Whether the rules for friends allow it; nil if it is not made under them.
  let isAllowedAmongFriends: Bool?
  /// Whether it is made under the rules of the published sample, and no others.
  let isOfSample: Bool

  init(
    _ name: String,
    as uid: String?,
    _ changes: (Path, String)...,
    allowed: Bool
  ) {
    self.name = name
    self.uid = uid
    self.changes = changes.map { (path: $0.0, json: $0.1) }
    isAllowed = allowed
    isAllowedAmongFriends = allowed
    isOfSample = false
  }

  var testDescription: String { name }

  /// Reads a line like `no bob: another edits the title`.
  private init?(_ line: Substring, in section: Substring) {
    guard let colon = line.firstIndex(of: ":") else { return nil }
    let words = line[..<colon].split(separator: " ")
    guard words.count == 2, ["yes", "no", "friends"].contains(words[0]) else { return nil }
    name = String(line[colon...].dropFirst(2))
    uid = words[1] == "nobody" ? nil : String(words[1])
    changes = []
    isAllowed = words[0] == "yes"
    isOfSample = section.hasSuffix("(sample)")
    let isShared = section.hasSuffix("(shared)")
    isAllowedAmongFriends = isShared || isOfSample ? nil : words[0] != "no"
  }

  /// The attempts under the rules of the blog.
  static let all = read.filter { !$0.isOfSample }
  /// The attempts under the rules of the published sample.
  static let ofSample = read.filter(\.isOfSample)

  /// The attempts in `BlogAttempts.txt`, which describes itself.
  private static let read: [BlogAttempt] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("BlogAttempts.txt")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    var attempts: [BlogAttempt] = []
    var names: [(name: String, text: String)] = []
    var section: Substring = ""
    for line in text.split(separator: "\n") {
      if line.hasPrefix("<"), let end = line.firstIndex(of: " ") {
        names.append((String(line[..<end]), String(line[end...].dropFirst())))
      } else if line.hasPrefix("## ") {
        section = line
      } else if line.hasPrefix("  ") {
        let line = names.reduce(String(line)) { $0.replacing($1.name, with: $1.text) }
          .replacing(/\{\{x\*(\d+)\}\}/) { String(repeating: "x", count: Int($0.1) ?? 0) }
        let parts = line.split(separator: " = ", maxSplits: 1)
        for place in parts[0].split(separator: " ") {
          attempts[attempts.count - 1].changes.append((Path(wire: String(place)), String(parts[1])))
        }
      } else if let attempt = BlogAttempt(line, in: section) {
        attempts.append(attempt)
      }
    }
    return attempts
  }()
}
