import Foundation
import TerminalUI
import Testing

@testable import BlogTUI

/// Screens kept as text files.
enum Golden {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent()
    .appendingPathComponent("Goldens")

  /// Compares the screen with its file, or writes the file if `UPDATE_GOLDENS` is 1.
  static func check(
    _ screen: Screen,
    _ name: String,
    isASCII: Bool = false,
    at location: SourceLocation = #_sourceLocation
  ) {
    let actual = text(screen, isASCII: isASCII)
    let size = "\(screen.size.width)x\(screen.size.height)"
    let file = folder.appendingPathComponent("\(name)-\(size)\(isASCII ? "-ascii" : "").txt")
    if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
      try? Data(actual.utf8).write(to: file)
      return
    }
    let expected = (try? String(contentsOf: file, encoding: .utf8)) ?? "no such file"
    #expect(actual == expected, "\(file.lastPathComponent)", sourceLocation: location)
  }

  private static func text(_ screen: Screen, isASCII: Bool) -> String {
    guard isASCII else { return screen.text() + "\n" }
    return (0..<screen.size.height).map { row in
      var line = screen.row(row).map(\.asciiText).joined()
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }
}
