import BlogTUI
import DurableFiles
import Foundation

/// Writes reports of problems: what the program is, where it runs, and what it shows, without secrets.
@MainActor
struct Reporter {
  private static let name = "report"
  /// The largest number of reports that are kept in the state directory.
  private static let limit = 1_000

  /// The paths of the program.
  let paths: ProgramPaths
  /// Secrets that the expressions for them might not recognize.
  var known: [String] = []

  /// Writes a report on a program that is running on a screen.
  ///
  /// - Parameters:
  ///   - model: What is on the screen.
  ///   - recording: The recording of the last minutes.
  ///   - wire: The events on the wire that the inspector does not have.
  ///   - file: The file, which must not exist; if empty, a new one in the state directory.
  /// - Returns: The full path of the file.
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

  /// Writes a report without a program on a screen.
  ///
  /// - Parameters:
  ///   - file: The file, which must not exist; if nil, a new one in the state directory.
  ///   - database: What is known of the connection to a database elsewhere.
  /// - Returns: The full path of the file.
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
      do {
        try PrivateDirectory.prepare(paths.state)
      } catch {
        throw CommandFailure(error)
      }
      for number in 1...Self.limit {
        let path = "\(paths.state)/\(Self.name)\(number == 1 ? "" : "-\(number)").txt"
        if try create(path, report) { return path }
      }
      throw CommandFailure(
        .conflict,
        description: "there are \(Self.limit) reports in \(paths.state); remove some"
      )
    }
    let path = ProgramPaths.full(file)
    guard try create(path, report) else {
      throw CommandFailure(
        .conflict,
        description: "\(path) exists; remove it, or choose another name"
      )
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
