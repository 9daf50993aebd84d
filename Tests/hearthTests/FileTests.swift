import Foundation
import Testing

extension EndToEnd {
  /// The files that commands read and write.
  @Suite("Files of commands")
  struct FileTests {
    private let sandbox: Sandbox

    init() throws {
      sandbox = try Sandbox()
    }

    /// Runs a command line of bash in the sandbox, where `hearth` is the program under test.
    private func shell(_ command: String) throws -> Sandbox.Outcome {
      let words = "cd '\(sandbox.directory)'; hearth() { '\(Sandbox.program)' \"$@\"; }; \(command)"
      return try sandbox.run(["-c", words], of: "/bin/bash")
    }

    private func text(_ name: String) throws -> String {
      try String(contentsOfFile: "\(sandbox.directory)/\(name)", encoding: .utf8)
    }

    @Test("A file name may be a single character")
    func shortNames() throws {
      try sandbox.hearth("set", "/a", "1")
      try sandbox.write("theme = \"light\"\n", to: "t")
      for command in ["export e", "backup b", "--config t --print-config", "fsck b"] {
        let outcome = try shell("hearth \(command)")
        #expect(outcome.status == 0, "\(command): \(outcome.errors)")
      }
      #expect(try object(text("e"))["a"] as? Int == 1)
    }

    @Test("A file that may not become so large is an error")
    func tooLarge() throws {
      let outcome = try shell("set -o pipefail; (ulimit -f 0; hearth report 2>&1) | cat")
      #expect(outcome.status == 1)
      #expect(outcome.output.contains("File too large"), "\(outcome.output)")
    }

    @Test("No command overwrites a database file")
    func ownFiles() throws {
      try sandbox.hearth("set", "/a", "1")
      let data = "data/hearth"
      let links = "mkdir d; ln -s ../\(data)/database.sqlite d/link; touch wal wal-wal"
      #expect(try shell(links).status == 0)
      let names = [
        "database.sqlite", "lock", "server", "database.sqlite-wal", "database.sqlite-mark",
      ]
      for path in names.map({ "\(data)/\($0)" }) + ["d/link", "wal"] {
        let outcome = try shell("hearth export \(path)")
        #expect(outcome.status == 6, "\(path): \(outcome.errors)")
        #expect(outcome.errors.contains("belongs to a database"), "\(outcome.errors)")
      }
      #expect(try shell("hearth serve --log \(data)/database.sqlite --socket s").status == 6)
      #expect(
        try shell("hearth export \(data)/out.json; hearth export \(data)/out.json").status == 0
      )
      #expect(try sandbox.hearth("get", "/a").output == "1\n")
    }

    @Test("An export of a named database that is missing or cannot be read keeps the old file")
    func wrongDirectory() throws {
      try sandbox.write("good", to: "out.json")
      for command in ["true", "mkdir typo", "rm -r typo; ln -s typo typo"] {
        let outcome = try shell("\(command); hearth export out.json --data-dir typo")
        #expect(outcome.status != 0 && outcome.errors.contains("/typo"))
        #expect(try text("out.json") == "good")
      }
    }

    @Test(
      "A closed standard input or a directory is rejected with a reason",
      arguments: [
        "post --title a --body -", "set /a -", "rules check -", "rules explain --request -",
        "replay - --golden", "import -",
      ]
    )
    func unreadableInput(command: String) throws {
      for (input, reason) in [("<&-", "it is closed"), ("</tmp", "Is a directory")] {
        let outcome = try shell("hearth \(command) \(input)")
        #expect(outcome.status == 2, "\(outcome.errors)")
        #expect(outcome.errors.contains("stdin cannot be read: \(reason)"), "\(outcome.errors)")
      }
    }

    @Test("A backup can only be written to a file")
    func device() throws {
      try sandbox.hearth("set", "/a", "1")
      try sandbox.refuse("backup", "/dev/null", says: "/dev/null is not a file")
      try sandbox.refuse("backup", "-", says: "a copy needs a file")
    }

    @Test("A password that is not UTF-8 text is refused")
    func notUTF8() throws {
      let add = "hearth users add a@b.cd --password-stdin"
      let refused = try shell("printf 'correct h\\xfcrse\\n' | \(add)")
      #expect(refused.status == 2 && refused.errors.contains("the input is not UTF-8 text"))
      #expect(try shell("printf 'correct horse\\r\\n' | \(add)").status == 0)
    }

    @Test("Pipes are read like files")
    func pipes() throws {
      try sandbox.write(Sandbox.openRules, to: "rules.json")
      #expect(try shell("hearth rules check <(cat rules.json)").status == 0)
      #expect(try shell("mkfifo f; cat rules.json > f & hearth rules check f").status == 0)
      #expect(try shell("hearth rules check /dev/null").errors.contains("/dev/null:1:"))
      let folder = try shell("hearth rules check .")
      #expect(folder.status == 2)
      #expect(folder.errors.contains(". cannot be read: Is a directory"))
      let configured = try shell("hearth --print-config --config <(echo 'theme = \"light\"')")
      #expect(configured.status == 0)
      #expect(configured.output.contains("theme = \"light\""))
    }
  }
}
