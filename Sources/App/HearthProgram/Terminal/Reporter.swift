import ArgumentParser
import BlogTUI
import DurableFiles
import Foundation
import RealtimeCore

/// Writes reports of problems: what the program is, where it runs, and what it shows, without secrets.
@MainActor
struct Reporter {
  private static let name = "report"
  /// The largest number of reports that are kept in the state directory.
  private static let limit = 1_000

  let paths: ProgramPaths
  /// Secrets that the expressions for them might not recognize.
  var known: [String] = []

  /// Writes a report on a program that is running on a screen, and returns the file's full path.
  ///
  /// The recording is that of the last minutes; `wire` is what the inspector does not have. The
  /// file must not exist; without a name, it is a new one in the state directory.
  func report(
    on model: Model,
    recording: String,
    wire: [WireEvent],
    to file: String
  ) -> Result<String, EnvironmentError> {
    do {
      let secrets = try Secrets(known: known)
      var report = begun(model.configuration, size: model.size, secrets)
      report.add("screen", secrets.leftOut(of: view(model).text()))
      report.add("wire", secrets.leftOut(of: model.inspector.recentText(with: wire)))
      report.end(withRecording: secrets.leftOut(ofJSONLines: recording))
      return .success(try write(report, to: file))
    } catch {
      return .failure(EnvironmentError("\(CommandFailure(error).description)."))
    }
  }

  /// Writes a report without a program on a screen, and returns the full path of the file.
  ///
  /// The file must not exist; nil for a new one in the state directory. The finding is what is
  /// known of the connection to a database elsewhere.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be written.
  func report(to file: String?, database: Doctor.Finding?) throws -> String {
    let configuration = ConfigurationFiles(path: nil).read()
    let report = begun(
      configuration,
      size: Self.terminalSize,
      database: database,
      try Secrets(known: known)
    )
    return try write(report, to: file ?? "")
  }

  private func begun(
    _ configuration: Configuration,
    size: Size?,
    database: Doctor.Finding? = nil,
    _ secrets: Secrets
  ) -> Report {
    var report = Report()
    func add(_ title: String, _ lines: [String]) {
      report.add(title, secrets.leftOut(of: lines.joined(separator: "\n")))
    }
    add("versions", DebugInformation.versions)
    let encoding = NcursesTerminal.encoding()
    let terminal = [
      "size: \(size.map { "\($0.width)x\($0.height)" } ?? "no terminal")",
      "text: \(encoding.name)",
    ]
    add("terminal", terminal + DebugInformation.terminal(ProcessInfo.processInfo.environment))
    let settings = ConfigurationText.text(of: configuration).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map(String.init)
    add("settings", settings + configuration.allProblems.map { "problem: \($0)" })
    let findings = Doctor.findings(at: .success(paths), port: Doctor.defaultPort)
    add("doctor", (findings + [database].compactMap(\.self)).map(\.line))
    return report
  }

  private static var terminalSize: Size? {
    var size = winsize()
    for descriptor in [STDOUT_FILENO, STDIN_FILENO, STDERR_FILENO]
    where ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 {
      return Size(width: Int(size.ws_col), height: Int(size.ws_row))
    }
    return nil
  }

  /// Writes a file that only its owner may read; one that exists is left alone.
  private func write(_ report: Report, to file: String) throws(CommandFailure) -> String {
    guard !file.isEmpty else {
      try PrivateDirectory.prepare(paths.state)
      for number in 1...Self.limit {
        let path = "\(paths.state)/\(Self.name)\(number == 1 ? "" : "-\(number)").txt"
        if try create(path, report) { return path }
      }
      throw CommandFailure(
        .conflict,
        "there are \(Self.limit) reports in \(paths.state); remove some"
      )
    }
    let path = ProgramPaths.full(file)
    guard try create(path, report) else {
      throw CommandFailure(.conflict, "\(path) exists; remove it, or choose another name")
    }
    return path
  }

  /// Creates and writes the file; false if something has its name already.
  private func create(_ path: String, _ report: Report) throws(CommandFailure) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    var code = errno
    if descriptor < 0, code == EEXIST { return false }
    if descriptor >= 0 {
      code = PrivateFile.writeAll(Array(report.text.utf8), to: descriptor)
      close(descriptor)
      if code == 0 { return true }
      unlink(path)
    }
    throw .unwritable(path, code, .failed)
  }
}

/// Leaves secrets out of texts that people pass on.
struct Secrets {
  /// What stands in place of a secret.
  static let mark = "(left out)"

  /// Names of secrets, or their ends; more letters, digits and dashes may follow.
  private static let names =
    "(?:token|passw(?:or)?d|passphrase|secret|credentials?|api[_-]?key|private[_-]?key"
    + "|access[_-]?key|(?<![a-z])(?:auth|cred|pwd)(?![a-z])|cookie|session[_-]?id)"
    + "[a-z0-9_-]{0,20}"
  /// A value: in quotation marks, before each of which there may be backslashes, or a word.
  ///
  /// The quantifiers have limits, so that the time is linear in the length of the text.
  private static let value =
    #"(?:(?<mark>\\{0,9})"(?:(?!(?<!\\)\k<mark>").){0,4000}+(?:\k<mark>"|[^\s"]*)"#
    + #"|'[^']{0,4000}+'?|[^\s&;,"'<>{}\[\]\\]++)"#

  /// Expressions and what stands in place of their matches.
  private static let rules: [(pattern: String, template: String)] = [
    (
      #"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[a-z0-9+/=:,\s\\-]{0,20000}+"#
        + "(?:END [A-Z ]{0,40}PRIVATE KEY-----)?",
      mark
    ),
    // A password may contain @ and /; only a colon before them tells it from a path.
    (
      #"(://)(?:[^/\s"'<>]{0,300}|[^/\s:@"'<>]{0,100}:[^\s"'<>]{0,300})@"#,
      "$1\(mark)@"
    ),
    (#"((?:authorization|cookie)["']?\s{0,9}:\s{0,9}["']?)[^\r\n"']+"#, "$1\(mark)"),
    (#"\b(bearer\s{1,9})[^\s"',;\\]+"#, "$1\(mark)"),
    // In an address or a line of variables; a name may be in quotation marks, as in JSON.
    (#"(\#(names)\\{0,9}["']?\s{0,9}[=:]\s{0,9})\#(value)"#, "$1\(mark)"),
    (#"([?&](?:key|code|sig|signature)=)[^&\s"'<>]+"#, "$1\(mark)"),
    (#"(--?\#(names)\s{1,9})\#(value)"#, "$1\(mark)"),
    (#"\beyJ[a-z0-9_-]{5,}+(?:\.[a-z0-9_-]*+){1,4}"#, mark),
    (#"\bAIza[a-z0-9_-]{20,}"#, mark),
  ]

  /// Words without which no expression matches, to save looking for them in most texts.
  private static let signs = [
    "://", "begin", "authorization", "cookie", "bearer", "token", "pass", "secret", "cred", "key",
    "auth", "pwd", "session", "code=", "sig", "eyj", "aiza",
  ]

  private let expressions: [(expression: NSRegularExpression, template: String)]
  private let known: [String]

  /// Compiles the expressions.
  ///
  /// - Throws: An error of `NSRegularExpression`, which a test excludes.
  init(known: [String] = []) throws {
    self.known = known.filter { !$0.isEmpty }
    expressions = try Self.rules.map {
      (try NSRegularExpression(pattern: $0.pattern, options: .caseInsensitive), $0.template)
    }
  }

  func leftOut(of text: String) -> String {
    var text = text
    for secret in known { text = text.replacing(secret, with: Self.mark) }
    let folded = text.lowercased()
    guard Self.signs.contains(where: folded.contains) else { return text }
    for (expression, template) in expressions {
      let range = NSRange(text.startIndex..., in: text)
      text = expression.stringByReplacingMatches(in: text, range: range, withTemplate: template)
    }
    return text
  }

  /// Lines of JSON without secrets; they remain JSON.
  func leftOut(ofJSONLines text: String) -> String {
    text.split(separator: "\n").map { line in
      (try? JSONParser.parse(Array(line.utf8))).map { leftOut(of: $0).text }
        ?? leftOut(of: String(line))
    }.map { $0 + "\n" }.joined()
  }

  private func leftOut(of json: JSONValue) -> JSONValue {
    switch json {
    case .string(let text): .string(leftOut(of: text))
    case .array(let elements): .array(elements.map { leftOut(of: $0) })
    case .object(let members):
      .object(
        members.map { member in
          guard case .string(let text) = member.value else {
            return JSONMember(member.name, leftOut(of: member.value))
          }
          // The name decides as well, as it does in front of an equals sign.
          let example = "\(member.name)=x"
          let isSecret = leftOut(of: example) != example
          return JSONMember(member.name, .string(isSecret ? Self.mark : leftOut(of: text)))
        }
      )
    case .null, .bool, .integer, .double: json
    }
  }
}

struct ReportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write a report of a problem to a file: versions, terminal, settings, doctor.",
    discussion: """
      Passwords, tokens, keys and the credentials in addresses are left out. In the app, :report also \
      writes what the screen shows, what went over the wire, and a recording of the last minutes, \
      which "hearth replay" plays. Only you may read the file; one that exists is never replaced.
      """
  )

  @Option(
    help: "Write it to this file instead of a new one in the state directory.".taking("file"),
    completion: .file()
  )
  var output: String?

  @OptionGroup var options: CommonOptions

  @MainActor
  func run() async throws {
    let reporter = Reporter(paths: try options.paths(), known: [options.apiKey].compactMap(\.self))
    let database = options.database == nil ? nil : await Doctor.database(options)
    let path = try reporter.report(to: output, database: database)
    options.confirm(path, json: .object(("file", .string(path))))
  }
}
