import BlogTUI
import Foundation

extension Environment {
  /// The environment of a program on a person's terminal.
  ///
  /// - Parameters:
  ///   - paths: The paths of the program.
  ///   - files: The configuration files.
  ///   - drafts: The file in which drafts are stored.
  ///   - history: The file in which commands are stored.
  ///   - report: Called on any thread with a failure that is known only later.
  /// - Returns: The environment without the diagnostics, which belong to a database.
  static func system(
    _ paths: ProgramPaths,
    files: ConfigurationFiles,
    drafts: DraftFile,
    history: CommandHistory,
    report: @escaping @Sendable (String) -> Void
  ) -> Environment {
    var environment = Environment()
    let editor = ExternalEditor(directory: paths.state)
    environment.keep = { drafts.save($0, isDurable: false) }
    environment.edit = { editor.edit($0) }
    environment.editText = { editor.edit(text: $0) }
    environment.openLink = { Browser.open($0, report: report) }
    environment.keepHistory = { history.save($0) }
    environment.keepSetting = { files.keep($1, for: $0) }
    environment.write = { text, name in TextFile.write(text, to: name) }
    return environment
  }
}

/// Files that the user names on the screen.
enum TextFile {
  /// Writes a text to a file, completely or not at all, and returns the file's full path.
  ///
  /// A file that exists is kept, and the new one gets a number, unless it is to be replaced.
  static func write(
    _ text: String,
    to name: String,
    replacing: Bool = false
  ) -> Result<String, EnvironmentError> {
    let expanded = (name as NSString).expandingTildeInPath
    let path =
      expanded.hasPrefix("/")
      ? expanded : FileManager.default.currentDirectoryPath + "/" + expanded
    do {
      let file = try OutputFile(replacing ? path : unused(path))
      try file.write(text)
      try file.finish()
      return .success(file.path)
    } catch {
      return .failure(EnvironmentError("\(CommandFailure(error).description)."))
    }
  }

  /// The path, or the first one with a number before its extension that no file has.
  private static func unused(_ path: String) -> String {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return path }
    let suffix = (path as NSString).pathExtension
    let stem = suffix.isEmpty ? path : (path as NSString).deletingPathExtension
    return (2...).lazy.map { "\(stem)-\($0)" + (suffix.isEmpty ? "" : ".\(suffix)") }
      .first { access($0, F_OK) != 0 } ?? path
  }
}

/// The editor named by the environment, working on a draft in a file: the title, a blank line, the
/// text.
struct ExternalEditor {
  /// The directory of the file while the editor runs.
  let directory: String
  /// The environment variables of the process.
  var environment = ProcessInfo.processInfo.environment

  /// Runs the editor and waits until it ends.
  ///
  /// - Parameter draft: The text typed so far.
  /// - Returns: The contents of the file afterwards, or the reason why the draft is unchanged.
  func edit(_ draft: Draft) -> Result<Draft, EnvironmentError> {
    run(on: Self.text(of: draft)).map { Self.draft(of: $0) }
  }

  /// Runs the editor on a text without a title; the line end that editors add is removed.
  func edit(text: String) -> Result<String, EnvironmentError> {
    run(on: text.isEmpty ? "" : text + "\n").map { edited in
      var edited = edited.replacing("\r\n", with: "\n")[...]
      while edited.hasSuffix("\n") { edited.removeLast() }
      return String(edited)
    }
  }

  private func run(on before: String) -> Result<String, EnvironmentError> {
    let command = [environment["VISUAL"], environment["EDITOR"], "vi"].compactMap(\.self)
      .first { !$0.isEmpty }
    guard let command, let words = CommandWords.split(command) else {
      return .failure(EnvironmentError("VISUAL or EDITOR has an unclosed quote."))
    }
    var path = Array("\(directory)/post-XXXXXX.txt".utf8CString)
    let descriptor = mkstemps(&path, 4)
    guard descriptor >= 0 else {
      let reason = String(cString: strerror(errno))
      return .failure(EnvironmentError("No file for the editor in \(directory): \(reason)."))
    }
    close(descriptor)
    let file = path.withUnsafeBufferPointer { buffer in
      String(decoding: buffer.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    defer { unlink(file) }
    guard (try? Data(before.utf8).write(to: URL(fileURLWithPath: file))) != nil else {
      return .failure(EnvironmentError("\(file) cannot be written."))
    }
    switch OtherProgram.run(words + [file], with: .terminal) {
    case .failure(let failure):
      let advice = "set VISUAL or EDITOR to an editor"
      return .failure(
        EnvironmentError("\(words[0]) cannot be started: \(failure.reason); \(advice).")
      )
    case .success(let status) where status != 0:
      return .failure(
        EnvironmentError("\(words[0]) ended with status \(status): the text is unchanged.")
      )
    case .success:
      guard let data = FileManager.default.contents(atPath: file) else {
        return .failure(
          EnvironmentError("\(words[0]) removed its file: the text is unchanged.")
        )
      }
      return .success(String(decoding: data, as: UTF8.self))
    }
  }

  /// The contents of a draft's file.
  static func text(of draft: Draft) -> String {
    draft.title + "\n\n" + draft.body + (draft.body.hasSuffix("\n") ? "" : "\n")
  }

  /// Parses a draft's file: the first line with text is the title.
  static func draft(of text: String) -> Draft {
    let lines = text.replacing("\r\n", with: "\n")
      .split(separator: "\n", omittingEmptySubsequences: false)
    var rest = lines[...]
    while let first = rest.first, first.allSatisfy(\.isWhitespace), rest.count > 1 {
      rest.removeFirst()
    }
    let title = rest.popFirst().map(String.init) ?? ""
    while let first = rest.first, first.allSatisfy(\.isWhitespace) { rest.removeFirst() }
    while let last = rest.last, last.isEmpty { rest.removeLast() }
    return Draft(title: title, body: rest.joined(separator: "\n"))
  }
}

/// The program that opens links: one named in `BROWSER`, or else the desktop's.
enum Browser {
  /// Opens a web link without a shell; other links are refused.
  ///
  /// - Parameters:
  ///   - link: The link.
  ///   - environment: The environment variables of the process.
  ///   - report: Called on another thread when the program has failed to open the link.
  /// - Returns: Why no program was started, if none was.
  static func open(
    _ link: String,
    environment: [String: String] = ProcessInfo.processInfo.environment,
    report: @escaping @Sendable (String) -> Void = { _ in }
  ) -> Result<Void, EnvironmentError> {
    guard link.hasPrefix("https://") || link.hasPrefix("http://") else {
      return .failure(EnvironmentError("Only links of the web are opened."))
    }
    let named = (environment["BROWSER"] ?? "").split(separator: ":").map(String.init)
    for command in named + ["xdg-open"] {
      guard var words = CommandWords.split(command) else { continue }
      if words.contains(where: { $0.contains("%s") }) {
        words = words.map { $0.replacing("%s", with: link) }
      } else {
        words.append(link)
      }
      let program = words[0]
      let started = OtherProgram.run(words, with: .none) { status in
        guard status != 0 else { return }
        report("\(program) ended with status \(status); Alt-c copies the link.")
      }
      if case .success = started { return .success(()) }
    }
    return .failure(
      EnvironmentError("No program opens links: set BROWSER, or copy the link with Alt-c.")
    )
  }
}
