import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Hostile texts on every screen that shows user content, through ncurses, byte by byte.
  @Suite("Hostile screens")
  struct HostileScreensTests {
    /// The name of the data directory is on the screen as well.
    private static let folder = "evil\u{1B}[2J\u{202E}漢\u{9B}m"

    private let sandbox: Sandbox

    init() throws {
      sandbox = try Sandbox()
      let file = sandbox.directory + "/hostile.json"
      try HostileBlog.json(now: Date()).write(to: URL(fileURLWithPath: file))
      let outcome = try sandbox.run([
        "import", file, "--data-dir", sandbox.directory + "/" + Self.folder,
      ])
      try #require(outcome.status == 0, "\(outcome.errors)")
    }

    private func open(
      _ arguments: String...,
      kind: String = "xterm-256color"
    ) throws
      -> TerminalSession
    {
      let directory = ["--data-dir", sandbox.directory + "/" + Self.folder]
      return try TerminalSession(
        directory + ["--user", "alice"] + arguments,
        in: sandbox,
        environment: ["TERM": kind]
      )
    }

    /// Types keys, and checks whether the terminal shows what the program intends to show.
    private func check(_ session: TerminalSession, _ what: String, _ keys: String...) throws {
      for key in keys { session.type(key) }
      // Data may arrive from the database between the two captures; then the next ones are
      // compared.
      var differences: [String] = []
      for _ in 0..<20 {
        differences = try differingRows(of: session)
        if differences.isEmpty { break }
      }
      #expect(differences == [], "\(what)")
      #expect(session.terminal.offences == [], "\(what)")
      #expect(session.terminal.shownStrings == [], "\(what)")
    }

    /// The rows that differ from what the program intends, apart from those that report the
    /// capture.
    private func differingRows(of session: TerminalSession) throws -> [String] {
      let name = "dump\(session.output.count)."
      let file = sandbox.directory + "/" + name
      session.type(":dump-screen \(file)\r")
      // The file appears as a whole; by then the message about it on the bottom line may be gone.
      try session.wait(for: name + " is written") { _ in
        FileManager.default.fileExists(atPath: file)
      }
      session.settle()
      let meant = try String(contentsOfFile: file, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false).map { withoutJoining($0) }
      let shown = session.terminal.lines
      return (0..<20).filter { meant[$0] != shown[$0] }
        .map { "row \($0):\nmeant \(meant[$0])\nshown \(shown[$0])" }
    }

    /// What a terminal that does not join emoji, like this one, should show: the first one, in two
    /// cells.
    private func withoutJoining(_ text: Substring) -> String {
      text.map { character in
        let scalars = character.unicodeScalars
        let isJoined = scalars.dropFirst().contains {
          $0 == "\u{200D}" || $0 == "\u{FE0F}" || (0x1F3FB...0x1F3FF).contains($0.value)
        }
        guard isJoined, let first = scalars.first else { return String(character) }
        return String(Character(first)) + (first.properties.isEmojiPresentation ? "" : " ")
      }
      .joined()
    }

    @Test(
      "Hostile text emits no control characters and keeps every cell in place",
      arguments: ["xterm-256color", "tmux-256color"]
    )
    func screens(kind: String) throws {
      let session = try open(kind: kind)
      try session.wait(for: "online")
      try session.wait(for: "Recent \(HostileBlog.texts.count)")
      try check(session, "list")
      try check(session, "list, next page", " ")
      try check(session, "list, two lines", "v")
      try check(session, "list, five lines", "v")
      try check(session, "list again", "v", "g", "g")
      try check(session, "post", "\r")
      try session.wait(for: "writing")
      for page in 1...4 { try check(session, "post, page \(page)", " ") }
      try check(session, "comments", "G")
      try check(session, "people", "w")
      try check(session, "more people", " ", " ")
      try check(session, "notices", "q", "\u{1B}OR")
      try session.wait(for: "answered you")
      try check(session, "more notices", " ", " ")
      try check(session, "texts as they were written", "q", "R")
      try check(session, "answers that are folded", "G", "Z")
      try check(session, "list of an author", "R", "a")
      try check(session, "inspector", "q", "\u{1B}[24~")
      try check(session, "more events", "k", "k", "k")
      try check(session, "an event", "\r")
    }

    @Test("Text pasted into any field is shown and has no other effect")
    func fields() throws {
      let session = try open()
      try session.wait(for: "online")
      try session.wait(for: "Recent \(HostileBlog.texts.count)")
      // Only the sequence that ends a paste cannot be part of it.
      let paste = "\u{1B}[200~" + HostileBlog.everything + "\u{1B}[201~"
      for keys in ["/", "c", "\r\t", ":", "\u{10}"] {
        session.type(keys)
        session.type(paste)
        session.settle()
        #expect(session.terminal.offences == [], "\(keys.debugDescription)")
        #expect(session.terminal.lines.count == 24)
        // Back to the list, whatever the program asks on the way.
        for key in ["\u{1B}", "n", "\u{1B}"] {
          session.type(key)
          session.settle()
        }
      }
      try check(session, "messages", "\u{1B}OS")
      #expect(session.terminal.shownStrings == [])
    }

    @Test("A notification is one string without control characters")
    func notification() throws {
      let session = try open()
      try session.wait(for: "online")
      let directory = sandbox.directory + "/" + Self.folder
      // Commands refuse controls, and other clients need not.
      func hearth(_ words: String...) throws -> Sandbox.Outcome {
        try sandbox.run(words + ["--data-dir", directory])
      }
      let id = try hearth("post", "--title", "Mine", "--body", "b", "--user", "alice").lines[0]
      #expect(try hearth("set", "/posts/\(id)/title", #""Mine \u001b]0;x\u0007""#).status == 0)
      session.type(":set notifications true\r")
      try session.wait(for: "notifications is now true")
      let text = #"a\u001b]0;pwned\u0007\u009bm\u202eb"#
      let comment = #"{"uid":"bob","author":"bob","text":"\#(text)"}"#
      // Those that are there before the terminal watches the post's comments ring no bell.
      for number in 10..<99 where session.terminal.shownStrings.isEmpty {
        #expect(try hearth("set", "/post-comments/\(id)/\(id)\(number)", comment).status == 0)
        session.settle()
      }
      #expect(!session.terminal.shownStrings.isEmpty)
      #expect(session.terminal.shownStrings.allSatisfy { $0.hasPrefix("9;") })
      #expect(session.terminal.offences == [])
    }

    private func printed(by session: TerminalSession) -> String {
      String(decoding: session.output, as: UTF8.self).replacingOccurrences(of: "\r", with: "")
    }

    @Test("Line mode prints no control characters")
    func plain() throws {
      let session = try open("--plain")
      try session.wait(for: "all posts") { _ in
        printed(by: session).contains("\n\(HostileBlog.texts.count) posts.")
      }
      session.type("list\n")
      try session.wait(for: "the last post of the list") { _ in
        printed(by: session).contains("\n\(HostileBlog.texts.count). ")
      }
      // A post ends with its comments, after a line with their number.
      for (opened, number) in [1, 5].enumerated() {
        session.type("open \(number)\n")
        try session.wait(for: "post \(number)") { _ in
          printed(by: session).matches(of: /\n\d+ comments?\./).count > opened
        }
        session.settle()
      }
      #expect(session.terminal.offences == [])
      #expect(session.terminal.shownStrings == [])
      #expect(!session.output.contains { $0 < 0x20 && $0 != 0x0A && $0 != 0x0D })
    }
  }
}

extension VirtualTerminal {
  /// The strings that were sent, apart from the question about the background, which shows nothing.
  fileprivate var shownStrings: [String] { strings.filter { $0 != "11;?" } }
}
