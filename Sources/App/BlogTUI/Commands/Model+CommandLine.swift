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

  mutating func performInCommandLine(_ action: Action) -> [Effect] {
    switch action {
    case .send: return runCommandLine()
    case .back: commandLine = nil
    case .up: commandLine?.recall(by: -1, from: commandHistory)
    case .down: commandLine?.recall(by: 1, from: commandHistory)
    case .pageUp, .pageDown, .halfPageUp, .halfPageDown, .top, .bottom, .open, .quit, .tab,
      .nextTab, .previousTab, .compose, .star, .delete, .search, .nextMatch, .previousMatch,
      .writeComment, .switchField, .confirm, .decline, .reload, .help, .redraw, .suspend, .reading,
      .program:
      break
    }
    return []
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

  private mutating func runCommandLine() -> [Effect] {
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
    if let command = Command(rawValue: name) { return run(command, rest) }
    guard let action = keys.action(named: name) else { return [] }
    return perform(action, in: context)
  }

  /// The name that is meant; says so when there is none, or more than one.
  private mutating func fullName(of typed: String, in context: Context) -> String? {
    let here = keys.bindings(in: context).map(\.action.name)
    let names = Command.allCases.map(\.rawValue) + here
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

  private mutating func run(_ command: Command, _ rest: String) -> [Effect] {
    guard !rest.isEmpty || !command.needsArguments else {
      message = .failure("\(command.rawValue) needs more: \(command.arguments). Tab completes.")
      return []
    }
    switch command {
    case .set:
      let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
      return set(words[0], words.count > 1 ? words[1].trimmingBlanks : nil)
    case .theme: return set(Setting.theme.rawValue, rest)
    case .bind: bind(rest)
    case .keys, .help: openHelp(search: rest)
    case .search: return search(rest)
    case .openPost: return open(rest)
    case .dumpScreen: return [.write(view(self).text() + "\n", file: rest)]
    case .saveMessages: return [.write(messageLog.text, file: rest)]
    case .network: return network(rest)
    case .waitIdle: break
    case .quit: return quit()
    }
    return []
  }

  private mutating func search(_ text: String) -> [Effect] {
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

  private mutating func bind(_ text: String) {
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
    return values(of: command, words: words).filter { $0.name.hasPrefix(typed) }.map {
      Completion(line: before + $0.name, title: $0.name, detail: SafeText(untrusted: $0.detail))
    }
  }

  private func nameCompletions(of text: String) -> [Completion] {
    var seen: Set<String> = []
    let commands = Command.allCases.map { command in
      let line = command.arguments.isEmpty ? command.rawValue : command.rawValue + " "
      return Completion(
        line: line,
        title: "\(command.rawValue) \(command.arguments)",
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

  private func values(
    of command: String,
    words: [String]
  ) -> [(name: String, detail: String)] {
    switch Command(rawValue: command) {
    case .set where words.count == 2:
      return Setting.allCases.map { ($0.rawValue, $0.help) }
    case .set where words.count == 3:
      guard let setting = Setting(rawValue: words[1]) else { return [] }
      return setting.suggestions(themes: configuration.themeNames).map { ($0, "") }
    case .theme where words.count == 2:
      return configuration.themeNames.map { ($0, "") }
    case .bind where words.count == 2:
      return Context.allCases.map { ($0.name, $0.title.string) }
    case .bind where words.count >= 4:
      let place = Context.allCases.first { $0.name == words[1] }
      return keys.bindings(in: place ?? .list).map { ($0.action.name, $0.help.string) }
    case .network where words.count == 2:
      return [("off", "work without a connection"), ("on", "connect again")]
    case .set, .theme, .bind, .network, .keys, .help, .search, .openPost, .dumpScreen,
      .saveMessages,
      .waitIdle, .quit, nil:
      return []
    }
  }
}

extension String {
  /// The text without blanks at both ends.
  var trimmingBlanks: String {
    let start = drop { $0 == " " }
    return String(start.reversed().drop { $0 == " " }.reversed())
  }
}
