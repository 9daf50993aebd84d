private import Foundation
import Testing

/// A test of an engine that is written as text, with what comes of each line.
///
/// Lines before the first `## ` are common to all transcripts of a file. Each line is done, in
/// order, but for those that begin with `<` or `=` (or with a number and `<`), which are what comes
/// of the line above them; what is short stands behind it: `LINE => ANSWER`. The player says what
/// lines there are. `UPDATE_GOLDENS=1` writes what comes of them anew.
package struct Transcript: Sendable, CustomTestStringConvertible {
  package struct Line: Sendable {
    let number: Int
    /// What is done.
    package let text: String
    package fileprivate(set) var outcome: Outcome

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
  package struct Outcome: Sendable, Equatable {
    package var lines: [String]
    package var answer: String?

    package init(lines: [String] = [], answer: String? = nil) {
      self.lines = lines
      self.answer = answer
    }
  }

  /// A line that a player does not know.
  package struct UnknownLine: Error {
    let text: String

    package init(text: String) { self.text = text }
  }

  private let file: URL
  private let title: String
  package fileprivate(set) var lines: [Line]

  package var testDescription: String { title }

  private static let isUpdate = ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1"

  /// The transcripts of the text files in a folder beside a file of tests, in order; if they are
  /// written anew, the first of each file, which stands for all of them.
  package static func all(in folder: String, beside path: String = #filePath) -> [Transcript] {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
      .appendingPathComponent(folder)
    let all = try? FileManager.default.contentsOfDirectory(
      at: folder,
      includingPropertiesForKeys: nil
    )
    let texts = (all ?? []).filter { $0.pathExtension == "txt" }
    precondition(!texts.isEmpty, "there are no transcripts in \(folder.path)")
    return texts.sorted { $0.path < $1.path }.flatMap { file in
      let transcripts = Self.all(of: file)
      return isUpdate ? Array(transcripts.prefix(1)) : transcripts
    }
  }

  /// The transcripts of a file, in order.
  private static func all(of file: URL) -> [Transcript] {
    SceneText.all(ofFileAt: file.path).map { part in
      var lines: [Line] = []
      for text in part.lines {
        if let line = Line(text.number - 1, text.text) {
          lines.append(line)
        } else if !lines.isEmpty {
          lines[lines.count - 1].outcome.lines.append(text.text)
        }
      }
      return Transcript(file: file, title: part.title, lines: lines)
    }
  }

  /// Writes what comes of the lines of a file anew.
  private static func update(_ file: URL, with player: (some TranscriptPlayer).Type) throws {
    let text = try String(contentsOf: file, encoding: .utf8)
    var outcomes: [Int: Outcome] = [:]
    for transcript in all(of: file) {
      try transcript.play(with: player) { outcomes[$0.number] = $1 }
    }
    let lines = text.components(separatedBy: "\n").enumerated().flatMap { index, text -> [String] in
      guard let line = Line(index, text) else { return [] }
      let outcome = outcomes[index] ?? Outcome()
      return [line.text + (outcome.answer.map { " => " + $0 } ?? "")] + outcome.lines
    }
    try Data(lines.joined(separator: "\n").utf8).write(to: file)
  }

  /// Does what the lines say, and passes each with what comes of it.
  private func play<Player: TranscriptPlayer>(
    with player: Player.Type,
    _ check: (Line, Outcome) throws -> Void
  ) throws {
    var player = try Player(lines.map { SceneText.expanded($0.text) })
    for line in lines where !Player.isStart(line.text) {
      try check(line, try player.outcome(of: SceneText.expanded(line.text)))
    }
  }

  /// Expects of each line what the file says, or writes the whole file anew.
  package func expect(with player: (some TranscriptPlayer).Type) throws {
    guard !Self.isUpdate else { return try Self.update(file, with: player) }
    #expect(lines.contains { $0.outcome != Outcome() })
    try play(with: player) { line, outcome in
      let place = "\(file.lastPathComponent):\(line.number + 1): \(line.text)"
      #expect(outcome == line.outcome, "\(place)")
    }
  }
}

/// What does the lines of a ``Transcript``.
package protocol TranscriptPlayer {
  /// Whether a line says how the engine starts.
  static func isStart(_ line: String) -> Bool

  /// Starts an engine as those lines say.
  init(_ lines: [String]) throws

  /// Does what a line says, and returns what comes of it.
  mutating func outcome(of line: String) throws -> Transcript.Outcome
}
