import Foundation
import TestSupport
import Testing

/// A conversation with a hub, from a file of `Conversations`.
///
/// Lines before the first `## ` are common to all conversations of a file. Each line is done, in
/// order, but for those that begin with `<` or `=`, which are what comes of it:
///
///     data JSON, rules RULES, limit NAME NUMBER, peers COUNT     how the hub starts
///     > ACTION BODY                   a request of peer 0, whose batch is stored at once (1> of 1)
///     >> ACTION BODY                  a request whose batch is not stored yet (1>> of 1)
///     > {…}                           any message
///     > rules SOURCE, > try SOURCE    rules are set, or only tried; owner SOURCE sets them unasked
///     take, keep, stored N, lost      a batch is taken; the store has it; N are reported; all fail
///     commit, fail                    a batch is taken, and stored or not
///     open N [root|USER], close N, leave N    peers come and go; leave does not store the batch
///     restart [PEERS], resume         a new hub on what is stored
///     wait MS, tick MS                time passes; the timer fires
///     show PATH, revision, pending, ordered, deadline, identity N, rules?, sessions, ledger
///
/// Of what is sent, `< ok {}` is the response to the peer's last request, `< #2 ok {}` to the
/// second of all, `1< d {…}` a push to peer 1; the response to the request itself, which comes after
/// all of them, stands behind it: `> q {…} => ok {}`. `UPDATE_GOLDENS=1` writes all this anew.
struct Conversation: Sendable, CustomTestStringConvertible {
  struct Line: Sendable {
    let number: Int
    /// What is done.
    let text: String
    fileprivate(set) var outcome: Outcome

    /// Reads a line; nil if it is what comes of a line above.
    fileprivate init?(_ number: Int, _ line: String) {
      guard !line.hasPrefix("="), !line.contains(/^\d*</) else { return nil }
      self.number = number
      let parts = line.split(separator: " => ", maxSplits: 1, omittingEmptySubsequences: false)
      text = String(parts[0])
      outcome = Outcome(answer: parts.count > 1 ? String(parts[1]) : nil)
    }
  }

  /// What comes of a line.
  struct Outcome: Sendable, Equatable {
    var lines: [String] = []
    var answer: String?
  }

  let file: URL
  let title: String
  fileprivate(set) var lines: [Line]

  var testDescription: String { title }

  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("Conversations")

  static let files: [URL] = {
    let all = try? FileManager.default.contentsOfDirectory(
      at: folder,
      includingPropertiesForKeys: nil
    )
    return (all ?? []).filter { $0.pathExtension == "txt" }.sorted { $0.path < $1.path }
  }()

  static let all: [Conversation] = files.flatMap { conversations(of: $0) }

  static func conversations(of file: URL) -> [Conversation] {
    guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
    var common: [Line] = []
    var all: [Conversation] = []
    for (index, text) in text.components(separatedBy: "\n").enumerated() {
      if text.hasPrefix("## ") {
        all.append(Conversation(file: file, title: String(text.dropFirst(3)), lines: common))
      } else if !text.isEmpty, !text.hasPrefix("#") {
        if let line = Line(index, SceneText.expanded(text)) {
          if all.isEmpty { common.append(line) } else { all[all.count - 1].lines.append(line) }
        } else if let count = all.last?.lines.count, count > 0 {
          all[all.count - 1].lines[count - 1].outcome.lines.append(text)
        }
      }
    }
    return all
  }

  /// Writes what comes of the lines of a file anew.
  static func update(_ file: URL) throws {
    let text = try String(contentsOf: file, encoding: .utf8)
    var outcomes: [Int: Outcome] = [:]
    for conversation in conversations(of: file) {
      try conversation.play { outcomes[$0.number] = $1 }
    }
    let lines = text.components(separatedBy: "\n").enumerated().flatMap { index, text -> [String] in
      guard let line = Line(index, text) else { return [] }
      let outcome = outcomes[index] ?? Outcome()
      return [line.text + (outcome.answer.map { " => " + $0 } ?? "")] + outcome.lines
    }
    try Data(lines.joined(separator: "\n").utf8).write(to: file)
  }

  /// Does what the lines say, and passes each with what comes of it.
  func play(_ check: (Line, Outcome) throws -> Void) throws {
    var player = try ConversationPlayer(lines.map(\.text))
    for line in lines where !ConversationPlayer.isStart(line.text) {
      try check(line, try player.outcome(of: line.text))
    }
  }
}
