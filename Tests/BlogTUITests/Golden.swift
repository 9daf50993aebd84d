import Foundation
import Testing

/// Screens stored as text files.
enum Golden {
  static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent()
    .appendingPathComponent("Goldens")

  /// Compares the text with a file, or writes the file if `UPDATE_GOLDENS` is 1.
  static func check(
    _ actual: String,
    in name: String,
    at location: SourceLocation = #_sourceLocation
  ) {
    let file = folder.appendingPathComponent(name)
    if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
      let folder = file.deletingLastPathComponent()
      try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try? Data(actual.utf8).write(to: file)
      return
    }
    let expected = (try? String(contentsOf: file, encoding: .utf8)) ?? "no such file"
    #expect(actual == expected, "\(file.lastPathComponent)", sourceLocation: location)
  }
}
