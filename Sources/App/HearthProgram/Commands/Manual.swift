import ArgumentParser
import BlogTUI
import Foundation

/// Prints manual pages, which are generated from the tables of the program.
struct Manual: ParsableCommand {
  enum Page: String, CaseIterable, ExpressibleByArgument {
    case hearth = "hearth.1"
    case configuration = "hearth-config.5"
    case script = "hearth-script.5"
    case keys = "hearth-keys.7"
  }

  static let configuration = CommandConfiguration(
    commandName: "manual",
    abstract: "Print a page of the manual, in the form that man reads."
  )

  @Argument(help: "hearth.1, hearth-config.5, hearth-script.5 or hearth-keys.7.")
  var page = Page.hearth

  func run() throws {
    switch page {
    case .hearth: Output.text(CommandManual.text)
    case .configuration: Output.text(ManualPages.configuration)
    case .script: Output.text(ManualPages.script)
    case .keys: Output.text(ManualPages.keys)
    }
  }
}

/// The page hearth(1), generated from the declarations of the command line.
enum CommandManual {
  static var text: String {
    var page = Roff(name: "hearth", section: 1, summary: "a social blog in the terminal")
    let root = Declaration(Hearth.self)
    page.heading("Synopsis")
    page.paragraph("hearth [OPTION…]")
    page.paragraph("hearth COMMAND [OPTION…] [ARGUMENT…]")
    page.heading("Description")
    let discussion = root["discussion"].components(separatedBy: "\n\n").first ?? ""
    page.paragraph(root["abstract"] + " " + discussion)
    let commands = root.subcommands.filter { $0.name != "help" && $0.isShown }
    if let open = commands.first(where: { $0.name == "open" }) {
      page.heading("Options of the screen")
      add(arguments(of: open).filter { !isCommon($0) }, to: &page)
      page.heading("Common options")
      page.paragraph(
        "The screen takes them, and every command that says so. One without a use there is refused."
      )
      add(arguments(of: open).filter(isCommon), to: &page)
    }
    page.heading("Commands")
    for command in commands {
      guard command.name != "open" else {
        page.subheading("hearth open")
        page.paragraph(command["abstract"] + " It takes the options of the screen.")
        continue
      }
      add(command, prefix: "hearth", to: &page)
    }
    addKeys(to: &page)
    addFacts(to: &page)
    return page.text
  }

  private static func add(_ command: Declaration, prefix: String, to page: inout Roff) {
    let name = "\(prefix) \(command.name)"
    let own = arguments(of: command)
    let words = own.filter(\.isPositional).map { $0["valueName"].uppercased() }
    page.subheading(([name] + words).joined(separator: " "))
    page.paragraph(command["abstract"])
    let takesCommon = own.count(where: isCommon) == commonNames.count
    add(own.filter { !takesCommon || !isCommon($0) }, to: &page)
    if takesCommon { page.paragraph("It takes the common options as well.") }
    for inner in command.subcommands where inner.name != "help" {
      add(inner, prefix: name, to: &page)
    }
  }

  private static func add(_ arguments: [Declaration], to page: inout Roff) {
    for argument in arguments {
      let names = argument.names.isEmpty ? [] : [argument.names.joined(separator: ", ")]
      let value = argument.isFlag ? [] : [argument["valueName"].uppercased()]
      page.item((names + value).joined(separator: " "), meaning: argument["abstract"])
    }
  }

  /// The names of the common options, which nearly all commands take.
  private static let commonNames = Set(
    arguments(of: Declaration(CommonCommand.self)).flatMap(\.names)
  )

  private static func isCommon(_ argument: Declaration) -> Bool {
    !commonNames.isDisjoint(with: argument.names)
  }

  /// A command that takes only the common options.
  private struct CommonCommand: ParsableCommand {
    @OptionGroup var options: CommonOptions
  }

  private static func addKeys(to page: inout Roff) {
    page.heading("Keys")
    page.paragraph("All of them are in hearth-keys(7), and on the screen after ?. The first ones:")
    for action: Action in [.help, .open, .back, .compose, .star, .search, .quit] {
      let row = KeyTable.standard.bindings.first { $0.action == action && !$0.keys.isEmpty }
      if let row { page.item(row.keysText.string, meaning: row.help.string) }
    }
  }

  private static func addFacts(to page: inout Roff) {
    page.heading("Exit status")
    for (status, meaning) in exitStatus { page.item(status, meaning: meaning) }
    page.heading("Environment")
    for (variable, meaning) in environment { page.item(variable, meaning: meaning) }
    page.heading("Files")
    page.item(
      "$XDG_CONFIG_HOME/hearth/config.toml",
      meaning: "the configuration: see hearth-config(5)"
    )
    page.item("$XDG_DATA_HOME/hearth", meaning: "the database that all terminals of a user share")
    page.item(
      "$XDG_STATE_HOME/hearth",
      meaning:
        "drafts, the history of commands, and logs: hearth.log of the terminals, server.log of the "
        + "local server. A log of 10 MB is put aside as NAME.1; three of them are kept"
    )
    page.item("$XDG_RUNTIME_DIR/hearth", meaning: "the socket of the local server")
    page.heading("See also")
    page.paragraph("hearth-keys(7), hearth-config(5), hearth-script(5)")
  }

  private static let exitStatus = [
    ("0", "done"), ("1", "it failed"),
    ("2", "the command line, the input or the terminal is not usable"), ("3", "not found"),
    ("4", "not allowed"), ("5", "offline, or no answer in time"),
    ("6", "others changed the same thing too often in the meantime"),
    ("7", "it is done, but the result cannot be printed; the result is on stderr"),
    ("70", "an internal error"), ("128 + N", "ended by the signal N"),
  ]

  private static let environment = [
    ("NO_COLOR", "set and not empty: no colours, unless --color says otherwise"),
    ("TERM", "the terminal; without it, or if it is dumb, only commands work"),
    ("COLORFGBG", "tells a light terminal, for which the light theme is the default"),
    ("LANG, LC_ALL, LC_CTYPE", "not UTF-8: only ASCII is drawn"),
    ("VISUAL, EDITOR", "the editor for posts, with its arguments; no shell is involved"),
    ("BROWSER", "programs for links, with colons between them; no shell is involved"),
    ("ESCDELAY", "how long an escape may wait for the rest of a sequence, in milliseconds"),
    ("HEARTH_…", "a variable for each setting: see hearth-config(5)"),
    ("XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR", "where files are"),
  ]

  private static func arguments(of command: Declaration) -> [Declaration] {
    command.arguments.filter {
      $0.isShown && Set($0.names).isDisjoint(with: ["--help", "--version"])
    }
  }
}

struct Completions: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completion",
    abstract: "Print a script that completes the command line in bash, zsh or fish."
  )

  @Argument("bash, zsh or fish.", completion: .list(["bash", "zsh", "fish"]))
  var shell: String

  func run() throws {
    guard let shell = CompletionShell(rawValue: shell) else {
      throw CommandFailure(.usage, "completions exist for bash, zsh and fish")
    }
    // Ids begin with a dash: only words that begin with two are options here.
    let script = CompletedHearth.completionScript(for: shell)
      .replacing("            -*)\n", with: "            --* | -h)\n")
    Output.text(script + "\n")
  }
}
