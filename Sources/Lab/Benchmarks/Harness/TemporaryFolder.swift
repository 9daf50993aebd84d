import Foundation

/// A folder that goes away with its last user.
final class TemporaryFolder {
  let path: String

  /// Makes a folder in another one, which only its owner may enter, as servers want it.
  init(in parent: String) throws {
    path = "\(parent)/benchmark-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(
      atPath: path,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }
}
