import Foundation
import Testing

extension EndToEnd {
  /// What the Tab key does in the three shells.
  @Suite("Shell completions", .needsTmux)
  struct CompletionTests {
    /// A shell, and the command that starts it with our completions.
    enum Shell: String, CaseIterable {
      case bash, zsh, fish

      var path: String { "/usr/bin/" + rawValue }

      func command(_ sandbox: Sandbox) -> String {
        let files = Sandbox.package + "/assets/completions"
        let folder = sandbox.directory
        switch self {
        case .bash: return "bash --rcfile \(folder)/rc"
        case .zsh: return "env ZDOTDIR=\(folder) zsh"
        case .fish:
          return
            "fish --no-config -C 'source \(files)/hearth.fish; fish_config prompt choose none 2>/dev/null; function fish_prompt; echo \"> \"; end'"
        }
      }

      /// Writes what the shell reads at its start.
      func prepare(_ sandbox: Sandbox) throws {
        let files = Sandbox.package + "/assets/completions"
        let start = "PS1='> '\n"
        let texts: [String: String] = [
          "rc": start + "bind 'set enable-bracketed-paste off'\nsource \(files)/hearth.bash\n",
          ".zshrc": start
            + "fpath=(\(files) $fpath)\nautoload -U compinit && compinit -u -d \(sandbox.directory)/dump\n",
        ]
        for (name, text) in texts {
          try sandbox.write(text, to: name)
        }
        try FileManager.default.createSymbolicLink(
          atPath: sandbox.directory + "/hearth",
          withDestinationPath: Sandbox.program
        )
      }
    }

    @Test(
      "Tab completes options, lists, themes, files, profiles, databases and posts",
      arguments: Shell.allCases
    )
    func tab(shell: Shell) throws {
      guard access(shell.path, X_OK) == 0 else {
        print("completions in \(shell.rawValue) are not tried: it is not installed")
        return
      }
      let sandbox = try Sandbox()
      try shell.prepare(sandbox)
      let id = try sandbox.post("Tea at four")
      try sandbox.hearth("profile", "add", "garden", "--database", "https://blog.example.org")
      try sandbox.hearth("databases", "create", "notebook")
      try sandbox.write("{}", to: "zebra.json")
      let pane = try sandbox.open(
        "env PATH=\(sandbox.directory):$PATH \(shell.command(sandbox))",
        columns: 120
      )
      try pane.waitFor(">")
      let cases = [
        ("hearth --them", "--theme"), ("hearth --theme high", "high-contrast"),
        ("hearth list myt", "mytop"), ("hearth import zeb", "zebra.json"),
        ("hearth --profile gar", "garden"), ("hearth export --ns noteb", "notebook"),
        ("hearth sto", "stop"), ("hearth show ", id),
      ]
      for (typed, completed) in cases {
        try pane.type(typed)
        try pane.press("Tab")
        try pane.waitFor("\(typed) becomes \(completed)") { $0.contains(completed) }
        try pane.press("C-u")
        try pane.waitFor("an empty line") { screen in
          screen.split(separator: "\n").last { $0.contains(">") }?.trimmingCharacters(
            in: .whitespaces
          )
            == ">"
        }
      }
      // Of several posts, the ids are listed, with the titles where the shell shows meanings.
      let second = try sandbox.post("Second cup")
      let listed = shell == .bash ? [id, second] : [id, second, "Tea at four", "Second cup"]
      try pane.type("hearth show ")
      // Bash first completes what the ids have in common.
      for _ in 0..<(shell == .bash ? 3 : 2) { try pane.press("Tab") }
      try pane.waitFor("a list of \(listed)") { screen in listed.allSatisfy(screen.contains) }
    }
  }
}
