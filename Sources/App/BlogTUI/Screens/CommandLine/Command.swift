import BlogModel

/// A command that is not an action, or that takes arguments: all about it in one place.
package struct Command: Sendable {
  /// One of the words that a command accepts as an argument.
  struct Word {
    let name: String
    var detail = ""
  }

  typealias Completions = @Sendable (_ words: [String], _ session: Session) -> [Word]

  package let name: String
  /// The arguments after the name, for help.
  package let arguments: String
  package let help: String
  let needsArguments: Bool
  /// The candidates for the last of the typed words; the first word is the name of the command.
  private(set) var completions: Completions = { _, _ in [] }
  /// Runs the command with the text after its name.
  let run: @Sendable (_ model: inout Model, _ rest: String) -> [Effect]

  private init(
    _ name: String,
    arguments: String = "",
    help: String,
    run: @escaping @Sendable (inout Model, String) -> [Effect]
  ) {
    self.name = name
    self.arguments = arguments
    self.help = help
    needsArguments = !arguments.isEmpty && !arguments.hasPrefix("[")
    self.run = run
  }

  /// The command with candidates for its arguments.
  private func completing(_ completions: @escaping Completions) -> Command {
    var command = self
    command.completions = completions
    return command
  }

  /// A command that only scripts need.
  package static let waitIdle = "wait-idle"

  static func named(_ name: String) -> Command? { all.first { $0.name == name } }

  /// All commands, in the order of the help page.
  package static let all: [Command] = [
    Command(
      "set",
      arguments: "NAME VALUE",
      help: "choose a value and keep it in the configuration file"
    ) { model, rest in
      let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
      return model.set(words[0], to: words.count > 1 ? words[1].trimmingBlanks : nil)
    }
    .completing { words, session in
      switch words.count {
      case 2: return Setting.allCases.map { Word(name: $0.rawValue, detail: $0.help) }
      case 3:
        let setting = Setting(rawValue: words[1])
        return setting?.suggestions(themes: session.configuration.themeNames).map { Word(name: $0) }
          ?? []
      default: return []
      }
    },
    Command(
      "theme",
      arguments: "NAME",
      help: "choose the colours and keep them in the configuration file"
    ) { $0.set(Setting.theme.rawValue, to: $1) }
    .completing { words, session in
      words.count == 2 ? session.configuration.themeNames.map { Word(name: $0) } : []
    },
    Command(
      "bind",
      arguments: "PLACE KEYS ACTION",
      help: "rebind keys until the program ends"
    ) { model, rest in
      model.bind(rest)
      return []
    }
    .completing { words, session in
      if words.count == 2 {
        return Context.allCases.map { Word(name: $0.name, detail: $0.title.string) }
      }
      guard words.count >= 4 else { return [] }
      let context = Context.allCases.first { $0.name == words[1] } ?? .list
      return session.keys.bindings(in: context).map {
        Word(name: $0.action.name, detail: $0.help.string)
      }
    },
    help("keys"),
    help("help"),
    Command("search", arguments: "[WORD…]", help: "search title, author and text") {
      $0.searchPosts(for: $1)
    },
    Command("open-post", arguments: "ID", help: "open the post with this ID") { $0.open($1) },
    Command("tag", arguments: "NAME", help: "show the posts with a tag") { $0.showTag($1) }
      .completing { words, session in
        guard words.count == 2 else { return [] }
        let tags = session.feed.posts.flatMap { TextMarks(of: $0.title, $0.body).tags }
        return Set(tags).sorted().map { Word(name: $0) }
      },
    Command("save-search", arguments: "NAME", help: "save the current search under a name") {
      $0.saveSearch(as: $1)
    },
    Command("remove-search", arguments: "NAME", help: "remove a saved search") {
      $0.removeSearch($1)
    }
    .completing { words, session in
      words.count == 2
        ? session.reading.lists.searches.map { Word(name: $0.name, detail: $0.text) } : []
    },
    Command(
      "name",
      arguments: "[NAME]",
      help: "show or change the name others see"
    ) { $0.changeName(to: $1) },
    Command("pipe", arguments: "COMMAND", help: "run a shell command with the post as its input") {
      $0.pipe(to: $1)
    },
    Command("dump-screen", arguments: "FILE", help: "write what the screen shows to a file") {
      [.environment(.write(view($0).text() + "\n", file: $1))]
    },
    Command("save-messages", arguments: "FILE", help: "write all messages to a file") {
      [.environment(.write($0.session.messages.text, file: $1))]
    },
    Command(
      "report",
      arguments: "[FILE]",
      help: "write a problem report to a file, without secrets"
    ) { _, rest in [.environment(.report(file: rest))] },
    Command(
      "net",
      arguments: "[on|off]",
      help: "disconnect this terminal from the database, or reconnect it"
    ) { $0.session.network($1) }
    .completing { words, _ in
      guard words.count == 2 else { return [] }
      return [
        Word(name: "off", detail: "work without a connection"),
        Word(name: "on", detail: "connect again"),
      ]
    },
    Command(waitIdle, help: "in a script: wait until everything is acknowledged and quiet") {
      _,
      _ in
      []
    },
    Command("quit", help: "quit") { model, _ in model.quit() },
  ]

  private static func help(_ name: String) -> Command {
    let help = "show all keys and commands, or those that contain the word"
    return Command(name, arguments: "[WORD]", help: help) { model, rest in
      model.openAllKeys(search: rest)
      return []
    }
  }
}
