import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Every mistake gets a clear message on stderr, nothing on stdout, and the right status.
  @Suite("Bad input")
  struct BadInputTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private func expect(
      _ outcome: Sandbox.Outcome,
      status: Int32,
      says text: String,
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(outcome.status == status, sourceLocation: sourceLocation)
      #expect(outcome.output.isEmpty, sourceLocation: sourceLocation)
      #expect(outcome.errors.contains(text), "\(outcome.errors)", sourceLocation: sourceLocation)
    }

    /// Expects that a command is refused.
    private func refuse(
      _ words: String...,
      input: String? = nil,
      status: Int32 = 2,
      says text: String,
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let outcome = try sandbox.run(words, input: input)
      expect(outcome, status: status, says: text, sourceLocation: sourceLocation)
    }

    @Test("An unknown ID is not found")
    func unknownID() throws {
      for command in ["show", "star", "unstar", "delete"] {
        try refuse(command, "-Nope", status: 3, says: "there is no post -Nope")
        try refuse(command, "nope", status: 3, says: "there is no post nope")
      }
      try refuse("comment", "nope", "text", status: 3, says: "there is no post nope")
      for (command, id) in [("follow", ""), ("block", "a/b"), ("unmute", "a.b"), ("mute", "x")] {
        try refuse(command, id, status: 3, says: "nobody has the identifier \"\(id)\"")
      }
      let post = try sandbox.post("T")
      try refuse("delete", post, "a.b", status: 3, says: "no comment a.b")
      try refuse("show", "a.b", status: 3, says: "there is no post a.b")
      try refuse("show", "a\u{1}b", status: 3, says: "there is no post")
    }

    @Test("A home directory that is relative is none", arguments: ["", "home", "./home"])
    func relativeHome(home: String) throws {
      var environment = sandbox.environment.filter { !$0.key.hasPrefix("XDG_") }
      environment["HOME"] = home
      for command in ["list", "--plain", "serve", "fsck", "drafts"] {
        let outcome = try sandbox.run(
          ["-c", "cd \"$0\" && exec \"$1\" $2", sandbox.directory, Sandbox.program, command],
          of: "/bin/sh",
          environment: environment
        )
        expect(outcome, status: 2, says: "there is no home directory: set HOME")
      }
      #expect(!FileManager.default.fileExists(atPath: sandbox.directory + "/home"))
    }

    @Test("A home directory that cannot be written is named, and has no use beside --data-dir")
    func unwritableHome() throws {
      var environment = sandbox.environment.filter { !$0.key.hasPrefix("XDG_") }
      // Not even root can make a directory here.
      environment["HOME"] = "/proc/none"
      for command in ["list", "serve", "fsck", "users", "databases create a"] {
        let words = command.split(separator: " ").map(String.init)
        let outcome = try sandbox.run(words, environment: environment)
        expect(outcome, status: 2, says: "cannot create the directory /proc/none")
      }
      let place = ["--data-dir", sandbox.directory + "/data"]
      for words in [["set", "/a", "1"], ["get", "/a"], ["export"], ["stop"]] {
        let outcome = try sandbox.run(words + place, environment: environment)
        #expect(outcome.status == 0, "\(words) \(outcome.errors)")
      }
    }

    @Test("An empty path does not mean the whole database")
    func emptyDatabasePath() throws {
      try sandbox.hearth("set", "/a", "1")
      for words in [["set", "", "null"], ["get", ""], ["watch", "", "--count", "1"]] {
        expect(try sandbox.run(words), status: 2, says: "the path is empty")
      }
      // Where a variable is not set, a key is empty.
      for path in ["/a/", "/a//b", "//"] {
        expect(try sandbox.run(["set", path, "null"]), status: 2, says: "has an empty key")
      }
      #expect(try sandbox.hearth("get", "/").output == "{\"a\":1}\n")
    }

    @Test("A pipe is no database, and is not waited for")
    func pipe() throws {
      let pipe = sandbox.directory + "/pipe"
      try #require(mkfifo(pipe, 0o600) == 0)
      for words in [["fsck", pipe], ["restore", pipe, "--replace"], ["backup", pipe]] {
        expect(try sandbox.run(words), status: 2, says: "\(pipe) is not a file")
      }
    }

    @Test("A relative data directory is refused if the working directory is gone")
    func withoutDirectory() throws {
      let place = sandbox.directory + "/gone"
      let command = """
        mkdir \(place); cd \(place); rmdir \(place); '\(Sandbox.program)' get /a --data-dir d
        """
      let outcome = try sandbox.run(["-c", command], of: "/bin/sh")
      expect(outcome, status: 2, says: "d is below a working directory that no longer exists")
    }

    @Test("A byte order mark at the beginning of stdin is no part of what is read")
    func byteOrderMark() throws {
      let mark = "\u{FEFF}"
      try sandbox.hearth("set", "/a", "-", input: mark + "1")
      #expect(try sandbox.hearth("get", "/a").output == "1\n")
      let post = ["post", "--title", "x", "--body", "-"]
      let id = try sandbox.run(post, input: mark + "Tea").lines[0]
      #expect(try sandbox.hearth("get", "/posts/\(id)/body").output == "\"Tea\"\n")
      let plain = try sandbox.hearth("--plain", input: mark + "name\n").output
      #expect(plain.contains("You are ") && !plain.contains("no command"), "\(plain)")
      try sandbox.hearth("users", "add", "a@b.cd", "--password-stdin", input: mark + "a long one")
      let empty = ["users", "add", "b@b.cd", "--password-stdin"]
      #expect(try sandbox.run(empty, input: mark + "\n").status == 2)
    }

    @Test("Text that is not UTF-8 is rejected in arguments and marked in line mode")
    func notUTF8() throws {
      func shell(_ command: String) throws -> Sandbox.Outcome {
        try sandbox.run(
          ["-c", "hearth() { '\(Sandbox.program)' \"$@\"; }; \(command)"],
          of: "/bin/bash"
        )
      }
      expect(
        try shell(#"hearth post --title $'Gr\xfc\xdfe' --body B"#),
        status: 2,
        says: "argument 3 is not UTF-8"
      )
      expect(
        try shell(#"hearth search $'\xed\xa0\x80'"#),
        status: 2,
        says: "argument 2 is not UTF-8"
      )
      expect(
        try shell(#"printf 'Gr\xfc' | hearth post --title T --body -"#),
        status: 2,
        says: "stdin is not UTF-8"
      )
      let plain = try shell(#"printf 'post\r\nT\xfc\r\nB\r\n.\r\nlist\r\n' | hearth --plain"#)
      #expect(plain.output.contains("What is not UTF-8 cannot be read"), "\(plain.output)")
      #expect(plain.output.contains("1. T\u{FFFD}, by"), "\(plain.output)")
      #expect(!plain.output.contains("There is no command"), "\(plain.output)")
    }

    @Test("Malformed JSON is rejected with its position")
    func malformedJSON() throws {
      try refuse("set", "/x", "{\"a\":}", says: "byte 5")
      let file = try sandbox.write("{\n \"a\": 1,\n oops\n}", to: "bad.json")
      try refuse("import", file, says: "line 3")
      for text in ["[1]", "{\".value\":5}", "{\".priority\":1,\".value\":5}"] {
        try refuse("import", "-", input: text, says: "must be a JSON object")
      }
      try refuse("import", "/no/such/file", says: "No such file or directory")
    }

    @Test("Forbidden characters in a path are named")
    func forbiddenPath() throws {
      for (path, character) in [("/a.b", "."), ("/a#b", "#"), ("/$x", "$"), ("/a[0]", "[")] {
        try refuse("get", path, says: "'\(character)'")
        try refuse("set", path, "1", says: "'\(character)'")
      }
      try refuse("get", "/.info/a.b", says: "'.'")
      try refuse("get", "/a\u{7}", says: "control characters")
      try refuse("set", "/x", "{\"a.b\":1}", says: "'.'")
    }

    @Test("Empty or overlong texts and empty names are rejected")
    func emptyTexts() throws {
      let sentence = "neither title nor body can be empty"
      try refuse("post", "--title", " ", "--body", "x", says: sentence)
      try refuse("post", "--title", "x", "--body", "", says: sentence)
      let wide = String(repeating: "x", count: 70_000)
      for (title, body, problem) in [
        ("x\ny", "x", "the title has more than one line"), ("x", "\u{200B}", sentence),
        (String(wide.prefix(301)), "x", "the title is 1 character too long"),
        ("x", wide, "the text is 4464 characters too long"),
      ] {
        try refuse("post", "--title", title, "--body", "-", input: body, says: problem)
      }
      let id = try sandbox.hearth("post", "--title", "x", "--body", "-", input: "a\r\nb").lines[0]
      #expect(try sandbox.hearth("get", "/posts/\(id)/body").output == "\"a\\nb\"\n")
      try refuse(
        "comment",
        id,
        "-",
        input: String(wide.prefix(10_001)),
        says: "the comment is 1 character too long"
      )
      #expect(try sandbox.hearth("fsck").status == 0)
      try refuse("list", "--user", "", says: "cannot be empty")
      try refuse("list", "--user", "a\u{202E}b", says: "U+202E")
    }

    @Test("An empty path does not mean the working directory")
    func emptyPath() throws {
      let outcome = try sandbox.hearth("set", "/x", "1", "--data-dir", "")
      expect(outcome, status: 2, says: "the path after --data-dir is empty")
      try refuse("migrate", "", "", says: "a path is empty")
    }

    @Test("An unwritable data directory is named")
    func unwritable() throws {
      let file = try sandbox.write("x", to: "file")
      try refuse("list", "--data-dir", file + "/below", says: file)
      try refuse("list", "--data-dir", "/proc/nothing", says: "/proc/nothing")
    }

    @Test("An unusable URL, certificate file or socket path is a usage error")
    func unusableValues() throws {
      for url in [
        "", "ftp://x", "https://example.org", "http://127.0.0.1:99999?ns=x", "http://a b?ns=x",
      ] {
        let outcome = try sandbox.hearth("list", "--database", url)
        expect(outcome, status: 2, says: "is not a database URL")
      }
      let secure = ["list", "--database", "https://127.0.0.1:1?ns=x"]
      let text = try sandbox.write("no certificate", to: "ca.pem")
      for file in ["/nope", text] {
        expect(try sandbox.run(secure + ["--ca-file", file]), status: 2, says: file)
      }
      let long = sandbox.directory + "/" + String(repeating: "x", count: 100)
      try refuse("serve", "--socket", long, says: "107 bytes")
      let profile = try sandbox.hearth("list", "--profile", "nope")
      expect(profile, status: 3, says: "there is no profile \"nope\"")
      #expect(!profile.errors.contains("Usage"))
    }

    @Test("A file or socket of another program is not mistaken for a server")
    func foreignSocket() throws {
      let file = try sandbox.write("x", to: "plain")
      try refuse("list", "--socket", file, says: "is not a socket")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "x")

      let path = sandbox.directory + "/foreign.sock"
      let listener = try ForeignListener(path)
      defer { listener.close() }
      let outcome = try sandbox.hearth("list", "--socket", path, "--timeout", "5")
      expect(outcome, status: 5, says: "not a database server")
      // This would end the process that runs the tests.
      try refuse("stop", "--socket", path, says: "\(path) is not the socket of a server")
      try refuse("export", path, status: 1, says: "\(path) cannot be written: it is a socket")
      try refuse("import", path, says: "\(path) cannot be read: it is a socket")
    }

    @Test("A second server on the same data is refused and names the first")
    func secondServer() throws {
      // This server stays: one started by a command may have ended before the second one checks.
      try sandbox.serve()
      let first = try #require(try sandbox.serverProcess())
      let second = try sandbox.hearth("serve", "--socket", sandbox.directory + "/second.sock")
      expect(second, status: 1, says: "\(first)")
    }

    @Test("A missing or unsuitable terminal is rejected with advice")
    func noTerminal() throws {
      try refuse(says: "hearth list recent")
      let pane = try sandbox.open("TERM=dumb \(Sandbox.program); echo \"status $?\"; exec cat")
      try pane.waitFor("status 2")
      #expect(try pane.screen().contains("dumb"))
      let piped = try sandbox.open("\(Sandbox.program) | cat; exec cat")
      try piped.waitFor("standard output is not a terminal")
      #expect(try sandbox.serverProcess() == nil)
    }

    @Test("Error messages escape control characters of the command line")
    func steering() throws {
      let evil = "\u{1B}[2Jx\u{7}\u{9B}31m\u{202E}y\nError: z"
      for arguments in [
        ["--\(evil)"], ["--\(evil)=v"], [evil], ["list", evil], ["list", "--timeout", evil],
        ["list", "--timeout=\(evil)"], ["list", "--\(evil)=\(evil)"], ["list", "-\(evil)"],
        ["--\(evil)", "list"], ["--data-dir", "x", evil], ["completions", evil],
      ] {
        let outcome = try sandbox.run(arguments)
        let shown = outcome.errors + outcome.output
        let bad = shown.unicodeScalars.filter {
          $0 != "\n" && ($0.properties.generalCategory == .control || $0 == "\u{202E}")
        }
        #expect(bad.isEmpty, "\(arguments): \(shown.debugDescription)")
        #expect(!shown.contains("\nError: z"), "\(arguments)")
        #expect(outcome.status == 2, "\(arguments)")
      }
    }

    @Test("Options before a command belong to it, or the error names their command")
    func leadingOptions() throws {
      let directory = sandbox.directory + "/elsewhere"
      // This server stays, as above.
      try sandbox.serve("--data-dir", directory)
      try sandbox.hearth("set", "/a", "1", "--data-dir", directory)
      #expect(try sandbox.hearth("--data-dir", directory, "get", "/a").output == "1\n")
      #expect(try sandbox.hearth("--data-dir=\(directory)", "--json", "get", "/a").output == "1\n")
      try sandbox.succeed("--data-dir", directory, "databases", "create", "second")
      #expect(try sandbox.hearth("--data-dir", directory, "databases").output == "hearth\nsecond\n")
      try refuse("--data-dir", directory, "serve", status: 1, says: "in use by another server")
      try refuse(
        "--port",
        "0",
        "list",
        says: "--port is not an option of \"hearth list\", but of \"hearth serve\""
      )
      try refuse("--nonsense", "list", says: "--nonsense")
      // A value that looks like a command is still a value.
      try refuse("--user", "list", "post", "--title", "x", says: "--body")
      #expect(try sandbox.hearth("--version", "list").status == 0)
    }

    @Test("Unknown options and commands are usage errors")
    func usage() throws {
      #expect(try sandbox.hearth("--nonsense").status == 2)
      #expect(try sandbox.hearth("list", "sideways").status == 2)
      #expect(try sandbox.hearth("post", "--title", "x").status == 2)
      let bounds = "--timeout must be a number of seconds above 0, at most 1000000000"
      for time in ["0", "1e18", "nan"] {
        try sandbox.refuse("list", "--timeout", time, says: bounds)
      }
      let help = try sandbox.succeed("--help")
      #expect(help.output.contains("Exit status"))
      for word in ["--user NAME", "--profile NAME", "THE BLOG:", "SERVERS:"] {
        #expect(help.output.contains(word), "\(word)")
      }
      #expect(!help.output.contains("SUBCOMMANDS"))
    }

    @Test(
      "A typo is reported in one line with a suggestion",
      arguments: [
        (["-v"], "unknown option '-v'"),
        (["lst"], "there is no command \"lst\"; did you mean \"hearth list\"?"),
        (["--user", "ann", "pst"], "there is no command \"pst\"; did you mean \"hearth post\"?"),
        (
          ["rules", "chekc", "x"],
          "there is no command \"chekc\"; did you mean \"hearth rules check\"?"
        ),
        (["help", "serv"], "there is no command \"serv\"; did you mean \"hearth serve\"?"),
        (["fortnight"], "there is no command \"fortnight\""),
        (["--uesr", "x"], "unknown option '--uesr'; did you mean '--user'?"),
        (["list", "--jsn"], "unknown option '--jsn'; did you mean '--json'?"),
        (["list", "--usr", "2"], "unknown option '--usr'; did you mean '--user'?"),
        (["--json", "list", "--limt", "2"], "unknown option '--limt'"),
        (["read", "--al"], "unknown option '--al'; did you mean '--all'?"),
        (["list", "--x"], "unknown option '--x'"),
        (["show"], "missing expected argument '<id>'"),
      ]
    )
    func mistyped(words: [String], reason: String) throws {
      let outcome = try sandbox.run(words)
      #expect(outcome.status == 2)
      #expect(outcome.errors.hasPrefix("hearth: \(reason)\n"), "\(outcome.errors)")
      #expect(outcome.output.isEmpty)
    }

    @Test("Help can be read in a terminal of any width", arguments: ["-3", "0", "1", "26", "wide"])
    func narrowHelp(columns: String) throws {
      let environment = sandbox.environment.merging(["COLUMNS": columns]) { $1 }
      for words in ["--help", "open --help", "rules explain --help", "help set"] {
        let words = words.split(separator: " ").map(String.init)
        let outcome = try sandbox.run(words, environment: environment)
        #expect(outcome.status == 0, "\(words)")
        #expect(outcome.output.contains("USAGE: hearth"))
      }
    }

    @Test("A limit of open files that is too low is named", arguments: ["list", "serve", "open"])
    func fewFiles(command: String) throws {
      let script = "ulimit -n 8; exec \(Sandbox.program) \(command)"
      let outcome = try sandbox.run(["-c", script], of: "/bin/sh")
      #expect(outcome.status == 1)
      #expect(
        outcome.errors
          == "hearth: the system allows 8 open files; hearth needs 64 (ulimit -n 64)\n"
      )
    }

    @Test("A command whose pipe is closed ends silently with SIGPIPE")
    func brokenPipe() throws {
      // More than a pipe's buffer: not all of it can be written before the reader has exited.
      let text = String(repeating: "x", count: 1_000)
      let members = (100..<200).map { "\"\($0)\":\"\(text)\"" }.joined(separator: ",")
      try sandbox.hearth("set", "/a", "{\(members)}")
      let script = "set -o pipefail; \(Sandbox.program) watch /a | head -n 1"
      let outcome = try sandbox.run(["-c", script], of: "/bin/bash")
      #expect(outcome.output.hasPrefix("child_added /a/100 \"xxx"))
      #expect(outcome.output.filter { $0 == "\n" }.count == 1)
      #expect(outcome.errors.isEmpty, "\(outcome.errors)")
      #expect(outcome.status == 128 + SIGPIPE)
    }
  }
}

/// Listens on a Unix socket without being a database server.
private final class ForeignListener: Sendable {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let listener = descriptor
    try #require(withUnixAddress(path) { bind(listener, $0, $1) } == 0)
    try #require(listen(listener, 8) == 0)
    Thread.detachNewThread {
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        _ = "220 mail.example ready\r\n".withCString {
          send(connection, $0, strlen($0), Int32(MSG_NOSIGNAL))
        }
        Foundation.close(connection)
      }
    }
  }

  func close() {
    shutdown(descriptor, Int32(SHUT_RDWR))
    Foundation.close(descriptor)
  }
}
