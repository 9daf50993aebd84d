import Foundation
import Testing

/// A line of `Expressions.txt`, which describes itself.
struct RuleLine: Sendable, CustomTestStringConvertible {
  let section: String
  let word: String
  let rest: String

  var testDescription: String { "\(word) \(rest)" }

  /// The lines that begin with one of these words.
  static func kinds(_ words: String...) -> [RuleLine] { all.filter { words.contains($0.word) } }

  static let all: [RuleLine] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Expressions.txt")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    var section = ""
    return text.components(separatedBy: "\n").compactMap { line -> RuleLine? in
      if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
      guard !line.hasPrefix("#"), let space = line.firstIndex(of: " ") else { return nil }
      let rest = line[line.index(after: space)...].replacing("⏎", with: "\n")
      return RuleLine(section: section, word: String(line[..<space]), rest: String(rest))
    }
  }()
}
