import ArgumentParser
import BlogTUI
import Foundation
import HearthLab
import HearthProgram
import NIOConcurrencyHelpers

/// The directory that contains everything of a demonstration and is removed with it.
struct DemoFolder: Sendable {
  let directory: String

  /// Makes an empty directory that only this user may enter.
  static func make() throws(CommandFailure) -> DemoFolder {
    // The paths of sockets must be short, and TMPDIR may be too long.
    var name = Array("/tmp/hearth-demo-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else {
      throw CommandFailure(
        .failed,
        "no directory can be made in /tmp: \(String(cString: strerror(errno)))"
      )
    }
    let path = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    // Records the owner for anyone who wonders what the directory in /tmp belongs to.
    try? String(getpid()).write(toFile: "\(path)/owner", atomically: true, encoding: .utf8)
    return DemoFolder(directory: path)
  }

  var data: String { "\(directory)/data" }
  var socket: String { "\(directory)/server" }
  /// The socket that leads to the server while the cable is plugged in.
  var cable: String { "\(directory)/cable" }
  var tmux: String { "\(directory)/tmux" }
  var port: String { "\(directory)/port" }
  var plan: String { "\(directory)/plan.json" }
  var figures: String { "\(directory)/figures.json" }

  /// The process of the server; nil if none is running.
  var serverProcess: pid_t? {
    guard case .process(let process) = UnixSocketProbe.look(at: socket), process > 0 else {
      return nil
    }
    return process
  }

  /// The URL of the database at one of the sockets.
  static func url(_ socket: String) -> String { "unix:\(socket)?ns=hearth" }

  static func url(port: Int) -> String { "http://127.0.0.1:\(port)?ns=hearth" }

  /// The environment of the programs in the terminals: the usual variables, and no settings of the
  /// user.
  var environment: [String: String] {
    let usual = [
      "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "NO_COLOR", "COLORTERM",
    ]
    var variables = ProcessInfo.processInfo.environment.filter { usual.contains($0.key) }
    variables["XDG_CONFIG_HOME"] = "\(directory)/config"
    variables["XDG_STATE_HOME"] = "\(directory)/state"
    variables["XDG_DATA_HOME"] = data
    variables["XDG_RUNTIME_DIR"] = directory
    return variables
  }

  /// Ends all remaining processes and removes the directory.
  func clear() {
    TmuxServer(self).run(["kill-server"])
    endProcesses()
    for _ in 0..<20 where FileManager.default.fileExists(atPath: directory) {
      try? FileManager.default.removeItem(atPath: directory)
      DemoBeat.wait(milliseconds: 20)
    }
  }

  /// Ends the programs of the terminals first, because a running one would start the server again.
  ///
  /// Only the system knows what is running here: tmux may end before its programs do.
  private func endProcesses() {
    let start = ContinuousClock.now
    var asked: Set<pid_t> = []
    while ContinuousClock.now - start < .seconds(20) {
      let processes = DemoProcesses(of: self)
      guard !processes.isEmpty else { return }
      let isPatient = ContinuousClock.now - start < .seconds(10)
      for process in processes.next where !isPatient || asked.insert(process).inserted {
        kill(process, isPatient ? SIGTERM : SIGKILL)
        // One that stands still would hear of it only when it goes on.
        kill(process, SIGCONT)
      }
      DemoBeat.wait(milliseconds: 25)
    }
  }
}

enum DemoBeat {
  /// Sleeps on a thread that has nothing else to do.
  static func wait(milliseconds: Int32) { poll(nil, 0, milliseconds) }

  /// Waits on such a thread for what is asynchronous.
  static func wait<Value: Sendable>(for body: @escaping @Sendable () async -> Value) -> Value? {
    let box = NIOLockedValueBox<Value?>(nil)
    let answer = DispatchSemaphore(value: 0)
    Task {
      let value = await body()
      box.withLockedValue { $0 = value }
      answer.signal()
    }
    answer.wait()
    return box.withLockedValue { $0 }
  }
}

/// The processes of a demonstration, without the current one and the guard.
struct DemoProcesses {
  /// The processes that serve the database.
  private var servers: [pid_t] = []
  private var others: [pid_t] = []

  /// Finds the processes with the demonstration's directory in their arguments or environment.
  init(of folder: DemoFolder) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
      guard let process = pid_t(name), process != getpid(),
        let words = Self.texts("/proc/\(name)/cmdline"), !words.contains("--guard")
      else { continue }
      // The variables of another user's process cannot be read, and do not matter.
      let variables = Self.texts("/proc/\(name)/environ") ?? []
      guard (words + variables).contains(where: { $0.contains(folder.directory) }) else { continue }
      if words.dropFirst().first == "serve" {
        servers.append(process)
      } else {
        others.append(process)
      }
    }
  }

  var isEmpty: Bool { servers.isEmpty && others.isEmpty }

  /// The processes to end next; servers only once there is no process left to restart them.
  var next: [pid_t] { others.isEmpty ? servers : others }

  /// The strings in a file of the system; nil if it cannot be read, or the process is gone.
  private static func texts(_ path: String) -> [String]? {
    guard let data = FileManager.default.contents(atPath: path), !data.isEmpty else { return nil }
    return data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// A process that cleans up after a demonstration, however it ends.
///
/// It waits for the end of a pipe to which only the demonstration can write.
struct DemoGuard {
  private let process: ChildProcess

  init(_ folder: DemoFolder) throws {
    process = try ChildProcess(["demo", "--guard", folder.directory], errors: "/dev/null")
  }

  /// Shows a demonstration in a new folder that a guard watches over, and cleans up.
  @MainActor
  static func watch(_ show: (DemoFolder) async throws -> Int32?) async throws {
    try NcursesTerminal.check()
    let folder = try DemoFolder.make()
    let post = try DemoGuard(folder)
    let ending: Result<Int32?, any Error>
    do { ending = .success(try await show(folder)) } catch { ending = .failure(error) }
    folder.clear()
    post.process.send(SIGKILL)
    await post.process.end()
    if let signal = try ending.get() { throw ExitCode(128 + signal) }
  }

  /// Runs the guard: waits, and cleans up.
  static func stand(at folder: DemoFolder) {
    // Whatever ends the demonstration's terminal or its process group must not end the guard.
    setsid()
    for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { signal(number, SIG_IGN) }
    var byte: UInt8 = 0
    while true {
      let count = read(STDIN_FILENO, &byte, 1)
      if count == 0 || count < 0 && errno != EINTR { break }
    }
    folder.clear()
  }
}
