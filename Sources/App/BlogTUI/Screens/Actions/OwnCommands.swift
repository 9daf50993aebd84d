import BlogModel

/// A shell command with the post that it gets.
package struct CommandJob: Hashable, Sendable {
  package let name: String
  /// What the shell runs; nothing from the post is ever a part of it.
  package let shell: String
  package let output: OwnCommand.Output
  /// The text of the post, for the command's standard input.
  package let input: String
  /// What else the command can know of the post, by the names of environment variables.
  package let variables: [String: String]

  init(_ command: OwnCommand, on post: Post) {
    name = command.name
    shell = command.shell
    output = command.output
    input = Self.harmless(post.body, lines: true) + "\n"
    let link = Link.all(in: post.title + "\n" + post.body).first?.text
    variables = [
      "HEARTH_POST_ID": Self.harmless(post.id),
      "HEARTH_POST_AUTHOR": Self.harmless(post.author),
      "HEARTH_POST_TITLE": Self.harmless(post.title),
      "HEARTH_POST_LINK": link ?? "",
    ]
  }

  /// A text without what would control a terminal.
  private static func harmless(_ text: String, lines: Bool = false) -> String {
    var kept = String.UnicodeScalarView()
    kept.append(
      contentsOf: text.unicodeScalars.lazy.prefix(lines ? 1_000_000 : 1_000).filter { scalar in
        scalar.properties.generalCategory != .control
          || lines && (scalar == "\n" || scalar == "\t")
      }
    )
    return String(kept)
  }
}

package struct CommandOutcome: Hashable, Sendable, Codable {
  package let name: String
  /// What it wrote, if a page is to show it; of a failure, the last line counts.
  package let output: String
  /// Why it failed, such as "ended with status 1"; nil if it did not.
  package let failure: String?

  package init(name: String, output: String = "", failure: String? = nil) {
    self.name = name
    self.output = output
    self.failure = failure
  }
}

extension OwnCommand {
  /// The command as an action, with the keys that the file gives it.
  fileprivate var declaration: BoundAction {
    BoundAction(
      Action(stringLiteral: name),
      keys: [],
      in: .reading,
      help: SafeText(untrusted: "own command: " + shell, limit: 100)
    ) { $0.run(self) }
    .unless { $0.noPostInViewReason }
  }
}

extension Configuration {
  /// The keys of the program after the user's bindings, with the user's own commands.
  func keyTable(problems: inout [ConfigurationProblem]) -> KeyTable {
    // Making a table takes a millisecond, for which the first screen would wait.
    guard !commands.isEmpty || !keys.isEmpty else { return .standard }
    let taken = Set(KeyTable.standard.actions.map(\.name) + Command.all.map(\.name))
    var own: [OwnCommand] = []
    for command in commands {
      guard taken.contains(command.name) else {
        own.append(command)
        continue
      }
      let reason = "there is a command \"\(command.name)\" already; choose another name"
      problems.append(ConfigurationProblem(source: source, line: command.line, reason: reason))
    }
    return KeyTable(KeyTable.standard.bindings + own.map(\.declaration.binding))
      .applying(own.compactMap(\.keys) + keys, source: source, problems: &problems)
  }

  /// The problems of the files, including keys for what does not exist.
  package var allProblems: [ConfigurationProblem] {
    var all = problems
    _ = keyTable(problems: &all)
    return all.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
  }
}

extension Model {
  /// The declaration of an action, or of a command of the user's own; nil if it does not exist in
  /// the context.
  func declaration(of action: Action, in context: Context) -> BoundAction? {
    if let declaration = ActionTable.declaration(of: action, in: context) { return declaration }
    guard Set.reading.contains(context) else { return nil }
    return session.configuration.commands.first { $0.name == action.name }?.declaration
  }

  /// Runs a shell command once, with the post in view as its input.
  mutating func pipe(to shell: String) -> [Effect] { run(OwnCommand(name: shell, shell: shell)) }

  fileprivate mutating func run(_ command: OwnCommand) -> [Effect] {
    guard let post = postInView else { return session.answer(.notDone("There is no post here")) }
    let name = Self.shown(command.name)
    if let running = session.commands.running {
      return session.answer(.failure("\(Self.shown(running)) is still running; it has a minute."))
    }
    session.commands.running = command.name
    session.message = .note("\(name) is running")
    return [.environment(.run(CommandJob(command, on: post)))]
  }

  /// Shows what has become of a command.
  mutating func take(_ outcome: CommandOutcome) {
    session.commands.running = nil
    let name = Self.shown(outcome.name)
    let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
    if let failure = outcome.failure {
      let last = lines.last { !$0.allSatisfy(\.isWhitespace) }.map { ": \($0)" } ?? "."
      session.message = .failure("\(name) \(failure)\(last)")
      return
    }
    session.message = .note("\(name) is done")
    guard !outcome.output.isBlank else { return }
    session.commands.output = outcome
    session.message =
      context.isTyping ? .note("\(name) is done; its output comes after what you type") : nil
  }

  /// Shows what a command has written, unless the page would take the keys of a text.
  mutating func showOutput() {
    guard let outcome = session.commands.output, !context.isTyping else { return }
    session.commands.output = nil
    let text = SafeText(untrusted: outcome.output, mode: .multiLine, limit: 200_000)
    let title = SafeText(untrusted: outcome.name, limit: 40)
    show(Page(title: title, content: .text([Page.Paragraph(text: text)])))
  }

  private static func shown(_ name: String) -> String {
    SafeText(untrusted: name, limit: 40).string
  }
}
