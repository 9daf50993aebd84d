import BlogTUI
import Foundation

/// The editor that the environment names, with a draft in a file: the title, a blank line, the text.
struct ExternalEditor {
  /// Where the file is while the editor runs.
  let directory: String
  /// The variables of the process.
  var environment = ProcessInfo.processInfo.environment

  /// Runs the editor and waits for its end.
  ///
  /// - Parameter draft: What was typed so far.
  /// - Returns: What is in the file afterwards, or why nothing was taken over.
  func edit(_ draft: Draft) -> Result<Draft, EnvironmentError> {
    let command = [environment["VISUAL"], environment["EDITOR"], "vi"].compactMap(\.self)
      .first { !$0.isEmpty }
    guard let command, let words = CommandWords.split(command) else {
      return .failure(EnvironmentError("VISUAL or EDITOR has a quote without end."))
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
    let before = Self.text(of: draft)
    guard (try? Data(before.utf8).write(to: URL(fileURLWithPath: file))) != nil else {
      return .failure(EnvironmentError("\(file) cannot be written."))
    }
    switch OtherProgram.run(words + [file], .terminal) {
    case .failure(let failure):
      let advice = "set VISUAL or EDITOR to an editor"
      return .failure(
        EnvironmentError("\(words[0]) cannot be started: \(failure.reason); \(advice).")
      )
    case .success(let status) where status != 0:
      return .failure(
        EnvironmentError("\(words[0]) ended with status \(status): the text is as before.")
      )
    case .success:
      guard let data = FileManager.default.contents(atPath: file) else {
        return .failure(
          EnvironmentError("\(words[0]) has removed its file: the text is as before.")
        )
      }
      return .success(Self.draft(of: String(decoding: data, as: UTF8.self)))
    }
  }

  /// The file of a draft.
  static func text(of draft: Draft) -> String {
    draft.title + "\n\n" + draft.body + (draft.body.hasSuffix("\n") ? "" : "\n")
  }

  /// The draft of a file: the first line with text is the title.
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
