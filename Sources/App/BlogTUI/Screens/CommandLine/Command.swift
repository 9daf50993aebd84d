import BlogModel

/// A command that is not an action, or that takes arguments: all about it in one place.
package struct Command: Sendable {
  /// One of the words that a command accepts as an argument.
  struct Word {
    let name: String
    let detail: String

    init(_ name: String, detail: String = "") {
      self.name = name
      self.detail = detail
    }
  }

  package let name: String
  /// The arguments after the name, for help.
  package let arguments: String
  /// What the command does, for help and manual pages.
  package let help: String
  /// Whether the command needs arguments.
  let needsArguments: Bool
  /// The candidates for the last of the typed words; the first word is the name of the command.
  let completions: @Sendable (_ words: [String], _ session: Session) -> [Word]
  /// Runs the command with the text after its name.
  let run: @Sendable (_ model: inout Model, _ rest: String) -> [Effect]

  private init(
    _ name: String,
    arguments: String = "",
    help: String,
    completions: @escaping @Sendable ([String], Session) -> [Word] = { _, _ in [] },
    run: @escaping @Sendable (inout Model, String) -> [Effect]
  ) {
    self.name = name
    self.arguments = arguments
    self.help = help
    needsArguments = !arguments.isEmpty && !arguments.hasPrefix("[") || name == "search"
    self.completions = completions
    self.run = run
  }

  /// A command that only scripts need.
  package static let waitIdle = "wait-idle"

  /// The command with that name; nil if there is none.
  static func named(_ name: String) -> Command? { all.first { $0.name == name } }

  /// All commands, in the order of the help page.
  package static let all: [Command] = [
    Command(
      "set",
      arguments: "NAME VALUE",
      help: "choose a value and keep it in the configuration file",
      completions: { words, session in
        switch words.count {
        case 2: return Setting.allCases.map { Word($0.rawValue, detail: $0.help) }
        case 3:
          let setting = Setting(rawValue: words[1])
          return setting?.suggestions(themes: session.configuration.themeNames).map { Word($0) }
            ?? []
        default: return []
        }
      },
      run: { model, rest in
        let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
        return model.set(words[0], to: words.count > 1 ? words[1].trimmingBlanks : nil)
      }
    ),
    Command(
      "theme",
      arguments: "NAME",
      help: "choose the colours and keep them in the configuration file",
      completions: { words, session in
        words.count == 2 ? session.configuration.themeNames.map { Word($0) } : []
      },
      run: { model, rest in model.set(Setting.theme.rawValue, to: rest) }
    ),
    Command(
      "bind",
      arguments: "PLACE KEYS ACTION",
      help: "give keys another meaning until the program ends",
      completions: { words, session in
        if words.count == 2 {
          return Context.allCases.map { Word($0.name, detail: $0.title.string) }
        }
        guard words.count >= 4 else { return [] }
        let context = Context.allCases.first { $0.name == words[1] } ?? .list
        return session.keys.bindings(in: context).map {
          Word($0.action.name, detail: $0.help.string)
        }
      },
      run: { model, rest in
        model.bind(rest)
        return []
      }
    ),
    help("keys"),
    help("help"),
    Command(
      "search",
      arguments: "[WORD…]",
      help: "search title, author and text",
      run: { model, rest in model.searchPosts(for: rest) }
    ),
    Command(
      "open-post",
      arguments: "ID",
      help: "open the post of that identifier",
      run: { model, rest in model.open(rest) }
    ),
    Command(
      "tag",
      arguments: "NAME",
      help: "show the posts with a tag",
      completions: { words, session in
        guard words.count == 2 else { return [] }
        let tags = session.feed.posts.flatMap { TextMarks(of: $0.title, $0.body).tags }
        return Set(tags).sorted().map { Word($0) }
      },
      run: { model, rest in model.showTag(rest) }
    ),
    Command(
      "save-search",
      arguments: "NAME",
      help: "save the search in the list under a name",
      run: { model, rest in model.saveSearch(as: rest) }
    ),
    Command(
      "remove-search",
      arguments: "NAME",
      help: "remove a saved search",
      completions: { words, session in
        words.count == 2
          ? session.reading.lists.searches.map { Word($0.name, detail: $0.text) } : []
      },
      run: { model, rest in model.removeSearch(rest) }
    ),
    Command(
      "name",
      arguments: "[NAME]",
      help: "show the name by which others see you, or change it",
      run: { model, rest in model.changeName(to: rest) }
    ),
    Command(
      "pipe",
      arguments: "COMMAND",
      help: "run a shell command with the post as its input",
      run: { model, rest in model.pipe(to: rest) }
    ),
    Command(
      "dump-screen",
      arguments: "FILE",
      help: "write what the screen shows to a file",
      run: { model, rest in [.environment(.write(view(model).text() + "\n", file: rest))] }
    ),
    Command(
      "save-messages",
      arguments: "FILE",
      help: "write all messages to a file",
      run: { model, rest in [.environment(.write(model.session.messages.text, file: rest))] }
    ),
    Command(
      "report",
      arguments: "[FILE]",
      help: "write a report of a problem to a file, without secrets",
      run: { _, rest in [.environment(.report(file: rest))] }
    ),
    Command(
      "net",
      arguments: "[on|off]",
      help: "cut this terminal off from the database, or connect it again",
      completions: { words, _ in
        guard words.count == 2 else { return [] }
        return [
          Word("off", detail: "work without a connection"), Word("on", detail: "connect again"),
        ]
      },
      run: { model, rest in model.session.network(rest) }
    ),
    Command(
      waitIdle,
      help: "in a script: wait until everything is acknowledged and quiet",
      run: { _, _ in [] }
    ),
    Command("quit", help: "quit", run: { model, _ in model.quit() }),
  ]

  private static func help(_ name: String) -> Command {
    let help = "show all keys and commands, or those that contain the word"
    return Command(name, arguments: "[WORD]", help: help) { model, rest in
      model.openAllKeys(search: rest)
      return []
    }
  }
}
