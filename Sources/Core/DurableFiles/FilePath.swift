internal import Foundation

/// Paths of files, and what is there.
///
/// `NSString.deletingLastPathComponent` traps on Linux if the path is a single character.
package enum FilePath {
  /// The directory of a file or directory.
  ///
  /// - Returns: "/a" for "/a/b", "." for "b" and "/" for "/".
  package static func directory(of path: String) -> String {
    let directory = parts(of: path).directory
    if !directory.isEmpty { return String(directory) }
    return path.unicodeScalars.first == "/" ? "/" : "."
  }

  /// The last component of a path.
  ///
  /// - Returns: "b" for "/a/b" and "/" for "/".
  package static func name(of path: String) -> String {
    let name = parts(of: path).name
    return name.isEmpty ? String(path.unicodeScalars.prefix(1)) : String(name)
  }

  /// Whether there is something at a path, at the end of all symbolic links.
  ///
  /// - Returns: False only if there is nothing.
  /// - Throws: ``FileFailure`` if the system does not say, since a directory may not be entered.
  package static func exists(_ path: String) throws(FileFailure) -> Bool {
    if access(path, F_OK) == 0 { return true }
    if errno == ENOENT || errno == ENOTDIR { return false }
    throw FileFailure(errno, action: "cannot read \(path)")
  }

  /// The directory of the state that programs keep, according to the XDG base directory
  /// specification; it may not exist yet.
  package static func stateDirectory(
    _ environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String {
    // The specification requires relative paths to be ignored.
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return "\(home ?? NSHomeDirectory())/.local/state"
  }

  private typealias Part = Substring.UnicodeScalarView

  private static func parts(of path: String) -> (directory: Part, name: Part) {
    let path = trimmed(path.unicodeScalars[...])
    let start = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
    return (trimmed(path[..<start]), path[start...])
  }

  /// A path without the slashes at its end.
  private static func trimmed(_ path: Part) -> Part {
    path.lastIndex { $0 != "/" }.map { path[...$0] } ?? path.prefix(0)
  }
}
