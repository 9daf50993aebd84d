package import ArgumentParser
import BlogTUI
import Foundation

/// Runs the command line of a program and maps every outcome to an exit status.
package enum CommandRun {
  /// Parses the command line, runs the command and, if it fails, ends the process.
  package static func main<Root: AsyncParsableCommand>(_ root: Root.Type) async {
    FileDescriptors.reserveStandardOnes()
    // What cannot be written is an error, not the end of the program.
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    let words = Array(Swift.CommandLine.arguments.dropFirst())
    var asker: CommonOptions?
    do {
      if let number = unreadableWord() {
        throw CommandFailure(.usage, "argument \(number) is not UTF-8 text")
      }
      if let problem = UsageMessage.unknownHelp(words, of: root) {
        throw CommandFailure(.usage, problem)
      }
      let command = try parse(words, of: root)
      try FileDescriptors.requireEnough()
      asker = (command as? any BlogCommand)?.options
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        var command = command
        try command.run()
      }
      if Output.status != .ok { throw Output.status.exitCode }
    } catch let code as ExitCode {
      Foundation.exit(code.rawValue)
    } catch {
      widenHelp()
      let status = root.exitCode(for: error)
      if status == .validationFailure || status == .success {
        let isHelp = status == .success
        if let failure = Profile.failure(in: words),
          failure.description == root.message(for: error)
        {
          Output.message(failure.description)
          Foundation.exit(failure.status.rawValue)
        }
        let message = root.fullMessage(for: error).replacing(": SUBCOMMANDS:", with: ":")
        let safe = Output.safe(message, echoing: words)
        Output.help(isHelp ? safe : UsageMessage.text(safe, for: words, of: root), isHelp: isHelp)
        Foundation.exit(isHelp ? ExitStatus.ok.rawValue : ExitStatus.usage.rawValue)
      }
      let failure = CommandFailure(error, of: asker)
      Output.message(failure.description)
      Foundation.exit(failure.status.rawValue)
    }
  }
}

extension CommandRun {
  /// The fewest columns for help: in fewer than its indentation, the parser ends the process.
  private static let fewestColumns = 30

  /// Lays out help as for a wider terminal where the terminal is too narrow for it.
  private static func widenHelp() {
    var size = winsize()
    let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    let wished = getenv("COLUMNS").flatMap { Int(String(cString: $0)) }
    guard let columns = wished ?? (isKnown ? Int(size.ws_col) : nil), columns < fewestColumns else {
      return
    }
    setenv("COLUMNS", String(fewestColumns), 1)
  }

  /// Parses the command line.
  ///
  /// One command is tried alone first, since the parser would prepare all others. Whatever it
  /// refuses is left to the root, as are mistakes.
  private static func parse(_ words: [String], of root: CommandType) throws -> any ParsableCommand {
    // Options alone are those of the default command. Only when they are not need the names of all
    // commands be known, to find the one that stands behind its options.
    let isOpened = words.first?.hasPrefix("-") ?? true
    var moved = words
    var parsed = isOpened ? alone(words, of: root) : nil
    if parsed == nil {
      moved = try LeadingOptions.moved(words, of: root)
      // What a reload asks for has not been read yet; it must not end a server that starts.
      if moved.first == "serve" { signal(SIGHUP, SIG_IGN) }
      parsed = alone(moved, of: root)
    }
    let command = try parsed ?? root.parseAsRoot(DashedWord.protect(moved, of: root))
    try OptionUse.check(moved, of: root)
    return command
  }

  /// The command that the first words name, or else the default one; nil if it refuses the others.
  private static func alone(_ words: [String], of root: CommandType) -> (any ParsableCommand)? {
    let words = DashedWord.protect(words, of: root)
    let (command, _, rest) = OptionUse.command(in: words, of: root)
    guard Set(words).isDisjoint(with: ["-h", "--help", "--version"]),
      command.configuration.subcommands.isEmpty, let parsed = try? command.parseAsRoot(rest),
      type(of: parsed) == command
    else { return nil }
    return parsed
  }

  /// The number of the first argument that is not UTF-8: Swift replaces what it cannot read in it.
  private static func unreadableWord() -> Int? {
    // Safety: the arguments exist, unchanged, until the process ends.
    let words = Swift.CommandLine.unsafeArgv
    return (0..<Int(Swift.CommandLine.argc)).first { number in
      words[number].map { String(validatingCString: $0) == nil } ?? false
    }
  }
}

/// Moves options after the command that they belong to, as in `hearth --data-dir D serve`.
///
/// Otherwise they would count as options of `hearth` itself, which opens the blog.
enum LeadingOptions {
  /// Moves the options before a command to after its name.
  ///
  /// - Throws: ``CommandFailure`` for an option that belongs to other commands only.
  static func moved(
    _ arguments: [String],
    of program: CommandType
  ) throws(CommandFailure) -> [String] {
    guard arguments.first?.hasPrefix("--") == true else { return arguments }
    let names = Set(program.configuration.subcommands.map { $0._commandName })
    guard arguments.contains(where: names.contains) else { return arguments }
    if let moved = usuallyMoved(arguments, of: program) { return moved }
    let root = Declaration(program)
    let all = root.descendants(root.name)
    let known = all.reduce(into: root.options) { $0.merge($1.command.options) { old, _ in old } }
    guard let (options, start) = leading(in: arguments, knowing: known),
      var command = root.subcommand(arguments[start])
    else { return arguments }
    var end = start + 1
    while end < arguments.count, let inner = command.subcommand(arguments[end]) {
      command = inner
      end += 1
    }
    let own = command.options
    if let stranger = options.first(where: { own[$0] == nil }) {
      let path = ([root.name] + arguments[start..<end]).joined(separator: " ")
      let owners = all.filter { $0.command.options[stranger] != nil }.map { "\"\($0.path)\"" }
      throw CommandFailure(
        .usage,
        "\(stranger) is not an option of \"\(path)\", but of \(owners.joined(separator: ", "))"
      )
    }
    return Array(arguments[start..<end] + arguments[..<start] + arguments[end...])
  }

  /// The words if the default command and the one that they name have all options; nil otherwise.
  ///
  /// Two commands are prepared for that; to prepare all of them is most of the work of a start.
  private static func usuallyMoved(_ arguments: [String], of program: CommandType) -> [String]? {
    guard let known = program.configuration.defaultSubcommand.map(Declaration.init)?.options,
      let (options, start) = leading(in: arguments, knowing: known)
    else { return nil }
    let (type, _, rest) = OptionUse.command(in: Array(arguments[start...]), of: program)
    let end = arguments.count - rest.count
    guard end > start, Set(options).isSubset(of: Declaration(type).options.keys) else { return nil }
    return Array(arguments[start..<end] + arguments[..<start] + arguments[end...])
  }

  /// The names of the options before the first word that is none, and the index of that word.
  ///
  /// Nil if there is no such word, for an unknown option and for a request for help, which are left
  /// to the parser.
  private static func leading(
    in arguments: [String],
    knowing known: [String: Bool]
  ) -> (options: [String], start: Int)? {
    var options: [String] = []
    var start = 0
    while start < arguments.count, arguments[start].hasPrefix("--") {
      let word = arguments[start]
      let name = String(word.prefix { $0 != "=" })
      guard let takesValue = known[name], name != "--help", name != "--version" else { return nil }
      options.append(name)
      start += takesValue && !word.contains("=") ? 2 : 1
    }
    return start < arguments.count ? (options, start) : nil
  }
}

extension Declaration {
  /// Whether each option takes a value, by name, including those of the default subcommand.
  fileprivate var options: [String: Bool] {
    let own = arguments.flatMap { option in option.names.map { ($0, option.takesValue) } }
    let inner = subcommand(self["defaultSubcommand"])?.options ?? [:]
    return Dictionary(own) { $1 }.merging(inner) { own, _ in own }
  }

  /// All commands within this one, with their full names.
  fileprivate func descendants(_ prefix: String) -> [(path: String, command: Declaration)] {
    subcommands.flatMap { [("\(prefix) \($0.name)", $0)] + $0.descendants("\(prefix) \($0.name)") }
  }
}

/// Words of the command line that start with a dash but are not options, such as the ids of posts.
///
/// All options of this program have long names (`--user`), so a single dash starts a value; only
/// `-h` is kept for help. ArgumentParser would treat such words as options. The value of an option
/// is therefore joined to it (`--code=-x`); any other word is marked before ArgumentParser sees it,
/// and the mark is removed where the word is used.
enum DashedWord {
  /// A control character that no one types before a dash.
  private static let mark: Character = "\u{1}"

  /// Joins or marks the words that only look like options, for ArgumentParser to understand them as
  /// this program means them.
  static func protect(_ arguments: [String], of program: CommandType) -> [String] {
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    guard arguments[..<end].contains(where: isValue) else { return arguments }
    // Most such words follow no option, and to prepare a command takes long.
    lazy var options = Declaration(OptionUse.command(in: arguments, of: program).type)
      .arguments.namesWithValues
    var words: [String] = []
    for word in arguments[..<end] {
      if isValue(word), let option = words.last, option.hasPrefix("--"), options.contains(option) {
        words[words.count - 1] = "\(option)=\(word)"
      } else {
        words.append(marked(word))
      }
    }
    return words + arguments[end...]
  }

  /// The word as ArgumentParser gets it if it stands alone.
  fileprivate static func marked(_ word: String) -> String {
    isValue(word) ? "\(mark)\(word)" : word
  }

  private static func isValue(_ word: String) -> Bool {
    word.hasPrefix("-") && !word.hasPrefix("--") && word != "-h"
  }

  /// The word as the user typed it.
  @Sendable static func restore(_ word: String) -> String {
    word.hasPrefix("\(mark)-") ? String(word.dropFirst()) : word
  }
}

extension Argument {
  /// An argument that may start with a dash.
  init(_ help: ArgumentHelp, completion: CompletionKind? = nil) where Value == String {
    self.init(help: help, completion: completion, transform: DashedWord.restore)
  }

  init(_ help: ArgumentHelp, completion: CompletionKind? = nil) where Value == String? {
    self.init(help: help, completion: completion, transform: DashedWord.restore)
  }
}

extension Output {
  /// Makes a help text or a message with words of the command line safe to print on a terminal.
  static func safe(_ text: String, echoing words: [String]) -> String {
    var text = text
    // For an option with a value, the message may name the option or the value alone.
    let parts = words.flatMap { word in
      [word] + word.split(separator: "=", maxSplits: 1).map(String.init)
    }
    for part in parts.sorted(by: { $0.utf8.count > $1.utf8.count }) {
      let safe = SafeText(untrusted: part, mode: .singleLine).string
      let marked = DashedWord.marked(part)
      if marked != part { text = text.replacing(marked, with: safe) }
      if safe != part { text = text.replacing(part, with: safe) }
    }
    return text
  }

  /// Writes help to stdout, or a message about the command line to stderr.
  static func help(_ text: String, isHelp: Bool) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { SafeText(untrusted: String($0), mode: .singleLine).string }
    write(lines.joined(separator: "\n") + "\n", to: isHelp ? STDOUT_FILENO : STDERR_FILENO)
  }
}
