private import Foundation

/// A new directory, removed with everything in it when the value is released.
package final class TemporaryDirectory: Sendable {
  /// The path of the directory, short enough for sockets inside it, without symbolic links: programs
  /// that run in it name it so.
  package let path: String

  /// Creates an empty directory.
  ///
  /// - Throws: The file system's error when it cannot be created.
  package init() throws {
    let place = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
    path = place + "/t-\(UUID().uuidString.prefix(13))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a file in the directory, whether it exists or not.
  package func file(_ name: String) -> String { path + "/" + name }
}
