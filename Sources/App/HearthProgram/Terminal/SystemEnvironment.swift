import BlogModel
import BlogTUI
import DurableFiles
import Foundation

extension Environment {
  /// The environment of a program on a person's terminal, without what belongs to a database.
  ///
  /// `report` is called on any thread with a failure that is known only later.
  static func system(
    _ paths: ProgramPaths,
    files: ConfigurationFiles,
    drafts: DraftFile,
    history: CommandHistory,
    report: @escaping @Sendable (String) -> Void
  ) -> Environment {
    var environment = Environment()
    let editor = ExternalEditor(drafts: drafts)
    environment.keep = { drafts.save($0, isDurable: $1) }
    environment.edit = { editor.edit($0) }
    environment.editText = { editor.edit($0, on: $1) }
    environment.openLink = { Browser.open($0, report: report) }
    environment.run = { ShellCommand.run($0, ended: $1) }
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
    let path = ProgramPaths.full(name)
    do {
      let file = try OutputFile(replacing ? path : unused(path))
      try file.write(text)
      try file.finish()
      return .success(file.path)
    } catch {
      return .failure(EnvironmentError("\(CommandFailure(error).description)."))
    }
  }

  /// Writes lines of JSON to a file that did not exist, without the secrets in them.
  static func write(
    lines: String,
    to name: String,
    known: [String] = []
  ) -> Result<String, EnvironmentError> {
    do {
      return write(try Secrets(known: known).leftOut(ofJSONLines: lines), to: name)
    } catch {
      return .failure(EnvironmentError("\(CommandFailure(error).description)."))
    }
  }

  /// The path, or the first one with a number before its extension that no file has.
  private static func unused(_ path: String) -> String {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return path }
    let suffix = (path as NSString).pathExtension
    let stem = suffix.isEmpty ? path : (path as NSString).deletingPathExtension
    return (2...).lazy.map { "\(stem)-\($0)" + (suffix.isEmpty ? "" : ".\(suffix)") }
      .first { access($0, F_OK) != 0 } ?? path
  }
}

/// The editor named by the environment, working on a draft in a file.
struct ExternalEditor {
  /// The place of the file while the editor runs.
  let drafts: DraftFile
  var environment = ProcessInfo.processInfo.environment
  /// The time in which nobody changes their mind: an editor that has ended by then without a change
  /// goes on in a window of its own, and what it saves later is lost.
  var haste = Duration.seconds(1)

  /// Runs the editor on a post and waits until it ends; returns the draft as the editor has left
  /// it, or the reason why it is unchanged.
  func edit(_ draft: Draft) -> Result<Draft, EnvironmentError> {
    run(on: Unsent(posts: [draft]), text: EditorFile.text(of: draft)) {
      file throws(EnvironmentError) in
      try file.post(draft)
    }
  }

  func edit(_ draft: CommentDraft, on post: PostID) -> Result<String, EnvironmentError> {
    let text = EditorFile.text(of: draft)
    return run(on: Unsent(comments: [post: [draft]]), text: text) { file throws(EnvironmentError) in
      try file.comment(draft).text
    }
  }

  private func run<Value>(
    on draft: Unsent,
    text: String,
    read: (EditorFile) throws(EnvironmentError) -> Value
  ) -> Result<Value, EnvironmentError> {
    let command = [environment["VISUAL"], environment["EDITOR"], "vi"].compactMap(\.self)
      .first { !$0.allSatisfy(\.isWhitespace) }
    guard let command, let words = CommandWords.split(command) else {
      return .failure(EnvironmentError("VISUAL or EDITOR has an unclosed quote."))
    }
    do throws(EnvironmentError) {
      let file = try drafts.editorFile(for: draft, text: text)
      let start = ContinuousClock.now
      let status = OtherProgram.run(words + [file.path], with: .terminal)
      let isHasty = start.duration(to: .now) < haste
      // What was saved stays until it is known to be here.
      let isChanged = file.content != Array(text.utf8)
      let isKept = isChanged && file.exists
      defer { if !isKept { file.remove() } }
      let saved = isKept ? " What it saved is in \(file.path)." : ""
      switch status {
      case .failure(let failure):
        let advice = "set VISUAL or EDITOR to an editor"
        throw EnvironmentError("\(words[0]) cannot be started: \(failure.reason); \(advice).")
      case .success(let status) where status != 0:
        throw EnvironmentError(
          "\(words[0]) \(OtherProgram.ending(status)): the text is unchanged.\(saved)"
        )
      case .success: break
      }
      guard isChanged else {
        guard !isHasty else {
          throw EnvironmentError(
            "\(words[0]) ended at once, and the text is unchanged. If it has a window of its own, "
              + "let it wait, as \"code --wait\" does: what it saves now is not seen."
          )
        }
        return try .success(read(file))
      }
      do throws(EnvironmentError) {
        let value = try read(file)
        file.remove()
        return .success(value)
      } catch {
        throw EnvironmentError("\(error.description) The text is unchanged.\(saved)")
      }
    } catch {
      return .failure(error)
    }
  }
}

/// A draft in a file for an editor: the title in the first line, a blank line, the text, and a note
/// that says so.
struct EditorFile {
  /// The path of the file; a note of what it changes is beside it.
  let path: String

  private static let scissors = "# ------ >8 ------ Hearth leaves out this line and all below it."
  private static let explanation = """
    # Line 1 is the title; the text begins after the blank line. Nothing else has a meaning here.
    # If you leave the file as it is, nothing changes.

    """
  /// The largest number of bytes that is read.
  private static let limit = 4_000_000

  /// Whether there is a file, or anything else in its place.
  var exists: Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// The bytes of the file; nil if there is none, or if it cannot be read.
  var content: [UInt8]? { try? PrivateFile.read(path) }

  func remove() {
    unlink(path)
    unlink(path + ".draft")
  }

  static func text(of draft: Draft) -> String {
    draft.title + "\n\n" + draft.body + (draft.body.hasSuffix("\n") ? "" : "\n") + scissors + "\n"
      + explanation
  }

  static func text(of draft: CommentDraft) -> String {
    draft.text.isEmpty ? "" : draft.text + "\n"
  }

  /// The draft with the title and text of the file; the same if the file was left as it was.
  ///
  /// - Throws: ``EnvironmentError`` if the file cannot be read as text.
  func post(_ draft: Draft) throws(EnvironmentError) -> Draft {
    guard let text = try text(unless: Self.text(of: draft)) else { return draft }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var rest = lines.prefix { $0 != Self.scissors }
    var edited = draft
    edited.problem = nil
    edited.title = rest.popFirst().map(String.init) ?? ""
    while let first = rest.first, first.allSatisfy(\.isWhitespace) { rest.removeFirst() }
    while let last = rest.last, last.isEmpty { rest.removeLast() }
    edited.body = rest.joined(separator: "\n")
    return edited
  }

  /// The draft with the text of the file, without the line end that editors add.
  ///
  /// - Throws: ``EnvironmentError`` if the file cannot be read as text.
  func comment(_ draft: CommentDraft) throws(EnvironmentError) -> CommentDraft {
    guard var text = try text(unless: Self.text(of: draft))?[...] else { return draft }
    while text.hasSuffix("\n") { text.removeLast() }
    var edited = draft
    edited.text = String(text)
    return edited
  }

  /// The text of the file; nil if it is still the given one.
  private func text(unless before: String) throws(EnvironmentError) -> String? {
    guard let content else {
      throw EnvironmentError(
        exists ? "What the editor left cannot be read." : "The editor left no file."
      )
    }
    guard content != Array(before.utf8) else { return nil }
    guard content.count <= Self.limit else {
      throw EnvironmentError("The editor's text has more than \(Self.limit / 1_000_000) MB.")
    }
    guard let text = String(validating: content, as: UTF8.self) else {
      throw EnvironmentError("The editor's text is not UTF-8.")
    }
    return text.replacing("\r\n", with: "\n")
  }
}

/// The program that opens links: one named in `BROWSER`, or else the desktop's.
enum Browser {
  /// Opens a web link without a shell; other links are refused.
  ///
  /// Fails if no program was started. `report` is called on another thread when the program has
  /// failed to open the link.
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
        report("\(program) \(OtherProgram.ending(status)); copy the link instead.")
      }
      if case .success = started { return .success(()) }
    }
    return .failure(
      EnvironmentError("No program opens links: set BROWSER, or copy the link.")
    )
  }
}
