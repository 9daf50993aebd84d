import DurableFiles
import Foundation

/// The files that come with the program, found in the working, installation or build directory.
package enum SharedFiles {
  /// The path of a shared file, such as "rules/blog.json"; nil if there is none.
  static func path(of name: String) -> String? {
    let manager = FileManager.default
    let program = (try? manager.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    var folder = FilePath.directory(of: program)
    var candidates = ["\(manager.currentDirectoryPath)/assets/\(name)"]
    while folder.count > 1 {
      candidates += ["\(folder)/share/hearth/\(name)", "\(folder)/assets/\(name)"]
      folder = FilePath.directory(of: folder)
    }
    return candidates.first { manager.isReadableFile(atPath: $0) }
  }

  /// The rules file that was named, or else one that comes with the program.
  ///
  /// - Throws: ``CommandFailure`` when the program's own file is missing.
  package static func rules(_ file: String?, orElse name: String) throws(CommandFailure) -> String {
    if let file { return file }
    guard let path = path(of: "rules/\(name)") else {
      throw CommandFailure(.usage, "the rules \(name) are not where they should be; use --rules")
    }
    return path
  }
}

extension PrivateDirectory {
  /// Creates a directory with mode 0700 if it is missing, and checks that it is private to this
  /// user.
  ///
  /// The path must be absolute.
  ///
  /// - Throws: ``CommandFailure`` with what is wrong with the directory and what to do.
  static func prepare(_ path: String) throws(CommandFailure) {
    var information = stat()
    if lstat(path, &information) != 0 {
      do {
        try create(path)
      } catch {
        throw failure(of: path, "cannot be created: \(error.action): \(error.reason)")
      }
      guard lstat(path, &information) == 0 else { throw failure(of: path, "cannot be read") }
    }
    guard information.st_mode & S_IFMT == S_IFDIR else {
      throw failure(of: path, "is not a directory")
    }
    guard information.st_uid == geteuid() else {
      throw failure(of: path, "belongs to another user (number \(information.st_uid))")
    }
    guard information.st_mode & 0o077 == 0 else {
      throw failure(of: path, "is open to other users; \"chmod 700\" it")
    }
  }

  private static func failure(of path: String, _ problem: String) -> CommandFailure {
    CommandFailure(
      .usage,
      "the directory \(path) \(problem); choose another with --data-dir or --socket"
    )
  }
}
