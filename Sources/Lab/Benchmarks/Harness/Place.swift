import Foundation
import SecurityRules

/// Where the programs are that benchmarks run, and where they may write.
struct Place {
  /// The program under test.
  let hearth: String
  /// A folder on the disk that counts.
  let folder: String
  /// The rules of the blog.
  let rules: String

  /// The rules of the blog, compiled.
  ///
  /// - Throws: When they cannot be read, or are none.
  func blogRules() throws -> RuleSet {
    try RuleSet(bytes: Array(Data(contentsOf: URL(fileURLWithPath: rules))))
  }

  /// The path of a program, looked for in `PATH`.
  ///
  /// - Throws: ``MissingTool`` when there is none.
  static func program(_ name: String) throws -> String {
    let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
    for folder in folders.split(separator: ":") {
      let path = "\(folder)/\(name)"
      if FileManager.default.isExecutableFile(atPath: path) { return path }
    }
    throw MissingTool(description: "\(name) is not installed")
  }
}
