private import Foundation

/// A file with a text that a test expects.
package enum GoldenFile {
  /// The text of the file at a path; if `UPDATE_GOLDENS` is 1, the given one is written there first.
  package static func text(at path: String, orWrite text: String) -> String {
    if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
      let file = URL(fileURLWithPath: path)
      let folder = file.deletingLastPathComponent()
      try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try? Data(text.utf8).write(to: file)
    }
    return (try? String(contentsOfFile: path, encoding: .utf8)) ?? "no such file"
  }
}
