import BlogModel

extension Model {
  private static let historyLimit = 200

  /// Begins to type a command.
  mutating func openCommandLine(_ text: String = "") {
    var line = CommandLine(text)
    line.wasTyped(completions(of: text))
    commandLine = line
    relayout()
  }

  mutating func typeIntoCommandLine(_ key: KeyEvent) {
    if key == .backspace, commandLine?.field.isEmpty == true {
      commandLine = nil
      return
    }
    guard commandLine?.field.handle(key) == .changed else { return }
    let fitting = completions(of: commandLine?.field.text ?? "")
    commandLine?.wasTyped(fitting)
  }

  mutating func runCommandLine() -> [Effect] {
    let text = commandLine?.field.text.trimmingBlanks ?? ""
    commandLine = nil
    guard !text.isEmpty else { return [] }
    commandHistory.removeAll { $0 == text }
    commandHistory.append(text)
    if commandHistory.count > Self.historyLimit { commandHistory.removeFirst() }
    return [.keepHistory(commandHistory)] + run(text)
  }

  /// Does what a typed command says.
  package mutating func run(_ text: String) -> [Effect] {
    let words = text.split(separator: " ", maxSplits: 1).map(String.init)
    guard let typed = words.first else { return [] }
    let rest = words.count > 1 ? words[1].trimmingBlanks : ""
    let context = contextBelowCommand
    guard let name = fullName(of: typed, in: context) else { return [] }
    if let command = Command.named(name) { return run(command, with: rest) }
    guard let action = keys.action(named: name) else { return [] }
    return perform(action, in: context)
  }

  /// The name that is meant; says so when there is none, or more than one.
  private mutating func fullName(of typed: String, in context: Context) -> String? {
    let here = keys.bindings(in: context).map(\.action.name)
    let names = Command.all.map(\.name) + here
    if names.contains(typed) { return typed }
    if let action = keys.action(named: typed) {
      let places = Context.allCases.filter(keys.contexts(of: action).contains).map(\.name)
      message = .failure("\"\(typed)\" has a meaning only in: \(places.joined(separator: ", ")).")
      return nil
    }
    let fitting = Set(names.filter { $0.hasPrefix(typed) })
    if fitting.count == 1 { return fitting.first }
    let similar = Set(names).compactMap { name in
      FuzzyMatch(typed, in: name).map { (name, $0.score) }
    }.max { ($0.1, $1.0) < ($1.1, $0.0) }?.0
    let candidates = fitting.isEmpty ? similar.map { [$0] } ?? [] : fitting.sorted()
    let hint = candidates.prefix(4).map { "\"\($0)\"" }.joined(separator: ", ")
    message = .failure(
      hint.isEmpty
        ? "There is no command \"\(typed)\". :help shows all."
        : "There is no command \"\(typed)\". Did you mean \(hint)?"
    )
    return nil
  }

  private mutating func run(_ command: Command, with rest: String) -> [Effect] {
    guard !rest.isEmpty || !command.needsArguments else {
      message = .failure("\(command.name) needs more: \(command.arguments). Tab completes.")
      return []
    }
    return command.run(&self, rest)
  }

  /// Searches the list that is shown.
  mutating func searchPosts(for text: String) -> [Effect] {
    let effects = closeInspector()
    help = nil
    guard context == .list else {
      message = .failure("Posts are searched in a list: go back to it first.")
      return effects
    }
    beginSearch()
    search?.field.setText("")
    typeIntoSearch(.paste(text))
    search?.isEditing = false
    return effects
  }

  /// Gives keys another meaning until the program ends.
  mutating func bind(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count >= 3, let place = words.first, let action = words.last else {
      message = .failure("bind needs a place, keys and an action, such as: bind list x star")
      return
    }
    let sequence = words.dropFirst().dropLast().joined(separator: " ")
    var problems: [ConfigurationProblem] = []
    let wish = KeyOverride(context: place, keys: sequence, action: action, line: 1)
    keys = keys.applying([wish], source: "bind", problems: &problems)
    message =
      problems.first.map { .failure("\($0.reason).") } ?? .note("\(sequence) does \(action).")
  }

  /// What fits a line that is being typed.
  func completions(of text: String) -> [Completion] {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.count > 1, let command = words.first else { return nameCompletions(of: text) }
    let typed = words[words.count - 1]
    let before = words.dropLast().joined(separator: " ") + " "
    let all = Command.named(command)?.completions(words, self) ?? []
    return all.filter { $0.name.hasPrefix(typed) }.map {
      Completion(line: before + $0.name, title: $0.name, detail: SafeText(untrusted: $0.detail))
    }
  }

  private func nameCompletions(of text: String) -> [Completion] {
    var seen: Set<String> = []
    let commands = Command.all.map { command in
      let line = command.arguments.isEmpty ? command.name : command.name + " "
      return Completion(
        line: line,
        title: "\(command.name) \(command.arguments)",
        detail: SafeText(untrusted: command.help)
      )
    }
    let actions = keys.bindings(in: contextBelowCommand).map { binding in
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
  /// The text without blanks at both ends.
  var trimmingBlanks: String {
    let start = drop { $0 == " " }
    return String(start.reversed().drop { $0 == " " }.reversed())
  }
}
