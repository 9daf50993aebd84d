import Foundation

/// Another process, which ends with its owner.
final class RunningProgram {
  private let process = Process()

  var id: Int32 { process.processIdentifier }

  /// Starts a program and waits for the line by which it says that it is ready.
  ///
  /// - Parameters:
  ///   - path: The program.
  ///   - arguments: What it is told.
  ///   - folder: Where it runs, and where what it says on stderr is kept.
  ///   - isReady: Looks at a line of its output.
  /// - Throws: ``LoadError`` with what it has said when it ends before that.
  init(
    _ path: String,
    _ arguments: [String],
    in folder: TemporaryFolder,
    isReady: (String) -> Bool
  ) throws {
    let errors = "\(folder.path)/stderr"
    try Data().write(to: URL(fileURLWithPath: errors))
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle(forWritingAtPath: errors)
    try process.run()
    var text = ""
    while !text.split(separator: "\n").contains(where: { isReady(String($0)) }) {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else {
        let reason = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
        throw LoadError("\(path) \(arguments.joined(separator: " ")) ended: \(text)\(reason)")
      }
      text += String(decoding: data, as: UTF8.self)
    }
  }

  deinit {
    guard process.isRunning else { return }
    process.terminate()
    process.waitUntilExit()
  }
}
