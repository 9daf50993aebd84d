import BlogSwarm
import Foundation
import HearthProgram
import RealtimeTransport

/// Where everything of a demonstration is: one directory, which goes with it.
struct DemoFolder: Sendable {
  /// The directory.
  let directory: String

  /// Makes an empty directory that only this user may enter.
  ///
  /// - Throws: ``CommandFailure`` when there is no room for temporary files.
  static func make() throws(CommandFailure) -> DemoFolder {
    // Sockets have short names only: TMPDIR may be too long for them.
    var name = Array("/tmp/hearth-demo-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else {
      throw CommandFailure(
        .failed,
        description: "no directory can be made in /tmp: \(String(cString: strerror(errno)))"
      )
    }
    let path = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    // For whoever looks what a directory in /tmp belongs to.
    try? String(getpid()).write(toFile: "\(path)/owner", atomically: true, encoding: .utf8)
    return DemoFolder(directory: path)
  }

  /// The directory of the database.
  var data: String { "\(directory)/data" }
  /// The socket of the server.
  var socket: String { "\(directory)/server" }
  /// The socket that leads to the server as long as the cable is plugged in.
  var cable: String { "\(directory)/cable" }
  /// The socket of tmux.
  var tmux: String { "\(directory)/tmux" }
  /// What is shown, and to whom.
  var plan: String { "\(directory)/plan.json" }
  /// What was measured last.
  var figures: String { "\(directory)/figures.json" }

  /// The process of the server; nil while none answers.
  var serverProcess: pid_t? {
    guard case .process(let process) = UnixSocketProbe.look(at: socket), process > 0 else {
      return nil
    }
    return process
  }

  /// The URL of the database, through one of the sockets.
  static func url(_ socket: String) -> String { "unix:\(socket)?ns=hearth" }

  /// The URL of the database, for those who come in by its port.
  static func url(port: Int) -> String { "http://127.0.0.1:\(port)?ns=hearth" }

  /// The variables of the programs in the terminals: the usual ones, and nobody's own settings.
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

  /// Ends what still runs here and removes the directory.
  func clear() {
    TmuxServer(self).run(["kill-server"])
    endProcesses()
    for _ in 0..<20 where FileManager.default.fileExists(atPath: directory) {
      try? FileManager.default.removeItem(atPath: directory)
      DemoBeat.wait(milliseconds: 20)
    }
  }

  /// Ends the programs of the terminals first: one that runs on would start the server again.
  ///
  /// Who knows what runs here is the system alone: tmux may be gone before its programs are.
  private func endProcesses() {
    let start = ContinuousClock.now
    var asked: Set<pid_t> = []
    while ContinuousClock.now - start < .seconds(20) {
      let processes = DemoProcesses(of: self)
      guard !processes.isEmpty else { return }
      let isPatient = ContinuousClock.now - start < .seconds(10)
      for process in processes.next where !isPatient || asked.insert(process).inserted {
        kill(process, isPatient ? SIGTERM : SIGKILL)
      }
      DemoBeat.wait(milliseconds: 25)
    }
  }
}

/// The pace of a demonstration.
enum DemoBeat {
  /// Waits, on a thread that has nothing else to do.
  static func wait(milliseconds: Int32) { poll(nil, 0, milliseconds) }
}

/// The processes of a demonstration, without the one that looks and the guard.
struct DemoProcesses {
  /// Those that serve the database.
  private var servers: [pid_t] = []
  /// All others.
  private var others: [pid_t] = []

  /// Finds the processes that name the directory of a place, or have it from their parents.
  init(of place: DemoFolder) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
      guard let process = pid_t(name), process != getpid(),
        let words = Self.texts("/proc/\(name)/cmdline"), !words.contains("--guard")
      else { continue }
      // Another user's variables cannot be read, and are of no concern.
      let variables = Self.texts("/proc/\(name)/environ") ?? []
      guard (words + variables).contains(where: { $0.contains(place.directory) }) else { continue }
      if words.dropFirst().first == "serve" {
        servers.append(process)
      } else {
        others.append(process)
      }
    }
  }

  /// Whether there is none.
  var isEmpty: Bool { servers.isEmpty && others.isEmpty }

  /// Those to end next: no server as long as there is somebody who would start it again.
  var next: [pid_t] { others.isEmpty ? servers : others }

  /// The texts of a file of the system; nil when it cannot be read, or the process is gone.
  private static func texts(_ path: String) -> [String]? {
    guard let data = FileManager.default.contents(atPath: path), !data.isEmpty else { return nil }
    return data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// Somebody who stays behind: when a demonstration is gone, however that happened, nothing of it is left.
///
/// It is a process of its own that waits for the end of what only the demonstration can write to.
struct DemoGuard {
  private let process: ChildProcess

  /// Posts a guard at a place.
  ///
  /// - Throws: `ChildProcess.Problem` when there can be no other process.
  init(_ place: DemoFolder) throws {
    process = try ChildProcess(["demo", "--guard", place.directory], errors: "/dev/null")
  }

  /// Sends the guard away, since all has been cleared up.
  func dismiss() async {
    process.send(SIGKILL)
    await process.end()
  }

  /// Is the guard: waits, and clears up.
  static func stand(at place: DemoFolder) {
    // What ends the demonstration's terminal or its group does not end this.
    setsid()
    for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { signal(number, SIG_IGN) }
    var byte: UInt8 = 0
    while true {
      let count = read(STDIN_FILENO, &byte, 1)
      if count == 0 || count < 0 && errno != EINTR { break }
    }
    place.clear()
  }
}
