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

    @Test("Help names the commands by their subjects, the usual options and the exit statuses")
    func help() throws {
      let help = try sandbox.succeed("--help")
      for word in ["--user NAME", "--profile NAME", "THE BLOG:", "SERVERS:", "Exit status"] {
        #expect(help.output.contains(word), "\(word)")
      }
      #expect(!help.output.contains("SUBCOMMANDS"))
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
