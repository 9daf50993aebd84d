/// The manual pages that are generated solely from the tables of keys, commands, settings and
/// themes.
package enum ManualPages {
  /// hearth-keys(7): all keys, actions and commands.
  package static var keys: String {
    var page = Roff(
      name: "hearth-keys",
      section: 7,
      summary: "keys, actions and commands of hearth"
    )
    page.heading("Description")
    page.paragraph(
      "What every key does when no configuration says otherwise. Keys are written as the program "
        + "shows them: ^X is Control with x, Alt-x is Alt with x, and up to four keys with "
        + "blanks between them are typed one after the other, at any speed: a sequence has no "
        + "timeout, but any key that does not continue it ends it, such as Esc. The screen shows what "
        + "can follow. The name of an action can be typed as a command "
        + "after a colon, and is what a configuration file binds keys to: see hearth-config(5)."
    )
    page.heading("Keys")
    for context in Context.allCases {
      let rows = KeyTable.standard.bindings(in: context)
      guard !rows.isEmpty else { continue }
      page.subheading(context.title.string + " (\(context.name))")
      for row in rows {
        let keys = row.keysText.string
        page.item(
          keys.isEmpty ? ":\(row.action.name)" : keys,
          meaning: "\(row.action.name): \(row.help.string)"
        )
      }
    }
    page.subheading("Where text is typed")
    for (keys, meaning) in editing { page.item(keys, meaning: meaning) }
    page.heading("Commands")
    page.paragraph(
      "A colon begins a command, Tab completes it, and the arrows bring back earlier ones. An "
        + "unambiguous prefix of a name is enough. In addition to the names of all actions, there "
        + "are:"
    )
    for command in Command.all {
      let words = command.arguments.isEmpty ? "" : " " + command.arguments
      page.item(":\(command.name)\(words)", meaning: command.help)
    }
    page.heading("See also")
    page.paragraph("hearth(1), hearth-config(5)")
    return page.text
  }

  /// The keys of all editors.
  private static let editing = [
    ("^A, Home", "to the start of the line"),
    ("End, ^E", "to the end of the line; in a post, ^E goes on in your editor"),
    ("^B, Left; ^F, Right", "a character back or on"),
    ("Alt-b, ^Left; Alt-f, ^Right", "a word back or on"),
    ("Alt-<, Alt->", "to the start or the end of the text"),
    ("^H, Backspace; ^D, Del", "delete the character before or after the cursor"),
    ("^W", "delete back to a blank"),
    ("Alt-Backspace, Alt-d", "delete the word before or after the cursor"),
    ("^U, ^K", "delete to the start or the end of the line"),
    ("^Y", "put back what was deleted last"),
    (
      "@, #, :",
      "begin a name, a tag or the name of an emoji; what may complete it is offered from the first "
        + "letter on: Tab takes it, the arrows, ^N and ^P choose, after which Enter takes it as "
        + "well, and Esc closes the list; not in code, and no emoji without Unicode"
    ),
    ("^_, Alt-z", "undo"),
    ("Alt-_, Alt-Z", "redo"),
  ]

  /// hearth-config(5): settings, keys and themes.
  package static var configuration: String {
    var page = Roff(name: "hearth-config", section: 5, summary: "configuration of hearth")
    page.heading("Description")
    page.paragraph(
      "The file is TOML: $XDG_CONFIG_HOME/hearth/config.toml, or ~/.config/hearth/config.toml, or "
        + "what --config names. It is read again whenever it changes. A line that is wrong has no "
        + "effect, and the program says which one it is and why; the previous value stays "
        + "in effect."
    )
    page.paragraph(
      "A value on the command line wins over one of the environment, which wins over the file. "
        + "\"hearth --print-config\" prints the settings in effect and where each comes from."
    )
    page.heading("Settings")
    for setting in Setting.allCases {
      page.item(
        "\(setting.rawValue) = \(setting.standard.tomlText)",
        meaning: "\(setting.help) Values: \(ConfigurationText.values(of: setting)). "
          + "Variable: \(ConfigurationReader.variable(of: setting))."
      )
    }
    page.heading("Keys")
    page.paragraph(
      "The table [keys] gives keys a meaning wherever the action has one, [keys.PLACE] in one place. "
        + "A key in the file replaces whatever began with it there; the action \"none\" "
        + "takes a key away. hearth-keys(7) lists the places and the actions."
    )
    page.example("[keys.list]\n\"x\" = \"star\"\n\"d d\" = \"delete\"\n\"s\" = \"none\"")
    page.heading("Commands")
    page.paragraph(
      "The table [commands] has shell commands of your own for the selected post: a name and what "
        + "the shell runs, or a table [commands.NAME] with run, key and output. The name can be "
        + "typed like that of any action, and bound in [keys]. The command gets the text of the post "
        + "as its input, without control characters, and what else there is in the variables "
        + "HEARTH_POST_ID, HEARTH_POST_AUTHOR, HEARTH_POST_TITLE and HEARTH_POST_LINK (the first "
        + "link in it, or nothing). Put them in double quotes. Nothing of a post is ever a part of "
        + "what the shell reads."
    )
    page.paragraph(
      "With output = \"page\", which is the default, a page shows what the command writes, if "
        + "anything; with \"none\" nobody sees it; with \"terminal\" the command has the terminal "
        + "until it ends. If it fails, its status and the last line are shown. Without the "
        + "terminal, it has a minute."
    )
    page.example(
      "[commands]\nwords = \"wc -w\"\n\n[commands.keep]\n"
        + "run = 'cat > ~/posts/\"$HEARTH_POST_ID\".txt'\nkey = \"g k\"\n\n[commands.browse]\n"
        + "run = 'w3m \"$HEARTH_POST_LINK\"'\nkey = \"W\"\noutput = \"terminal\""
    )
    page.heading("Themes")
    page.paragraph(
      "A file NAME.toml in the folder themes beside config.toml is a theme of that name. Each line "
        + "gives a part a style: bold, dim, underline, reverse, a colour, and on with a second "
        + "colour for the background. Colours are default, black, red, green, yellow, blue, magenta, "
        + "cyan, white, a number of the palette of 256, or #rrggbb; terminals with fewer colours "
        + "show the nearest. A part that is not named is plain, and the background of the terminal "
        + "stays where no colour is given."
    )
    page.example("title = \"bold\"\nauthor = \"#005f87\"\nselected = \"bold white on blue\"")
    page.paragraph(
      "The parts are: " + Theme.Role.allCases.map(\.rawValue).joined(separator: ", ") + "."
    )
    page.heading("Files")
    page.item("$XDG_CONFIG_HOME/hearth/config.toml", meaning: "the configuration")
    page.item("$XDG_CONFIG_HOME/hearth/themes/", meaning: "themes of your own")
    page.heading("See also")
    page.paragraph("hearth(1), hearth-keys(7)")
    return page.text
  }
}

extension ManualPages {
  /// hearth-script(5): the steps of scripts.
  package static var script: String {
    var page = Roff(name: "hearth-script", section: 5, summary: "scripts that use hearth")
    page.heading("Description")
    page.paragraph(
      "\"hearth --script FILE\" runs the steps in a file, on a blog of its own that is empty at the "
        + "start and gone at the end. The clock stands still except where the script lets time pass, "
        + "and identifiers are not random, so that two runs show the same. The exit status "
        + "is 0 if every step succeeded, 1 if one failed, and 2 if a line is not a step."
    )
    page.paragraph(
      "With \"--show\" the script runs on the terminal for somebody to look at: each key waits for "
        + "\"--pace\" milliseconds, a pause takes up to three seconds, and q ends it. What the "
        + "script does and expects is the same."
    )
    page.heading("Steps")
    page.paragraph("One on each line; empty lines and lines that begin with # are skipped.")
    for (step, meaning) in steps { page.item(step, meaning: meaning) }
    page.heading("Examples")
    page.example(
      "size 80x24\nkey c\ntype Hello\nkey Tab\ntype World\nkey ^S\n:wait-idle\n"
        + "expect Hello\n:dump-screen screen.txt"
    )
    page.heading("See also")
    page.paragraph("hearth(1), hearth-keys(7)")
    return page.text
  }

  private static let steps = [
    ("type TEXT", "type characters; \\n is Enter and \\\\ a backslash"),
    ("key KEY…", "press keys, written as hearth-keys(7) shows them"),
    ("paste TEXT", "paste a text, with \\n for its line breaks"),
    ("size WIDTHxHEIGHT", "give the terminal another size; it begins with 80x24"),
    ("pause N", "let N milliseconds pass"),
    ("clock TIME", "let 90s, 5m, 3h or 2d pass at once"),
    ("wait-for TEXT", "wait until the screen shows the text; half a minute at most"),
    ("expect TEXT", "fail unless the screen shows the text"),
    ("refuse TEXT", "fail if the screen shows the text"),
    ("expect-data PATH JSON", "fail unless the server holds that JSON there; null for nothing"),
    ("wait-for-data PATH JSON", "wait until it does; half a minute at most"),
    ("as NAME post TITLE | TEXT", "let somebody else write a post, with \\n for its line breaks"),
    ("as NAME comment TITLE | TEXT", "let them comment on the post of that title"),
    ("as NAME star TITLE", "let them star it; unstar, delete and type (a comment) likewise"),
    ("as NAME join", "show them as online; leave ends that"),
    (
      "terminal NAME",
      "the next steps are at the terminal of that name, with a user of the same name, or \"of USER\"; "
        + "it starts if it does not run, with what it had not sent; a script begins at alice's"
    ),
    ("kill terminal", "end the terminal in use at once; what was typed and not sent is kept"),
    ("kill server", "end the server at once; start server starts it again with its data"),
    (
      "cut network",
      "cut the way from the terminal in use to the server; slow network N delays everything by N "
        + "milliseconds in each direction, and mend network ends both"
    ),
    (":COMMAND", "do what a command says: see hearth-keys(7); fail if it cannot"),
    (":wait-idle", "wait until everything is acknowledged and all that is shown has come"),
    (":dump-screen FILE", "write what the screen shows to a file"),
  ]
}

/// Builds the text of a manual page piece by piece, with macros that every `man` supports.
package struct Roff {
  package private(set) var text: String
  /// When the pages last changed as a whole.
  private static let date = "2026-11-26"
  /// The length of the lines of a page, which are filled again when it is read.
  private static let lineBytes = 80

  package init(name: String, section: Int, summary: String) {
    text = ".TH \"\(name.uppercased())\" \"\(section)\" \"\(Self.date)\" \"hearth\" \"hearth\"\n"
    heading("Name")
    text += "\(Self.escaped(name)) \\- \(Self.escaped(summary))\n"
  }

  package mutating func heading(_ title: String) {
    text += ".SH \(Self.escaped(title).uppercased())\n"
  }

  package mutating func subheading(_ title: String) {
    text += ".SS \"\(Self.escaped(title))\"\n"
  }

  package mutating func paragraph(_ words: String) {
    beginParagraph()
    text += Self.filled(words)
  }

  /// A heading begins a paragraph of its own.
  private mutating func beginParagraph() {
    let last = text.dropLast().split(separator: "\n").last ?? ""
    if !last.hasPrefix(".SH"), !last.hasPrefix(".SS") { text += ".PP\n" }
  }

  /// Text as lines of the usual length.
  private static func filled(_ words: String) -> String {
    var lines: [String] = []
    for word in words.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      let word = escaped(String(word))
      if let last = lines.last, last.utf8.count + word.utf8.count < lineBytes {
        lines[lines.count - 1] = last + " " + word
      } else {
        lines.append(word)
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  package mutating func item(_ term: String, meaning: String) {
    text += ".TP\n.B \"\(Self.escaped(term).replacing("\"", with: "\\(dq"))\"\n"
    text += Self.filled(meaning)
  }

  /// Adds lines that are shown as they are.
  package mutating func example(_ lines: String) {
    beginParagraph()
    text += ".nf\n"
    for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
      text += "    \(Self.escaped(String(line)))\n"
    }
    text += ".fi\n"
  }

  /// Text with all formatter commands escaped.
  static func escaped(_ words: String) -> String {
    var result = ""
    for character in words {
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case "`": result += "\\(ga"
      case "'": result += "\\(aq"
      case "…": result += "..."
      default: result.append(character)
      }
    }
    return result.hasPrefix(".") ? "\\&" + result : result
  }
}
