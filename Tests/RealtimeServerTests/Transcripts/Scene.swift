import Foundation
import TestSupport
import Testing

/// One conversation with a server, as described in a file of `assets/transcripts`.
struct Scene: Sendable, CustomTestStringConvertible {
  typealias Line = SceneText.Line

  /// The name of the file without its extension.
  let file: String
  /// What the scene shows, with the clause of the protocol that requires it.
  let title: String
  let lines: [Line]

  var testDescription: String { title }

  /// The scenes of a file, in order, each with the lines before the first; none when the file cannot
  /// be read.
  static func all(_ file: String) -> [Scene] {
    let path = PackageFiles.path("assets/transcripts/\(file).txt")
    return SceneText.all(ofFileAt: path).flatMap { part in
      let lines = part.lines.map { Line(number: $0.number, text: SceneText.expanded($0.text)) }
      return Scene(file: file, title: part.title, lines: lines).variants()
    }
  }

  /// The scene once for each word of its first line `each NAME WORD …`, which `<NAME>` stands for.
  private func variants() -> [Scene] {
    guard let index = lines.firstIndex(where: { $0.text.hasPrefix("each ") }) else { return [self] }
    let words = lines[index].text.components(separatedBy: " ")
    return words.dropFirst(2).flatMap { word in
      let rest = (lines[..<index] + lines[(index + 1)...]).map { line in
        Line(number: line.number, text: line.text.replacing("<\(words[1])>", with: word))
      }
      return Scene(file: file, title: "\(title): \(word)", lines: rest).variants()
    }
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
}
