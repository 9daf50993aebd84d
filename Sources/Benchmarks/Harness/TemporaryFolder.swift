import Foundation

/// A folder that goes away with its last user.
final class TemporaryFolder {
  let path: String

  /// Makes a folder in another one.
  init(in parent: String) throws {
    path = "\(parent)/benchmark-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }
}
