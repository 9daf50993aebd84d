import Foundation
import TestSupport
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
    let expected = GoldenFile.text(
      at: folder.appendingPathComponent(name).path,
      orWrite: actual
    )
    #expect(actual == expected, "\(name)", sourceLocation: location)
  }
}
