import Foundation

/// The files that come with the program: beside it where it is installed, or where it is built.
package enum SharedFiles {
  /// Finds a file.
  ///
  /// - Parameter name: Its path below the directory of shared files, such as "rules/blog.json".
  /// - Returns: The path, or nil when there is none.
  static func path(of name: String) -> String? {
    let manager = FileManager.default
    let program = (try? manager.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    var folder = (program as NSString).deletingLastPathComponent
    var candidates = ["\(manager.currentDirectoryPath)/assets/\(name)"]
    while folder.count > 1 {
      candidates += ["\(folder)/share/hearth/\(name)", "\(folder)/assets/\(name)"]
      folder = (folder as NSString).deletingLastPathComponent
    }
    return candidates.first { manager.isReadableFile(atPath: $0) }
  }

  /// The file of rules that was named, or one that comes with the program.
  ///
  /// - Throws: ``CommandFailure`` when that one is missing.
  package static func rules(_ file: String?, orElse name: String) throws(CommandFailure) -> String {
    if let file { return file }
    guard let path = path(of: "rules/\(name)") else {
      throw CommandFailure(.usage, "the rules \(name) are not where they should be; use --rules")
    }
    return path
  }
}
