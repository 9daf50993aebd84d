import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Interactions between users, and what their terminals can do, on real terminals.
  @Suite("Social features in terminals", .needsTmux)
  struct SocialInTerminalsTests {
    private static let program = Sandbox.program

    @Test("A new user is asked for a name once")
    func name() throws {
      let sandbox = try Sandbox()
      let first = try sandbox.open(Self.program)
      try first.waitFor("What shall others call you?")
      // What is typed before anybody can have noticed the question is no answer.
      usleep(700_000)
      try first.press("C-u")
      try first.enter("Ann B.", until: "Your name is Ann B. now")
      let second = try sandbox.open(Self.program)
      try second.waitFor("Ann B. ·")
      #expect(try !second.screen().contains("call you"))
      try second.enter(":name Bea")
      try first.waitFor("Your name is Bea now")
      #expect(try sandbox.hearth("name").output == "Bea\n")
    }

    @Test("Online users are listed once, with what they read unless they hide it")
    func reading() throws {
      let sandbox = try Sandbox()
      let post = try sandbox.post("Tea", by: "ann")
      let ann = try sandbox.open(as: "ann", columns: 132)
      try ann.waitFor("Tea")
      let bobs = try (0..<2).map { _ in try sandbox.open(as: "bob") }
      try ann.waitFor("2 here")
      try ann.press("w")
      try ann.waitFor("bob once, at the lists") {
        $0.components(separatedBy: "bob  ").count == 2 && $0.contains("and another one")
          && $0.components(separatedBy: "looks at the lists").count == 3
      }
      try bobs[1].waitFor("Tea")
      try bobs[1].press("Enter")
      try ann.waitFor("reads \"Tea\"")
      let printed = try sandbox.hearth("people", "--user", "ann")
      #expect(printed.lines.count == 2 && printed.output.contains("reads \"Tea\""))
      let json = try sandbox.hearth("people", "--user", "ann", "--json").lines.map { line in
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      }
      let terminals = json.last??["terminals"] as? [[String: Any]]
      let places = terminals?.compactMap { $0["reading"] as? [String: Any] }
      #expect(json.map { $0?["name"] as? String } == ["ann", "bob"])
      #expect(places?.count == 2 && places?.compactMap { $0["post"] as? String } == [post])
      try bobs[1].type(":set share-reading false")
      try bobs[1].press("Enter")
      try ann.waitFor("bob keeps it to himself") {
        !$0.contains("reads") && $0.contains("bob  ")
      }
    }

    @Test("A notice opens its comment, a reply names its addressee, and show prints both")
    func answers() throws {
      let sandbox = try Sandbox()
      let post = try sandbox.post("Tea", "Come over", by: "ann")
      let ann = try sandbox.open(as: "ann")
      try ann.waitFor("Tea")
      try ann.waitUntilAtHome(as: "ann")
      let comment = try sandbox.hearth("comment", post, "On my way", "--user", "bob").lines[0]
      try ann.press("F3", until: "Notices")
      try ann.waitFor("On my way")
      try ann.press("Enter", until: "Come over")
      try ann.press("r", until: "To bob")
      try ann.enter("Bring **milk**")
      try ann.waitUntilAcknowledged()
      let bob = try sandbox.open(as: "bob")
      try bob.waitFor("Tea")
      try bob.press("Enter", until: "└ ann")
      try bob.waitFor("Bring milk")
      // A folded answer becomes a number; unfolding brings it back.
      try bob.press("G", "z", until: "1 answer")
      #expect(try !bob.screen().contains("Bring milk"))
      try bob.press("z", until: "Bring milk")
      let shown = try sandbox.hearth("show", post, "--user", "bob")
      #expect(shown.lines.contains { $0.hasSuffix("answering bob (\(comment))") })
      let json = try sandbox.hearth("show", post, "--json")
      #expect(json.output.contains(#""parent":"\#(comment)""#))
      // Scripts can answer, too.
      try sandbox.hearth("comment", post, "--answer", comment, "Me too", "--user", "carol")
      try bob.waitFor("Me too")
      #expect(try sandbox.hearth("comment", post, "--answer", "nope", "x").status == 3)
      #expect(try sandbox.hearth("fsck").output == "1 post, 3 comments, 0 stars: no fault\n")
    }

    @Test("Links in a post are terminal hyperlinks with the displayed target")
    func links() throws {
      let sandbox = try Sandbox()
      let body = "See [bank.example](https://evil.example/x) and https://me@a.example/y."
      try sandbox.post("Links", body, by: "bob")
      let session = try TerminalSession(
        ["--user", "ann"],
        in: sandbox,
        environment: ["TERM": "xterm-256color", "VTE_VERSION": "7200"]
      )
      try session.wait(for: "Links")
      session.type("\r")
      try session.wait(for: "bank.example (evil.example)")
      // The links follow the text in the same frame, and may arrive with the next bytes.
      try session.wait(for: "links") { $0.cells.joined().contains { $0.link != nil } }
      func text(of address: String) -> String {
        session.terminal.cells.joined().filter { $0.link == address }.map(\.text).joined()
      }
      #expect(text(of: "https://evil.example/x") == "bank.example")
      #expect(text(of: "https://me@a.example/y") == "https://me@a.example/y")
      session.type(":set hyperlinks false\r")
      try session.wait(for: "no link any more") { terminal in
        terminal.cells.joined().allSatisfy { $0.link == nil }
          && terminal.lines.contains { $0.contains("bank.example (evil.example)") }
      }
      #expect(session.terminal.offences == [])
      session.type("qq")
      #expect(try session.waitForEnd() == 0)
    }

    @Test("A terminal is queried once about joined emoji, and the answer is kept")
    func families() throws {
      let sandbox = try Sandbox()
      try sandbox.post("We 👨‍👩‍👧 and 👋🏽", "b", by: "bob")
      for round in 1...2 {
        let session = try TerminalSession(
          ["--user", "ann"],
          in: sandbox,
          environment: ["TERM": "xterm-256color"],
          joinsEmoji: true
        )
        // The first screen does not wait for the terminal's answer.
        if round == 1 {
          try session.wait(for: "We 👨 and 👋")
          session.type(session.terminal.answers)
        }
        try session.wait(for: "We 👨‍👩‍👧 and 👋🏽")
        #expect(session.terminal.answers.isEmpty == (round == 2))
        #expect(session.terminal.offences == [])
        session.type("q")
        #expect(try session.waitForEnd() == 0)
      }
    }
  }
}
