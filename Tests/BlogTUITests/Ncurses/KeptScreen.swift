import BlogTUI
import Foundation

/// A screen stored by the blog's tests: its letters in one file, its styles in another.
struct KeptScreen {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Goldens")
  private static let size = Size(width: 80, height: 24)

  /// The names of all screens.
  static let names =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path + "/Styles")) ?? [])
    .compactMap { $0.hasSuffix(".txt") ? String($0.dropLast(4)) : nil }.sorted()

  /// The screen that was read.
  private(set) var screen = Screen(size: size)

  /// Reads a screen of 80 columns and 24 rows.
  init(_ name: String) throws {
    let pictures = try Self.text("Screens/\(name).txt").components(separatedBy: "=== ")
    let title = "\(Self.size.width)x\(Self.size.height)\n"
    let picture = pictures.first { $0.hasPrefix(title) } ?? ""
    for (row, line) in picture.split(separator: "\n", omittingEmptySubsequences: false)
      .dropFirst().enumerated()
    {
      screen.put(SafeText(untrusted: String(line)), at: Position(row: row, column: 0))
    }
    for line in try Self.text("Styles/\(name).txt").split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard let row = parts.first.flatMap({ Int($0) }) else { throw Damaged(name: name) }
      // Each run consists of its columns and its style in brackets.
      for run in parts[1].split(separator: "]") {
        let parts = run.split(separator: "[", maxSplits: 1)
        let columns = parts[0].split(separator: "-").compactMap {
          Int($0.trimmingCharacters(in: .whitespaces))
        }
        guard columns.count == 2, let style = Style(description: String(parts[1])) else {
          throw Damaged(name: name)
        }
        let width = columns[1] - columns[0] + 1
        screen.restyle(Rect(row: row, column: columns[0], width: width, height: 1)) { _ in style }
      }
    }
  }

  /// A file in a format that the blog's tests do not write.
  struct Damaged: Error {
    let name: String
  }

  private static func text(_ name: String) throws -> String {
    try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
  }
}
