import ArgumentParser
import BlogModel
import BlogTUI
import DurableFiles
import Foundation
import RealtimeCore
import RealtimeDatabase

struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check the terminal, files, disk, server and port, and say what to do.",
    discussion: """
      Changes nothing and starts nothing. Exit status: 0 when hearth can run, 1 when something \
      keeps it from running; warnings do not count.
      """
  )

  @Option(help: "The port that hearth serve --port would use.".taking("n"))
  var port = defaultPort

  @OptionGroup var options: CommonOptions

  /// The port that `hearth serve` uses unless told otherwise.
  static let defaultPort = 9_000

  /// What a check has found about its subject.
  fileprivate typealias Verdict = (grade: Finding.Grade, text: String)

  struct Finding: Equatable {
    enum Grade: String {
      case fine = "ok"
      case warning
      case fault
    }

    let subject: String
    let grade: Grade
    let text: String

    fileprivate init(_ subject: String, _ verdict: Verdict) {
      self.subject = subject
      (grade, text) = verdict
    }

    /// The finding for people.
    var line: String {
      grade.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0)
        + subject.padding(toLength: 15, withPad: " ", startingAt: 0) + text
    }
  }

  /// The free bytes below which a disk counts as full, and below which it counts as nearly full.
  private static let diskSpace = (full: Int64(16_000_000), low: Int64(200_000_000))

  func validate() throws {
    guard (1...65_535).contains(port) else {
      throw ValidationError("--port is a number from 1 to 65535")
    }
  }

  @MainActor
  func run() async throws {
    let paths = Result { () throws(CommandFailure) in try options.paths() }
    var findings = Self.findings(at: paths, port: port)
    if options.database != nil { findings.append(await Self.database(options)) }
    for finding in findings {
      options.answer(
        finding.line,
        json: .object(
          ("subject", .string(finding.subject)),
          ("grade", .string(finding.grade.rawValue)),
          ("text", .string(finding.text))
        )
      )
    }
    if findings.contains(where: { $0.grade == .fault }) { throw ExitStatus.failed.exitCode }
  }

  /// What can be found without asking a database, in the order in which it is printed.
  @MainActor
  static func findings(at paths: Result<ProgramPaths, CommandFailure>, port: Int) -> [Finding] {
    var findings = [
      Finding("version", (.fine, "hearth \(SDKVersion.current)")),
      Finding("terminal", terminal()), Finding("text", text()), Finding("links", links()),
    ]
    switch paths {
    case .success(let paths):
      findings += [
        Finding("emoji", emoji(TerminalMemory(directory: paths.state))),
        Finding("data", directory(at: paths.data)), Finding("state", directory(at: paths.state)),
        Finding("disk", disk(at: paths.data)), Finding("local server", server(at: paths)),
      ]
    case .failure(let failure):
      findings.append(Finding("home", (.fault, failure.description)))
    }
    return findings + [
      Finding("configuration", settings()), Finding("port \(port)", listening(at: port)),
      Finding("tmux", tmux()),
    ]
  }

  @MainActor
  private static func terminal() -> Verdict {
    switch NcursesTerminal.problem() {
    case nil:
      let type = ProcessInfo.processInfo.environment["TERM"] ?? ""
      return (.fine, "\(type) can show screens")
    case .inputIsNoTerminal, .outputIsNoTerminal:
      return (
        .warning,
        "this is not a terminal, so screens were not checked; run \"hearth doctor\" in one"
      )
    case .some(let problem): return (.fault, "\(problem)")
    }
  }

  @MainActor
  private static func text() -> Verdict {
    let encoding = NcursesTerminal.encoding()
    guard !encoding.isUnicode else { return (.fine, encoding.name) }
    return (
      .warning, "the locale uses \(encoding.name), so screens show ASCII only; set LANG=C.UTF-8"
    )
  }

  @MainActor
  private static func links() -> Verdict {
    let text =
      TerminalAbilities.opensLinks()
      ? "the terminal can open those of posts"
      : "the terminal is not known to open links; o opens those of a post"
    return (.fine, text)
  }

  private static func emoji(_ memory: TerminalMemory) -> Verdict {
    let text =
      switch memory.joinsEmoji {
      case true?: "the terminal draws families and skin tones"
      case false?: "the terminal does not join emoji; the first one of a family stands for it"
      case nil: "the terminal has not been asked yet; the first screen asks it"
      }
    return (.fine, text)
  }

  private static func directory(at path: String) -> Verdict {
    let advice = "name another with --data-dir"
    var information = stat()
    guard stat(path, &information) == 0 else {
      if lstat(path, &information) == 0 {
        return (.fault, "\(path) is a link that leads nowhere; \(advice)")
      }
      let above = nearestAncestor(of: path)
      return access(above, W_OK | X_OK) == 0
        ? (.fine, "\(path) will be created")
        : (.fault, "\(path) cannot be created, since \(above) is not writable; \(advice)")
    }
    if information.st_mode & S_IFMT != S_IFDIR {
      return (.fault, "\(path) is not a directory; \(advice)")
    }
    if information.st_uid != geteuid() {
      return (.fault, "\(path) belongs to another user; \(advice)")
    }
    if access(path, R_OK | W_OK | X_OK) != 0 {
      return (.fault, "\(path) is not writable; \"chmod 700\" it, or \(advice)")
    }
    if information.st_mode & 0o077 != 0 {
      return (.warning, "other users may enter \(path); \"chmod 700\" it")
    }
    return (.fine, path)
  }

  private static func nearestAncestor(of path: String) -> String {
    var path = path
    while path != "/", access(path, F_OK) != 0 {
      path = FilePath.directory(of: path)
    }
    return path
  }

  private static func disk(at path: String) -> Verdict {
    var information = statvfs()
    guard statvfs(nearestAncestor(of: path), &information) == 0 else {
      return (.warning, "its free space is unknown: \(String(cString: strerror(errno)))")
    }
    let free = Int64(information.f_bavail) * Int64(information.f_frsize)
    let text = "\(free / 1_000_000) MB free"
    if free < diskSpace.full {
      return (.fault, "\(text): it is almost full, and writes will be refused; make room")
    }
    return free < diskSpace.low
      ? (.warning, "\(text): writes are refused when it is full; make room")
      : (.fine, text)
  }

  private static func server(at paths: ProgramPaths) -> Verdict {
    let socket = paths.socket
    switch UnixSocketProbe.look(at: socket) {
    case .process(let process):
      return (.fine, "process \(process) answers at \(socket)")
    case .nobody:
      if let process = paths.server {
        return (
          .warning, "process \(process) runs without its socket \(socket), which it makes anew"
        )
      }
      return (.fine, "not running; the first terminal starts it")
    case .notASocket:
      return (.fault, "\(socket) is not a socket; move it away, or name another with --socket")
    case .unusable(let reason):
      return (.fault, "\(socket): \(reason); name another with --socket")
    }
  }

  /// How long a database may take to answer, in seconds.
  private static let patience = 5.0

  /// Checks whether the database that the options name answers.
  static func database(_ options: CommonOptions) async -> Finding {
    Finding("database", await reach(options))
  }

  private static func reach(_ options: CommonOptions) async -> Verdict {
    let open: Database
    do {
      let url = try options.databaseURL()
      var configuration = DatabaseOptions()
      configuration.trustRoots = options.trustRoots
      open = try Database(url: url, options: configuration)
    } catch {
      let advice = "a URL is like https://blog.example.org:9000?ns=hearth"
      return (.fault, "\(CommandFailure(error).description); \(advice)")
    }
    open.callbackQueue = DispatchQueue(label: "hearth.doctor")
    let verdict = await withCheckedContinuation { continuation in
      let answers = Once()
      let finish: @Sendable (Verdict) -> Void = { verdict in
        if answers.isFirst() { continuation.resume(returning: verdict) }
      }
      open.observeConnection { status in
        if status.phase == .connected {
          finish((.fine, "\(status.address) answers"))
        } else if let problem = status.problem {
          finish((.fault, problem.reason + "; " + advice(problem)))
        }
      }
      open.goOnline()
      DispatchQueue.global().asyncAfter(deadline: .now() + patience) {
        let text =
          "no answer within \(patience.formatted()) s; it may hang, or the network may be down"
        finish((.fault, text))
      }
    }
    await open.close()
    return verdict
  }

  private static func advice(_ problem: ConnectionStatus.Problem) -> String {
    switch problem.cause {
    case .network: "check the address and port, and that hearth serve runs there"
    case .refused, .signInRefused: "ask whoever runs it, or sign in with another account"
    case .notADatabaseServer: "check the port"
    case .protocolViolation: "one of the two programs is too old or faulty"
    case .untrustedCertificate: "name its certificate with --ca-file"
    case .wrongHostName: "use the name in its certificate"
    case .certificateOutOfDate: "check the clock of this machine, or have the certificate renewed"
    case .notEncrypted: "write http:// if that is meant"
    case .encryptionFailed: "look at the log of the server"
    case .unusableTrustRoots: "check the file of --ca-file"
    }
  }

  private static func settings() -> Verdict {
    let files = ConfigurationFiles(path: nil)
    let problems = files.read().allProblems
    guard problems.isEmpty else {
      let text = problems.map { "\($0)" }.joined(separator: "; ")
      return (.warning, text)
    }
    return (.fine, files.path)
  }

  private static func listening(at port: Int) -> Verdict {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { if descriptor >= 0 { close(descriptor) } }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    if result == 0 {
      return (.fine, "free for hearth serve --port \(port)")
    }
    let code = errno
    let problem =
      code == EADDRINUSE
      ? "in use; \"ss -ltnp\" shows by which program, and hearth serve --port takes another"
      : "\(String(cString: strerror(code))); hearth serve --port takes another"
    return (.warning, problem)
  }

  private static func tmux() -> Verdict {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let found = path.split(separator: ":").contains { access("\($0)/tmux", X_OK) == 0 }
    return found
      ? (.fine, "found; hearth demo can use it")
      : (.warning, "not found; hearth demo needs --no-tmux without it")
  }
}

struct Info: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Print the version, who you are, and where the database, socket and log are."
  )

  @OptionGroup var options: CommonOptions

  func run() throws {
    let paths = try options.paths()
    let me = try options.author()
    let server = paths.server.map { "process \($0)" } ?? "not running"
    let facts = [
      ("version", SDKVersion.current),
      ("user", me.name),
      ("uid", me.uid),
      ("database", try options.databaseURL()),
      ("data", paths.isEphemeral ? "in memory only" : paths.data),
      ("socket", paths.socket),
      ("server", server),
      ("log", paths.log),
      ("applog", paths.ownLog),
    ]
    if options.json {
      Output.line(.object(facts.map { JSONMember($0.0, .string($0.1)) }))
    } else {
      for (name, value) in facts {
        let padding = String(repeating: " ", count: 10 - name.count)
        Output.line(untrusted: "\(name)\(padding)\(value)")
      }
    }
  }
}
