private import Foundation

/// The files of this package.
package enum PackageFiles {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

  /// The path of a file or folder, given from the root of the package.
  package static func path(_ name: String) -> String { "\(root)/\(name)" }

  /// The text of a file.
  ///
  /// - Throws: The file system's error when it cannot be read.
  package static func text(_ name: String) throws -> String {
    try String(contentsOfFile: path(name), encoding: .utf8)
  }
}
