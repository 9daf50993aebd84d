import Foundation
import Glibc
import HearthLab
import RealtimeServer

/// The programs that benchmarks run, and where they may write.
struct BenchmarkEnvironment {
  /// The program under test.
  let hearth: String
  /// A directory on the disk to be measured.
  let folder: String
  /// The file with the blog's rules.
  let rules: String

  /// The blog's rules, compiled.
  func blogRules() throws -> RuleSet {
    try RuleSet(bytes: Array(Data(contentsOf: URL(fileURLWithPath: rules))))
  }

  /// The path of a program found in `PATH`.
  static func program(_ name: String) throws -> String {
    guard let path = Tool.path(of: name) else {
      throw MissingTool(description: "\(name) is not installed")
    }
    return path
  }
}

/// A directory that is deleted with its last user.
final class TemporaryFolder {
  let path: String

  /// Creates a directory that only its owner may enter, as servers require.
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

/// Another process, which ends with its owner.
final class RunningProgram {
  private let process = Process()
  private let folder: TemporaryFolder

  var id: Int32 { process.processIdentifier }

  /// Starts a program in a folder, which also receives its stderr and is kept until its end, and
  /// waits for the line that says that it is ready.
  ///
  /// - Throws: ``LoadError`` with the program's stderr when it ends before that.
  init(
    _ path: String,
    arguments: [String],
    in folder: TemporaryFolder,
    isReady: (String) -> Bool
  ) throws {
    self.folder = folder
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

/// The processor time of processes, as the kernel counts it.
enum ProcessorTime {
  /// The system ticks that a process has used so far; 0 when there is none.
  static func ticks(of process: pid_t) -> Int {
    let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    return text.split(separator: " ").dropFirst(13).prefix(2).reduce(0) { $0 + (Int($1) ?? 0) }
  }

  static func duration(ofTicks ticks: Int) -> Duration {
    .seconds(ticks) / sysconf(Int32(_SC_CLK_TCK))
  }
}

/// The memory of processes, as the kernel counts it.
enum ResidentMemory {
  /// The bytes that this process uses, after it has returned free memory to the system.
  static func bytes() -> Int {
    RealtimeServer.ResidentMemory.giveBack()
    return bytes(of: getpid())
  }

  /// The bytes that a process uses.
  static func bytes(of process: pid_t) -> Int {
    Int(ProcessFacts(of: process)?.residentBytes ?? 0)
  }

  /// The bytes of another process that could not be read back from a file on the disk.
  static func anonymousBytes(of process: pid_t) -> Int {
    let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    let kibibytes = text.firstMatch(of: #/RssAnon:\s+(\d+)/#).flatMap { Int($0.1) }
    return (kibibytes ?? 0) * 1_024
  }
}

/// A required program is not installed; benchmarks that need it are skipped.
struct MissingTool: Error, CustomStringConvertible {
  let description: String
}

/// A server did not do what a benchmark needs.
struct LoadError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
