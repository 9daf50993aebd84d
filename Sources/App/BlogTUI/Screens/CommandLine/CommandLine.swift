/// One way to complete the command that is being typed.
package struct Completion: Hashable, Sendable {
  /// The whole line after completion.
  package let line: String
  /// The text that represents it in the list.
  package let title: SafeText
  package let detail: SafeText

  init(line: String, title: String, detail: SafeText) {
    self.line = line
    self.title = SafeText(untrusted: title, limit: 80)
    self.detail = detail
  }
}

/// The line in which a command is typed, with its completions and the history; or the answer to a
/// question.
package struct CommandLine: Equatable, Sendable {
  /// A question that opens by itself, in many words and in few.
  struct Question: Equatable {
    /// How long it takes to notice it, in milliseconds: what is typed before is no answer.
    static let noticing: Int64 = 500

    let long: SafeText
    let short: SafeText
    /// When it was asked, in milliseconds since 1970.
    let askedAt: Int64
  }

  /// What the line answers; nil for a command.
  let question: Question?
  package private(set) var field: TextField
  package private(set) var completions: [Completion] = []
  /// The index of the completion that the line shows; nil if it shows the typed text.
  package private(set) var selected: Int?
  /// The context in which the command will act.
  private let target: Context
  private var recalled: Int?
  private var typed: String

  init(_ text: String, target: Context, session: Session) {
    question = nil
    self.target = target
    field = TextField(text: text)
    typed = text
    complete(in: session)
  }

  init(answer: String, limit: Int, to question: Question) {
    self.question = question
    target = .command
    field = TextField(text: answer, limit: limit)
    typed = answer
  }

  /// What stands before the text.
  func label(in width: Int) -> SafeText {
    guard let question else { return ":" }
    return (width < 60 ? question.short : question.long) + " "
  }

  private mutating func complete(in session: Session) {
    typed = field.text
    recalled = nil
    selected = nil
    completions = session.completions(of: typed, in: target)
  }

  /// Shows the next or previous completion; past either end is the typed text.
  mutating func complete(by step: Int) {
    guard !completions.isEmpty else { return }
    let count = completions.count + 1
    // The last number stands for the text as it was typed.
    let number = ((selected ?? completions.count) + step + count) % count
    selected = number == completions.count ? nil : number
    field.setText(selected.map { completions[$0].line } ?? typed)
  }

  mutating func take(completion number: Int) {
    guard completions.indices.contains(number) else { return }
    selected = number
    field.setText(completions[number].line)
  }

  /// Shows an older or newer command from the history that begins with the typed text.
  mutating func recall(by step: Int, from history: [String]) {
    let fitting = history.filter { $0.hasPrefix(typed) && $0 != typed }
    let number = (recalled ?? fitting.count) + step
    selected = nil
    if number >= fitting.count {
      recalled = nil
      field.setText(typed)
    } else if number >= 0 {
      recalled = number
      field.setText(fitting[number])
    }
  }
}

// MARK: The screen

extension CommandLine: AppScreen {
  static let layer = ScreenLayer.line

  static func pick(_ row: Int, in model: inout Model) -> [Effect] {
    model.commandLine?.take(completion: row)
    return []
  }

  var fillsContent: Bool { false }

  func context(in session: Session) -> Context { .command }

  mutating func type(_ key: KeyEvent, session: inout Session) -> TypingOutcome {
    if key == .backspace, field.isEmpty, question == nil { return .closed }
    if session.type(key, into: &field) == .changed, question == nil { complete(in: session) }
    return .taken([])
  }

  mutating func moveCursor(in field: Int, to offset: Position, session: inout Session) {
    self.field.moveCursor(toColumn: offset.column)
  }

  func scrolls(over target: ClickTarget?) -> Bool {
    if case .row(_, of: ScreenID(Self.self))? = target { true } else { false }
  }

  mutating func scroll(by direction: Int, session: inout Session) -> [Effect] {
    complete(by: direction)
    return []
  }

  mutating func resize(in session: Session) {
    let frame = Frame(session.size)
    field.resize(to: frame.footer.cut(left: label(in: frame.footer.width).width).size)
  }

  func draw(on painter: inout Painter) {}

  func drawFooter(on painter: inout Painter) { painter.paint(self) }

  func drawOverlay(on painter: inout Painter) { painter.paintCompletions(of: self) }
}

extension Model {
  /// The open command line, in front of everything except a question.
  package internal(set) var commandLine: CommandLine? {
    get { stack[CommandLine.self] }
    _modify { yield &stack[CommandLine.self] }
  }

  mutating func openCommandLine(_ text: String = "") {
    commandLine = CommandLine(text, target: commandContext, session: session)
    relayout()
  }

  mutating func recallCommand(by step: Int) {
    guard commandLine?.question == nil else { return }
    stack[CommandLine.self]?.recall(by: step, from: session.commands.history)
  }

  mutating func runCommandLine() -> [Effect] {
    let text = commandLine?.field.text.trimmingBlanks ?? ""
    if commandLine?.question != nil { return takeName(text) }
    commandLine = nil
    guard !text.isEmpty else { return [] }
    return session.commands.enter(text) + run(text)
  }

  package mutating func run(_ text: String) -> [Effect] {
    let words = text.split(separator: " ", maxSplits: 1).map(String.init)
    guard let typed = words.first else { return [] }
    let rest = words.count > 1 ? words[1].trimmingBlanks : ""
    let context = commandContext
    guard let name = fullName(of: typed, in: context) else { return [] }
    session.inspector.cause = ":\(name)"
    session.commands.note(name)
    if let command = Command.named(name) { return run(command, with: rest) }
    guard let action = session.keys.action(named: name) else { return [] }
    guard rest.isEmpty else { return refuse(rest, after: name) }
    if declaration(of: action, in: context)?.disabledReason(self) == .nothingThere {
      return session.answer(.notDone("There is nothing here for \(action.name)."))
    }
    return perform(action, in: context)
  }

  /// The full name of an abbreviated command; reports a failure if there is none, or several.
  private mutating func fullName(of typed: String, in context: Context) -> String? {
    let here = session.keys.bindings(in: context).map(\.action.name)
    let names = Command.all.map(\.name) + here
    if names.contains(typed) { return typed }
    if let action = session.keys.action(named: typed) {
      let contexts = session.keys.contexts(of: action)
      let list = Context.allCases.filter(contexts.contains).map(\.name).joined(separator: ", ")
      session.message = .failure("\"\(typed)\" works only in: \(list).")
      return nil
    }
    let all = Set(names).sorted()
    let fitting = all.filter { $0.hasPrefix(typed) }
    if fitting.count == 1 { return fitting.first }
    let similar = FuzzyMatch.closest(to: typed, among: all)
    let candidates = fitting.isEmpty ? similar.map { [$0] } ?? [] : fitting
    let hint = candidates.prefix(4).map { "\"\($0)\"" }.joined(separator: ", ")
    session.message = .failure(
      hint.isEmpty
        ? "There is no command \"\(typed)\". :help shows all."
        : "There is no command \"\(typed)\". Did you mean \(hint)?"
    )
    return nil
  }

  private mutating func run(_ command: Command, with rest: String) -> [Effect] {
    guard !rest.isEmpty || !command.needsArguments else {
      let key = session.key("complete", in: .command)
      session.message = .failure(
        "\(command.name) needs more: \(command.arguments). \(key) completes."
      )
      return []
    }
    guard rest.isEmpty || !command.arguments.isEmpty else {
      return refuse(rest, after: command.name)
    }
    return command.run(&self, rest)
  }

  /// Refuses what was typed after a command that takes nothing.
  private mutating func refuse(_ rest: String, after name: String) -> [Effect] {
    session.answer(.failure("\(name) takes nothing after its name, not \"\(rest)\"."))
  }

  /// Binds keys to an action until the program ends.
  mutating func bind(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count >= 3, let context = words.first, let action = words.last else {
      session.message = .failure(
        "bind needs a place, keys and an action, such as: bind list x star"
      )
      return
    }
    let sequence = words.dropFirst().dropLast().joined(separator: " ")
    let wish = KeyOverride(context: context, keys: sequence, action: action, line: 1)
    let problem = session.display.bind(wish)
    let isFree = action == KeyTable.noAction
    session.message =
      problem.map { .failure("\($0.reason).") }
      ?? .note("\(sequence) does \(isFree ? "nothing in \(context) now" : action).")
  }
}

// MARK: Completing

extension Session {
  /// The completions of a line that is being typed.
  func completions(of text: String, in context: Context) -> [Completion] {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.count > 1, let command = words.first else {
      return nameCompletions(of: text, in: context)
    }
    let typed = words[words.count - 1]
    let before = words.dropLast().joined(separator: " ") + " "
    let all = Command.named(command)?.completions(words, self) ?? []
    return all.filter { $0.name.hasPrefix(typed) }.map {
      Completion(line: before + $0.name, title: $0.name, detail: SafeText(untrusted: $0.detail))
    }
  }

  private func nameCompletions(of text: String, in context: Context) -> [Completion] {
    var seen: Set<String> = []
    let commands = Command.all.map { command in
      let line = command.arguments.isEmpty ? command.name : command.name + " "
      return Completion(
        line: line,
        title: "\(command.name) \(command.arguments)",
        detail: SafeText(untrusted: command.help)
      )
    }
    let actions = keys.bindings(in: context).map { binding in
      let keys = binding.keysText
      let detail = keys.isEmpty ? binding.help : binding.help + " (" + keys + ")"
      return Completion(line: binding.action.name, title: binding.action.name, detail: detail)
    }
    let all = (commands + actions).filter { seen.insert($0.line.trimmingBlanks).inserted }
    let fitting = all.filter { $0.line.hasPrefix(text) }
    guard fitting.isEmpty else { return fitting.sorted { $0.line < $1.line } }
    return all.compactMap { completion in
      FuzzyMatch(text, in: completion.line).map { (completion, $0.score) }
    }.sorted { ($1.1, $0.0.line) < ($0.1, $1.0.line) }.map(\.0)
  }
}

extension String {
  /// The text without blanks at either end.
  var trimmingBlanks: String {
    let start = drop { $0 == " " }
    return String(start.reversed().drop { $0 == " " }.reversed())
  }
}

enum CommandLineActions {
  static let all: [BoundAction] = [
    BoundAction(.send, keys: ["Enter"], in: [.command], help: "do it") { $0.runCommandLine() }
      .hint("do it", rank: 1),
    BoundAction("complete", keys: ["Tab"], in: [.command], help: "complete") {
      $0.commandLine?.complete(by: 1)
    }
    .hint("complete", rank: 2),
    BoundAction("complete-backwards", keys: ["S-Tab"], in: [.command], help: "complete, backwards")
    { $0.commandLine?.complete(by: -1) },
    BoundAction(.previous, keys: ["Up", "^P"], in: [.command], help: "an earlier command") {
      $0.recallCommand(by: -1)
    },
    BoundAction(.next, keys: ["Down", "^N"], in: [.command], help: "a later command") {
      $0.recallCommand(by: 1)
    },
    BoundAction(.back, keys: ["Esc", "^C"], in: [.command], help: "back") { model -> Void in
      if model.commandLine?.question != nil { model.keepName() }
      model.commandLine = nil
    }
    .hint("back", rank: 3),
  ]
}

// MARK: History

/// The commands that were run, and the shell command that is running.
struct CommandHistory: Sendable {
  private static let limit = 200
  private static let recentLimit = 5

  /// The commands typed earlier, oldest first, each once.
  private(set) var history: [String] = []
  /// The names of the commands that were run last, the latest first.
  private(set) var recent: [String] = []
  var running: String?
  /// What a shell command has written, until its page can be shown.
  var output: CommandOutcome?

  /// Makes the history with the commands that were typed in earlier runs.
  init(_ history: [String] = []) { self.history = history }

  /// Adds a typed command, and has the history saved.
  mutating func enter(_ text: String) -> [Effect] {
    history.removeAll { $0 == text }
    history.append(text)
    if history.count > Self.limit { history.removeFirst() }
    return [.environment(.keepHistory(history))]
  }

  /// Notes that the user has run a command by its name.
  mutating func note(_ name: String) {
    recent.removeAll { $0 == name }
    recent.insert(name, at: 0)
    if recent.count > Self.recentLimit { recent.removeLast() }
  }
}
