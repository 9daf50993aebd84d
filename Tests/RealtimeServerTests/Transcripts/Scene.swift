import Foundation
import Testing

/// One conversation with a server, as described in a file of `assets/transcripts`.
struct Scene: Sendable, CustomTestStringConvertible {
  struct Line: Sendable {
    let number: Int
    let text: String
  }

  /// The name of the file without its extension.
  let file: String
  /// What the scene shows, with the clause of the protocol that requires it.
  let title: String
  fileprivate(set) var lines: [Line]

  var testDescription: String { title }

  static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("assets/transcripts")

  /// The scenes of a file, in order, each with the lines before the first; none when the file cannot
  /// be read.
  static func all(_ file: String) -> [Scene] {
    let path = folder.appendingPathComponent(file + ".txt").path
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
    var common: [Line] = []
    var scenes: [Scene] = []
    for (index, line) in text.components(separatedBy: "\n").enumerated() {
      if line.hasPrefix("## ") {
        scenes.append(Scene(file: file, title: String(line.dropFirst(3)), lines: common))
      } else if !line.isEmpty, !line.hasPrefix("#") {
        let line = Line(number: index + 1, text: expanded(line))
        if scenes.isEmpty {
          common.append(line)
        } else {
          scenes[scenes.count - 1].lines.append(line)
        }
      }
    }
    return scenes
  }

  /// Whether the scene needs nothing that only a server in the test's own process can do.
  var suitsProgram: Bool {
    let library: Set = ["restart", "crash", "store", "limit", "emulator"]
    return lines.allSatisfy { line in
      let word = line.text.split(separator: " ").first.map(String.init) ?? ""
      return !library.contains(word) && !line.text.hasPrefix("rules locked")
        && !line.text.contains("\(SceneRun.time)") && !line.text.contains(#""a":"auth""#)
    }
  }

  /// Expands repetitions in double braces: `{{ab*3}}` is ababab.
  private static func expanded(_ line: String) -> String {
    line.replacing(/\{\{(.*?)\*(\d+)\}\}/) { match in
      String(repeating: String(match.1), count: Int(match.2) ?? 0)
    }
  }
}
