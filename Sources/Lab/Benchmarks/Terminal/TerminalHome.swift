import Foundation

/// A home of its own for the program, whose local server ends with it.
final class TerminalHome {
  private let folder: TemporaryFolder
  private let place: Place
  private let environment: [String: String]

  /// Makes an empty home for terminals of a kind.
  ///
  /// - Throws: When no folder can be made.
  init(_ place: Place, terminal kind: String = "xterm-256color") throws {
    self.place = place
    folder = try TemporaryFolder(in: NSTemporaryDirectory())
    environment = [
      "HOME": folder.path, "TERM": kind, "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin",
    ]
  }

  deinit {
    try? run("stop")
  }

  /// Makes a blog of so many posts, before anybody looks at it.
  ///
  /// - Throws: When they cannot be written.
  func write(_ count: Int) throws {
    let file = folder.path + "/blog.json"
    try SampleBlog.json(count).write(toFile: file, atomically: false, encoding: .utf8)
    try run("import", file)
  }

  /// Starts the program on a terminal.
  ///
  /// - Throws: ``LoadError`` when it cannot be started.
  func program(_ arguments: String...) throws -> TerminalProgram {
    try TerminalProgram(place.hearth, arguments, environment: environment)
  }

  /// Runs a command to its end.
  ///
  /// - Throws: When it cannot be started, or fails.
  func run(_ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: place.hearth)
    process.arguments = arguments
    process.environment = environment
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw LoadError("\(arguments.first ?? "the program") failed")
    }
  }
}
