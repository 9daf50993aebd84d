import Foundation
import TestSupport
import Testing

/// A home for one test: directories, environment, processes; everything ends with it.
final class Sandbox {
  let directory: String
  let environment: [String: String]
  private let folder: TemporaryDirectory
  private var processes: [Spawned] = []
  /// The number of terminals that were opened.
  var terminalCount = 0

  init() throws {
    folder = try TemporaryDirectory()
    directory = folder.path
    environment = [
      "HOME": directory,
      "XDG_DATA_HOME": directory + "/data",
      "XDG_STATE_HOME": directory + "/state",
      "XDG_RUNTIME_DIR": directory + "/run",
      // What a program leaves behind goes with the sandbox; the paths of sockets in it are short.
      "TMPDIR": directory,
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
      "LANG": "C.UTF-8",
      "LC_ALL": "C.UTF-8",
      "TZ": "UTC",
      "TERM": "tmux-256color",
    ]
    mkdir(directory + "/run", 0o700)
  }

  deinit {
    // Before the directory is removed with the folder.
    if terminalCount > 0 { _ = try? tmux(["kill-server"]) }
    for process in processes { process.terminate() }
    // Most tests leave no server of the usual data, whose record this is.
    if access(directory + "/data/hearth/server", F_OK) == 0 { _ = try? hearth("stop") }
  }

  /// The program under test, built in the tests' directory, or the one that `HEARTH_PROGRAM` names.
  static let program =
    ProcessInfo.processInfo.environment["HEARTH_PROGRAM"] ?? built("hearth")

  /// The path of a program built in the tests' directory.
  static func built(_ name: String) -> String {
    let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    var folder = tests.deletingLastPathComponent()
    while folder.path != "/" {
      let candidate = folder.appendingPathComponent(name).path
      var isDirectory: ObjCBool = false
      if FileManager.default.fileExists(atPath: candidate, isDirectory: &isDirectory),
        !isDirectory.boolValue
      {
        return candidate
      }
      folder = folder.deletingLastPathComponent()
    }
    return name
  }

  /// The root of the package.
  static let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

  /// Rules that allow everything.
  static let openRules = #"{"rules":{".read":true,".write":true}}"#

  struct Outcome {
    let status: Int32
    let output: String
    let errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  /// Runs the program to completion.
  @discardableResult
  func hearth(_ arguments: String..., input: String? = nil) throws -> Outcome {
    try run(arguments, input: input)
  }

  /// Runs the program, and expects that it succeeds.
  @discardableResult
  func succeed(
    _ arguments: String...,
    input: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    let outcome = try run(arguments, input: input)
    let said = outcome.output + outcome.errors
    #expect(outcome.status == 0, "\(said)", sourceLocation: sourceLocation)
    return outcome
  }

  /// Runs the program, and expects that it refuses with a status and a text.
  func refuse(
    _ arguments: String...,
    input: String? = nil,
    status: Int32 = 2,
    says text: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let outcome = try run(arguments, input: input)
    #expect(outcome.status == status, "\(arguments)", sourceLocation: sourceLocation)
    #expect(outcome.errors.contains(text), "\(outcome.errors)", sourceLocation: sourceLocation)
  }

  @discardableResult
  func run(
    _ arguments: [String],
    of program: String = Sandbox.program,
    input: String? = nil,
    environment: [String: String]? = nil
  ) throws -> Outcome {
    // Files rather than pipes: a server that the program leaves behind must not keep the test
    // waiting.
    let name = directory + "/" + UUID().uuidString
    try (input ?? "").write(toFile: name + ".in", atomically: false, encoding: .utf8)
    let process = try Spawned(
      program,
      arguments,
      environment: environment ?? self.environment,
      input: name + ".in",
      output: name + ".out",
      errors: name + ".err"
    )
    let outcome = Outcome(
      status: process.wait(),
      output: try String(contentsOfFile: name + ".out", encoding: .utf8),
      errors: try String(contentsOfFile: name + ".err", encoding: .utf8)
    )
    // An expectation that fails shows the expression without its value.
    if outcome.status != 0 {
      print("\(arguments.joined(separator: " ")): status \(outcome.status), \(outcome.errors)")
    }
    return outcome
  }

  /// Starts the program without waiting for it; it ends with the sandbox at the latest.
  func start(_ arguments: String..., output: String = "/dev/null") throws -> Spawned {
    try start(arguments, output: output)
  }

  /// Starts a program without waiting for it; it ends with the sandbox at the latest.
  func start(
    _ arguments: [String],
    of program: String = Sandbox.program,
    output: String = "/dev/null",
    errors: String = "/dev/null"
  ) throws -> Spawned {
    let process = try Spawned(
      program,
      arguments,
      environment: environment,
      output: output,
      errors: errors
    )
    processes.append(process)
    return process
  }

  /// Writes a file, and returns its path.
  @discardableResult
  func write(_ text: String, to name: String) throws -> String {
    let path = directory + "/" + name
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  /// Writes a post, and returns its ID.
  @discardableResult
  func post(_ title: String, _ body: String = "text", by user: String? = nil) throws -> String {
    let user = user.map { ["--user", $0] } ?? []
    return try #require(run(["post", "--title", title, "--body", body] + user).lines.first)
  }

  /// Imports posts of bob's with these titles, the oldest first.
  func importPosts(_ titles: [String], _ options: String...) throws {
    let posts = titles.enumerated().map { number, title in
      "\"-Nj\(1_000 + number)AAAAAAAAAAAAA\":"
        + "{\"uid\":\"bob\",\"author\":\"bob\",\"title\":\"\(title)\",\"body\":\"text\"}"
    }
    let json = "{\"posts\":{\(posts.joined(separator: ","))}}"
    let outcome = try run(["import", "-"] + options, input: json)
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  /// Makes an account at a database, as whose user commands run from then on.
  func signUp(_ name: String, at url: String, password: String = "correct horse") throws {
    let outcome = try run(
      [
        "sign-up", "--email", "\(name)@example.org", "--name", name, "--password-stdin",
        "--database", url,
      ],
      input: password + "\n"
    )
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output == "signed in as \(name)\n")
  }

  /// Whether a draft stored on disk contains this text.
  func keeps(_ draft: String) throws -> Bool {
    let names = try FileManager.default.subpathsOfDirectory(atPath: directory)
    return names.contains { name in
      guard name.contains("drafts-"), name.hasSuffix(".json") else { return false }
      // The file is replaced as a whole, and may vanish between the listing and this read.
      let text = try? String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
      return text?.contains(draft) == true
    }
  }

  /// The process ID of the local server, or nil when none is running.
  func serverProcess() throws -> pid_t? {
    let facts = try object(hearth("info", "--json").output)
    let text = facts["server"] as? String ?? ""
    return text.hasPrefix("process ") ? pid_t(text.dropFirst(8)) : nil
  }
}

/// Parses a line of JSON as an object.
func object(_ text: String) throws -> [String: Any] {
  try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
}

/// Waits for a condition, checking it repeatedly until a deadline.
func waitUntil(
  _ what: String,
  within seconds: Double = 60,
  _ condition: () throws -> Bool
) throws {
  let deadline = Date().addingTimeInterval(seconds)
  while Date() < deadline {
    if try condition() { return }
    usleep(20_000)
  }
  Issue.record("waited \(seconds) s in vain: \(what)")
  throw Waited(what: what)
}

struct Waited: Error {
  let what: String
}
