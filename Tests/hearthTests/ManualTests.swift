import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Files in assets that the program itself prints; `UPDATE_GOLDENS=1` writes them.
  @Suite("Manual and completions")
  struct ManualTests {
    private static let pages = ["hearth.1", "hearth-config.5", "hearth-script.5", "hearth-keys.7"]
    private static let files =
      pages.map { (["manual", $0], "man/" + $0) } + [
        (["completion", "bash"], "completions/hearth.bash"),
        (["completion", "zsh"], "completions/_hearth"),
        (["completion", "fish"], "completions/hearth.fish"),
      ]

    @Test("The generated assets match the program's output", arguments: files)
    func fresh(arguments: [String], path: String) throws {
      let sandbox = try Sandbox()
      let printed = try sandbox.run(arguments)
      #expect(printed.status == 0)
      let file = Sandbox.package + "/assets/" + path
      let expected = GoldenFile.text(at: file, orWrite: printed.output)
      #expect(printed.output == expected, "\(path) is stale: run the tests with UPDATE_GOLDENS=1")
    }

    @Test("The manual covers every command and option")
    func complete() throws {
      let sandbox = try Sandbox()
      let help = try sandbox.hearth("--help").output
      let manual = try sandbox.hearth("manual").output.replacing("\\-", with: "-")
      let sections = help.components(separatedBy: "\n\n")
      let groups = sections.drop { !$0.hasPrefix("OPTIONS:") }.dropFirst().joined(separator: "\n")
      let commands = groups.split(separator: "\n").compactMap { line -> String? in
        guard line.hasPrefix("  "), !line.hasPrefix("   ") else { return nil }
        return line.split(separator: " ").first.map(String.init)
      }
      #expect(commands.count > 30)
      for command in commands where !["help", "See"].contains(command) {
        #expect(manual.contains("hearth \(command)"), "\(command)")
        let text = programHelp([command])
        #expect(text.contains("USAGE: hearth \(command)"))
        for option in text.matches(of: /(?m)^  (--[a-z-]+)/).map(\.output.1) {
          let isDocumented = manual.contains(String(option))
          #expect(isDocumented || ["--help", "--version"].contains(option), "\(command) \(option)")
        }
      }
    }

    @Test(
      "Formatters of manuals find nothing to report in any page",
      arguments: [
        ("groff", ["-man", "-Tutf8", "-ww"]), ("mandoc", ["-T", "lint", "-W", "style"]),
      ]
    )
    func formatted(name: String, options: [String]) throws {
      guard access("/usr/bin/\(name)", X_OK) == 0 else { return print("\(name) is not installed") }
      let sandbox = try Sandbox()
      for page in Self.pages {
        let words = options + [Sandbox.package + "/assets/man/" + page]
        let outcome = try sandbox.run(words, of: "/usr/bin/\(name)")
        #expect(outcome.status == 0 && outcome.errors == "", "\(page): \(outcome.errors)")
        // What mandoc finds is its output, and groff's is the page.
        #expect((outcome.output == "") == (name == "mandoc"), "\(page): \(outcome.output)")
      }
    }

    @Test("One command installs everything under its prefix")
    func installation() throws {
      let sandbox = try Sandbox()
      let installed = try sandbox.run(
        [sandbox.directory + "/prefix"],
        of: Sandbox.package + "/assets/scripts/install",
        environment: sandbox.environment.merging(["HEARTH": Sandbox.program]) { $1 }
      )
      #expect(installed.status == 0, "\(installed.errors)")
      for file in [
        "bin/hearth", "share/man/man1/hearth.1", "share/man/man5/hearth-config.5",
        "share/man/man7/hearth-keys.7", "share/bash-completion/completions/hearth",
        "share/zsh/site-functions/_hearth", "share/fish/vendor_completions.d/hearth.fish",
        "share/hearth/themes/light.toml", "share/hearth/rules/blog.json",
        "share/hearth/sample/blog.json", "share/hearth/demos/write.txt",
        "share/doc/hearth/rules.md",
      ] {
        #expect(
          FileManager.default.fileExists(atPath: sandbox.directory + "/prefix/" + file),
          "\(file)"
        )
      }
      // The installed program finds its rules, and the pages name files that are there.
      let explained = try sandbox.run(
        ["rules", "explain", "--read", "/posts"],
        of: sandbox.directory + "/prefix/bin/hearth"
      )
      #expect(explained.status == 4)
      let folder = sandbox.directory + "/prefix/share/doc/hearth/"
      for page in try FileManager.default.contentsOfDirectory(atPath: folder) {
        let text = try String(contentsOfFile: folder + page, encoding: .utf8)
        for path in text.matches(of: /\/[^ `"()]*\/share\/hearth\/[a-z\/.-]*[a-z]/).map(\.output) {
          #expect(access(String(path), R_OK) == 0, "\(page): \(path)")
        }
      }
    }
  }
}
