import Foundation
import Testing

extension EndToEnd {
  /// Recordings of terminals: made, replayed, exported as films.
  @Suite("Recordings in terminals", .needsTmux)
  struct ReplayInTerminalsTests {
    @Test("A report replays what its user saw and never overwrites a file")
    func report() throws {
      let sandbox = try Sandbox()
      let pane = try sandbox.open(as: "ann")
      try pane.waitFor("No posts yet")
      try sandbox.post("A strange post", "b", by: "bob")
      try pane.waitFor("A strange post")
      try pane.press("Enter", until: "No comments yet")
      let file = sandbox.directory + "/report.txt"
      try pane.enter(":report \(file)", until: "The report is in")
      let text = try String(contentsOfFile: file, encoding: .utf8)
      #expect(text.contains("\n== doctor ==\n") && text.contains("A strange post"))
      let script = try sandbox.succeed("replay", file, "--script")
      #expect(script.output.contains("as bob post A strange post | b"), "\(script.output)")
      #expect(script.output.contains("key Enter"))
      try pane.enter(":report \(file)", until: "exists; remove it")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    }

    @Test("An asciicast played in a terminal ends with the recorded screen")
    func cast() throws {
      let sandbox = try Sandbox()
      let file = sandbox.directory + "/session.jsonl"
      let alice = try sandbox.open(as: "alice", "--record \(file)")
      try sandbox.post("漢字 title", by: "bob")
      try alice.waitFor("漢字 title")
      try alice.press("s", until: "★")
      try alice.press("Enter", until: "text")
      // The read mark is written automatically, and is not shown as pending.
      try waitUntil("the mark is stored") {
        try sandbox.hearth("get", "/seen/alice", "--user", "alice").output.contains("marks")
      }
      try alice.waitUntilAcknowledged()
      // A killed terminal leaves a recording that ends with its last line.
      var screens = try alice.screen()
      try waitUntil("the screen is quiet") {
        let before = screens
        screens = try alice.screen()
        return before == screens
      }
      kill(try alice.process(), SIGKILL)
      let cast = sandbox.directory + "/session.cast"
      #expect(try sandbox.hearth("replay", file, "--cast", cast).status == 0)
      let lines = try String(contentsOfFile: cast, encoding: .utf8).split(separator: "\n")
      #expect(try object(String(lines[0]))["version"] as? Int == 2)
      let output = try lines.dropFirst().map { line -> String in
        let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [Any]
        return try #require(event?[2] as? String)
      }.joined()
      let bytes = try sandbox.write(output, to: "bytes")
      let viewer = try sandbox.open("cat \(bytes); sleep 1000")
      try viewer.waitFor("the film shows what the terminal showed") { shown in
        Self.withoutStatus(shown) == Self.withoutStatus(screens)
      }
    }

    /// The screen without the status line, whose response time may change at any moment.
    private static func withoutStatus(_ screen: String) -> String {
      screen.split(separator: "\n", omittingEmptySubsequences: false).prefix(22)
        .joined(separator: "\n")
    }

    @Test("Keys step forward and back, and the timeline says who did what")
    func stepping() throws {
      let sandbox = try Sandbox()
      let file = Sandbox.package + "/assets/demos/two-terminals.jsonl"
      let pane = try sandbox.open("\(Sandbox.program) replay \(file)", columns: 100, rows: 30)
      try pane.waitFor("The beginning.")
      try pane.press("s", until: "bob starred")
      try pane.press("c", until: "bob commented")
      try pane.press("S", until: "bob starred")
      try pane.press("Home", until: "The beginning.")
      try pane.press("f", "f", "Space", until: "x16")
      try pane.press("q")
      try waitUntil("the replay has ended") { try !pane.isOpen }
    }

    @Test("A recording of a sign-in contains neither password nor token")
    func secrets() throws {
      let sandbox = try Sandbox()
      let (_, url) = try sandbox.serveBlog()
      let secret = "correct horse staple"
      try sandbox.signUp("ann", at: url, password: secret)
      #expect(try sandbox.hearth("sign-out", "--database", url).status == 0)
      let file = sandbox.directory + "/session.jsonl"
      let pane = try sandbox.open("\(Sandbox.program) --database '\(url)' --record \(file)")
      try pane.waitFor("Who are you?", within: 30)
      try pane.press("Enter", until: "Password")
      try pane.type("ann@example.org")
      try pane.press("Tab")
      try pane.enter(secret, until: "online")
      // The inspector as well, which shows the traffic on the wire.
      try pane.press("F12", until: "Inspector")
      try pane.press("Escape")
      // An escape followed immediately by a key would be a different key.
      try pane.waitFor("the list is back") { !$0.contains("Inspector") }
      try pane.press("q")
      try waitUntil("the terminal has ended") { try !pane.isOpen }
      let text = try String(contentsOfFile: file, encoding: .utf8)
      #expect(text.contains("\"wire\""))
      // Its words are long enough not to occur in a random key.
      for word in secret.split(separator: " ") { #expect(!text.contains(word)) }
      // It is not recorded key by key either: keys are recorded only from the blog's first screen
      // on.
      let keys = text.matches(of: /"key":{"_0":"([^"]+)"/).map(\.1)
      #expect(keys == ["F12", "Esc", "q"])
      #expect(!Secret.hasToken(text))
    }
  }
}
