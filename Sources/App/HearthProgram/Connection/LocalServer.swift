import DurableFiles
import Foundation
import RealtimeCore
import RealtimeServer

/// The server that a user's terminals share: the first starts it, the others find it.
package struct LocalServer: Sendable {
  let paths: ProgramPaths
  private let ownsSocketDirectory: Bool
  private let program: String

  /// How long a server may take to start, in milliseconds.
  private static let startTime: Int32 = 20_000
  /// How often to try starting a server.
  private static let attempts = 3
  /// How long to wait for a process that uses the data, in milliseconds.
  package static let patience = 5_000
  /// How long a server keeps running after its last terminal has left, in seconds.
  private static let idleTime = 5

  package init(
    _ paths: ProgramPaths,
    ownsSocketDirectory: Bool,
    program: String = "/proc/self/exe"
  ) {
    self.paths = paths
    self.ownsSocketDirectory = ownsSocketDirectory
    self.program = program
  }

  /// Starts the server unless one is running, and returns when it accepts connections.
  ///
  /// Patience is how long to wait for a process that uses the data, in milliseconds.
  ///
  /// - Throws: ``CommandFailure`` with the server's own message when it cannot start.
  package func ensureRunning(patience: Int = patience) throws(CommandFailure) {
    let socket = paths.socket
    switch UnixSocketProbe.look(at: socket) {
    case .process: return
    case .notASocket:
      throw CommandFailure(
        .usage,
        "\(socket) exists and is not a socket; remove it or choose another with --socket"
      )
    case .unusable(let reason):
      throw CommandFailure(
        .usage,
        "the socket \(socket) cannot be used: \(reason); choose another with --socket"
      )
    case .nobody: try start(patience: patience)
    }
  }

  /// How long a terminal waits, in milliseconds, before it says what uses the data.
  package static let shortPatience = 500

  /// What uses the data without being a server that answers, such as "the data is in use by hearth
  /// import (process 12), 42 %"; nil if nothing does.
  func obstacle() -> String? {
    guard let holder, !isReady else { return nil }
    return "the data is in use by \(Self.name(of: holder))"
  }

  /// The process that uses the data, which a database that keeps nothing does not need.
  private var holder: pid_t? { paths.isEphemeral ? nil : Storage.holder(of: paths.data) }

  /// Whether a server answers at the socket.
  private var isReady: Bool {
    if case .process = UnixSocketProbe.look(at: paths.socket) { true } else { false }
  }

  /// A process in words, with the command that it runs.
  private static func name(of process: pid_t) -> String {
    let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
    var words = line.split(separator: 0).prefix(2).map { String(decoding: $0, as: UTF8.self) }
    guard let program = words.first else { return "process \(process)" }
    words[0] = FilePath.name(of: program)
    // Only an import reads its file from the beginning to the end.
    let files = words.last == "import" ? line.split(separator: 0).dropFirst(2) : []
    let share = files.lazy.compactMap { name in
      Self.share(ofFile: String(decoding: name, as: UTF8.self), readBy: process)
    }.first
    return words.filter { !$0.hasPrefix("-") }.joined(separator: " ") + " (process \(process))"
      + (share.map { ", \($0) %" } ?? "")
  }

  /// How much of a file a process has read, in percent; nil unless it is reading it.
  ///
  /// The system knows, so that a command that reads a file need not tell anybody.
  private static func share(ofFile name: String, readBy process: pid_t) -> Int? {
    let files = FileManager.default
    let system = "/proc/\(process)"
    guard let folder = try? files.destinationOfSymbolicLink(atPath: system + "/cwd"),
      let path = realpath(name.hasPrefix("/") ? name : folder + "/" + name, nil)
    else { return nil }
    defer { free(path) }
    let target = String(cString: path)
    var status = stat()
    guard stat(target, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0
    else { return nil }
    for number in (try? files.contentsOfDirectory(atPath: system + "/fd")) ?? [] {
      guard (try? files.destinationOfSymbolicLink(atPath: "\(system)/fd/\(number)")) == target,
        let facts = files.contents(atPath: "\(system)/fdinfo/\(number)"),
        let line = String(decoding: facts, as: UTF8.self).split(separator: "\n").first,
        let position = line.split(separator: "\t").last.flatMap({ Int($0) })
      else { continue }
      return min(99, position * 100 / Int(status.st_size))
    }
    return nil
  }

  private func start(patience: Int) throws(CommandFailure) {
    if ownsSocketDirectory { try PrivateDirectory.prepare(paths.socketDirectory) }
    for attempt in 1...Self.attempts {
      close(takeTurn())
      // Another terminal has just started one, one is shutting down, or a command uses the data. A
      // further process would only find the same.
      if try waitForHolder(patience) { return }
      let turn = takeTurn()
      defer { close(turn) }
      if isReady { return }
      guard let failure = try startOnce() else { return }
      // Another terminal was faster, or the one started here was killed.
      if waitForAnother() { return }
      if attempt == Self.attempts { throw failure }
    }
  }

  /// Starts a server; returns nil once it is ready, or why it may be ready only after another start.
  private func startOnce() throws(CommandFailure) -> CommandFailure? {
    let output = try spawn()
    defer { close(output) }
    guard let line = try readLine(from: output) else { return failure("stopped while starting") }
    guard let answer = try? JSONParser.parse(line) else { throw failure("sent an unknown answer") }
    guard let message = answer["error"]?.string else { return nil }
    let status = answer["status"]?.integer.flatMap { ExitStatus(rawValue: Int32($0)) }
    let reason = CommandFailure(status ?? .failed, message)
    if answer["locked"]?.bool == true { return reason }
    throw reason
  }

  private func failure(_ what: String) -> CommandFailure {
    CommandFailure(.failed, "the local server \(what); its log is \(paths.log)")
  }

  /// Waits while a process uses the data, and returns whether it is a server that is ready.
  private func waitForHolder(_ patience: Int) throws(CommandFailure) -> Bool {
    var waited = 0
    while let holder {
      if isReady { return true }
      guard waited < patience else {
        throw CommandFailure(
          .failed,
          "\(paths.data) is in use by \(Self.name(of: holder)); wait for it, or stop it"
        )
      }
      poll(nil, 0, 20)
      waited += 20
    }
    return false
  }

  /// Waits while another terminal starts a server, unless that takes too long.
  ///
  /// A hundred terminals that start a server each keep the one that wins from getting ready. The
  /// returned descriptor keeps others waiting until it is closed; it is invalid if there is none.
  private func takeTurn() -> Int32 {
    let directory = open(paths.socketDirectory, O_RDONLY | O_CLOEXEC)
    var waited: Int32 = 0
    while flock(directory, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK, waited < Self.startTime,
      !isReady
    {
      poll(nil, 0, 20)
      waited += 20
    }
    return directory
  }

  /// Waits for a server that another terminal has started at the same moment.
  private func waitForAnother() -> Bool {
    for _ in 0..<25 {
      if isReady { return true }
      poll(nil, 0, 20)
    }
    return false
  }

  /// Runs the program as a server in a new session, and returns the end of its output pipe.
  private func spawn() throws(CommandFailure) -> Int32 {
    let place = ["--socket", paths.socket, "--data-dir", paths.data]
    var words = ["hearth", "serve", "--background", "--idle-exit", String(Self.idleTime)] + place
    // What is kept nowhere needs no place for a log either.
    if !paths.isEphemeral || (try? LogFile(paths.log)) != nil { words += ["--log", paths.log] }
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw cannotStart(String(cString: strerror(errno))) }
    defer { close(ends[1]) }
    // The server outlives this process: what it inherited, such as the terminal, would stay open.
    let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    for descriptor in (descriptors ?? []).compactMap({ Int32($0) }) where descriptor > STDERR_FILENO
    {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let started = OtherProgram.run(
      words + (paths.isEphemeral ? ["--ephemeral"] : []),
      at: program,
      with: .server(output: ends[1])
    )
    guard case .failure(let failure) = started else { return ends[0] }
    close(ends[0])
    throw cannotStart(failure.reason)
  }

  private func cannotStart(_ reason: String) -> CommandFailure {
    CommandFailure(.failed, "the local server cannot be started: \(reason)")
  }

  /// The line with which a server says that it is ready, or why not; nil if it ends before.
  private func readLine(from descriptor: Int32) throws(CommandFailure) -> String? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while bytes.count < 65_536 {
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&request, 1, Self.startTime)
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { throw failure("did not become ready") }
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      bytes.append(contentsOf: buffer[..<count])
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
        return String(decoding: bytes[..<end], as: UTF8.self)
      }
    }
    return nil
  }
}

/// The rules for terminals at the private socket, which otherwise could do anything.
///
/// A star is one update that adds to a post's counts without reading the post. If two terminals of
/// one user press the same key, only a rule can keep the second update from counting again: a count
/// changes by one exactly when the user's star appears or disappears, in the post and in its copy
/// alike. A comment on a post that is gone is refused, since nothing would ever show or remove it,
/// and so is one on a post of somebody who blocks the user, as the screens say. Everything else is
/// allowed.
enum LocalRules {
  private static let source = """
    {"rules": {
      ".read": true,
      ".write": true,
      "posts": {"$post": {".validate": "\(star(copiedTo: copy))"}},
      "user-posts": {"$uid": {"$post": {".validate": "\(star(copiedTo: post))"}}},
      "post-comments": {"$post": {"$comment": {".validate": "\(comment)"}}}
    }}
    """

  /// The condition for a write that changes a star on a post or on its copy, given the place of the
  /// other one.
  ///
  /// The first part accepts every write that does not affect stars. The second refuses stars on
  /// anything that is not a post, such as a deleted one, and a star in one place only: somebody who
  /// stars and unstars from several terminals at once would leave it there.
  private static func star(copiedTo other: String) -> String {
    """
    (newData.child('stars').hasChild(auth.uid) === data.child('stars').hasChild(auth.uid) \
    && newData.child('starCount').val() === data.child('starCount').val()) \
    || (newData.hasChild('uid') && newData.child('starCount').val() === \
    (data.child('starCount').exists() ? data.child('starCount').val() : 0) \
    + (newData.child('stars').hasChild(auth.uid) ? 1 : 0) \
    - (data.child('stars').hasChild(auth.uid) ? 1 : 0) \
    && (!\(other).exists() || \(other).child('stars').hasChild(auth.uid) \
    === newData.child('stars').hasChild(auth.uid)))
    """
  }

  private static let copy = """
    newData.parent().parent().child('user-posts').child(newData.child('uid').val()).child($post)
    """

  private static let post = "newData.parent().parent().parent().child('posts').child($post)"

  private static let comment = """
    data.exists() || \(post).child('uid').isString() \
    && !root.child('blocked').child(\(post).child('uid').val()).hasChild(auth.uid)
    """

  static func compiled() throws(RulesError) -> RuleSet { try RuleSet(source: source) }
}
