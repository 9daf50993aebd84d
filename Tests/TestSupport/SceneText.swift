private import Foundation

/// A test that is written as text: a part of a file, from one line that begins with `## ` to the
/// next.
package struct SceneText: Sendable {
  /// A line that is neither empty nor a comment, which begins with `#`.
  package struct Line: Sendable {
    /// The number of the line in its file, from 1.
    package let number: Int
    package let text: String

    package init(number: Int, text: String) {
      self.number = number
      self.text = text
    }
  }

  package let title: String
  /// Its lines, after those before the first title, which begin every part of a file.
  package private(set) var lines: [Line]

  /// The parts of the file at a path, in order; none when it cannot be read.
  package static func all(ofFileAt path: String) -> [SceneText] {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
    var common: [Line] = []
    var all: [SceneText] = []
    for (index, text) in text.components(separatedBy: "\n").enumerated() {
      if text.hasPrefix("## ") {
        all.append(SceneText(title: String(text.dropFirst(3)), lines: common))
      } else if !text.isEmpty, !text.hasPrefix("#") {
        let line = Line(number: index + 1, text: text)
        if all.isEmpty { common.append(line) } else { all[all.count - 1].lines.append(line) }
      }
    }
    return all
  }

  /// Expands repetitions in double braces: `{{ab*3}}` is ababab.
  package static func expanded(_ line: String) -> String {
    line.replacing(/\{\{(.*?)\*(\d+)\}\}/) { match in
      String(repeating: String(match.1), count: Int(match.2) ?? 0)
    }
  }

  /// Writes repetitions of one letter as ``expanded(_:)`` reads them.
  package static func shortened(_ text: String) -> String {
    text.replacing(/([a-z])\1{39,}/) { "{{\($0.1)*\($0.0.count)}}" }
  }
}
