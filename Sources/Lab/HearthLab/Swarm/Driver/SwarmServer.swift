import Foundation
private import RealtimeCore

/// The server of a swarm: a process that is killed, starved of disk space and restarted.
actor SwarmServer {
  /// Where the server stores its files.
  struct Files: Sendable {
    let directory: String
    let rules: String
    /// The program to run as the server; nil for `hearth`.
    var program: String?
    /// The name that distinguishes the server from others.
    var name = "server"
    /// The PostgreSQL that it shares with others, at the address it uses, and the host that clients
    /// use.
    var sharing: (store: String, host: String)?
    /// How long the server may be without clients before it ends.
    var idleSeconds = 60

    var data: String { sharing == nil ? "\(directory)/data" : "\(directory)/\(name)" }
    var log: String { "\(directory)/\(name).log" }
    /// The file that records how far the commit log has been read.
    var logMark: String { "\(directory)/log-mark" }
    /// The socket, for administrators.
    var socket: String { "\(directory)/\(name).sock" }
  }

  /// How long a server may take to be ready.
  private static let startTime = Duration.seconds(60)
  /// How long one of several servers is restarted repeatedly while it cannot reach PostgreSQL.
  private static let patience = Duration.seconds(40)

  private let files: Files
  private let history: HistoryWriter
  private var observer: LogObserver?
  private var process: ChildProcess?
  /// The port, which is the same for every process of the server.
  private(set) var port = 0
  /// How often the server was killed or ended on its own.
  private(set) var ends = 0
  private var isStopping = false
  /// The recovery from the last end of the process, so that one recovery follows the other.
  private var recovery: Task<Void, any Error>?

  init(_ files: Files, history: HistoryWriter) {
    self.files = files
    self.history = history
  }

  var processID: pid_t? {
    process.flatMap { $0.isRunning ? $0.id : nil }
  }

  /// Starts the server and waits until it is ready.
  func start() async throws {
    let process = try ChildProcess(
      arguments,
      of: files.program ?? ChildProcess.hearth,
      errors: "\(files.directory)/\(files.name).err"
    )
    self.process = process
    let line = await Self.firstLine(of: process)
    guard let line, let ready = try? JSONParser.parse(line), ready["ready"]?.bool == true else {
      process.send(SIGKILL)
      throw SwarmProblem("the server does not start: \(line ?? "see \(files.log)")")
    }
    port = ready["port"]?.integer.flatMap { Int(exactly: $0) } ?? port
    history.append(.server(.up))
    Task { [weak self] in
      let status = await process.end()
      await self?.noteEnd(of: process, status)
    }
  }

  private var arguments: [String] {
    // Where there are several, each follows what it does not lead, however few its clients are.
    let own =
      files.sharing.map {
        ["--store", $0.store, "--advertise", $0.host, "--limit", "follow-clients=1"]
      }
      ?? ["--emulator", "--data-dir", files.data]
    return ["serve"] + own + [
      "--port", String(port), "--socket", files.socket, "--rules", files.rules, "--log", files.log,
      "--log-mark", files.logMark,
      // It also ends if its parent is killed.
      "--idle-exit", String(files.idleSeconds),
    ]
  }

  private static func firstLine(of process: ChildProcess) async -> String? {
    let watchdog = Task {
      await Pause.lasting(startTime)
      if !Task.isCancelled { process.send(SIGKILL) }
    }
    defer { watchdog.cancel() }
    return await process.firstLine()
  }

  /// Reports every end of the server to an observer.
  func attach(_ observer: LogObserver) {
    self.observer = observer
  }

  /// Kills the server and starts it again after a pause.
  func killAndRestart(after pause: Duration) async throws {
    guard let process, process.isRunning else { return }
    let before = Moment.now
    ends += 1
    self.process = nil
    history.append(.server(.killed))
    process.send(SIGKILL)
    await process.end()
    observer?.serverCrashed(after: before)
    await Pause.lasting(pause)
    try await restart()
  }

  /// Starts another process; a server that shares its store retries until it can reach the store.
  private func restart() async throws {
    let deadline = Moment.now.advanced(by: files.sharing == nil ? .zero : Self.patience)
    while true {
      do {
        return try await start()
      } catch {
        guard Moment.now < deadline, !isStopping else { throw error }
        await Pause.lasting(.milliseconds(300))
      }
    }
  }

  func send(_ signal: Int32) { process?.send(signal) }

  /// Notes for the observer that clients may have lost the server although it did not end.
  func noteChange(since moment: Moment) { observer?.serverCrashed(after: moment) }

  /// Restarts a process that has ended on its own.
  private func noteEnd(of process: ChildProcess, _ status: Int32) async {
    guard self.process === process, !isStopping else { return }
    self.process = nil
    ends += 1
    history.append(.server(.died))
    observer?.serverCrashed(after: .now)
    recovery = Task { try await self.restart() }
    _ = await recovery?.result
  }

  /// Limits the size of the server's files for a time, as a full disk does.
  func fillDisk(leaving bytes: UInt64, lasting duration: Duration) async {
    guard let process, process.isRunning else { return }
    let limit = FileSizeLimit.longestFile(in: files.data) + bytes
    guard FileSizeLimit.set(limit, of: process.id) else { return }
    await Pause.lasting(duration)
    if process.isRunning { _ = FileSizeLimit.set(nil, of: process.id) }
  }

  /// Waits until a server that is being restarted runs again.
  func recover() async throws {
    // Whatever the outcome of that attempt, another one follows.
    _ = await recovery?.result
    if process == nil { try await restart() }
  }

  /// Stops the server as its operator would, and returns its status.
  func stop() async -> Int32 {
    isStopping = true
    guard let process else { return 0 }
    process.send(SIGTERM)
    return await process.end()
  }
}
