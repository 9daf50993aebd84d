import Foundation
import Testing

extension EndToEnd {
  /// The tutor: lessons that are over once they are done, and a second person who answers.
  @Suite("hearth tutor", .needsTmux)
  struct TutorTests {
    private static let last = "That was the tutor."

    private static func start(
      in sandbox: Sandbox,
      variables: String = "",
      columns: Int = 80,
      rows: Int = 24
    ) throws -> Sandbox.Pane {
      let pane = try sandbox.open(
        "sh -c 'echo $$ > \(sandbox.directory)/pid; exec env \(variables) \(Sandbox.program) tutor'"
          + "; echo \"status $?\"; sleep 1000",
        columns: columns,
        rows: rows
      )
      try pane.waitFor("1 of 10: Move")
      return pane
    }

    /// Waits until the program has ended well and its directory is gone.
    private static func expectEnd(of pane: Sandbox.Pane, _ sandbox: Sandbox) throws {
      try pane.waitFor(last)
      try pane.waitFor("status 0")
      let process = try String(contentsOfFile: sandbox.directory + "/pid", encoding: .utf8)
      let remains = try FileManager.default.contentsOfDirectory(atPath: "/tmp").filter {
        let owner = FileManager.default.contents(atPath: "/tmp/\($0)/owner") ?? Data()
        return $0.hasPrefix("hearth-demo-") && !owner.isEmpty
          && process.hasPrefix(String(decoding: owner, as: UTF8.self))
      }
      #expect(remains.isEmpty)
    }

    @Test("Completing every lesson earns replies and, in the end, a star")
    func learning() throws {
      let sandbox = try Sandbox()
      let pane = try Self.start(in: sandbox)
      // Both terminals show the posts.
      try pane.waitFor("robin's posts are shown") { screen in
        screen.components(separatedBy: "Hello from the other").count == 3
          && screen.contains("▌ Hello from the other")
      }
      try pane.press("j", until: "2 of 10: Open a post")
      try pane.press("Enter", until: "3 of 10: Give a star")
      try pane.press("s", until: "4 of 10: Comment")
      try pane.press("c", until: "Enter send")
      try pane.enter("A fine bench", until: "5 of 10: Write a post")
      try pane.waitFor("Well said!")
      try pane.press("Escape", until: "c write")
      try pane.compose("My first words", "They are few.")
      try pane.waitFor("6 of 10: Find")
      try pane.press("/")
      try pane.enter("robin", until: "7 of 10: Undo")
      try pane.press("Escape")
      try pane.waitFor("the search is over") { $0.contains("▌") && $0.contains("My first words") }
      let stars = { (screen: String) in screen.firstMatch(of: #/▌.*[★☆] +(\d)/#).map { $0.1 } }
      var before: Substring?
      try pane.waitFor("the marked post shows its stars") { screen in
        before = stars(screen)
        return before != nil
      }
      try pane.press("s")
      // Nobody presses both keys within one look at the lesson.
      try pane.waitFor("the star has changed") { stars($0) != before }
      try pane.press("u", until: "8 of 10: All commands")
      try pane.press("C-p", until: "9 of 10: Help")
      try pane.press("Escape")
      try pane.press("?", until: "10 of 10: Be starred")
      try pane.press("Escape")
      try pane.press("1", until: "Your post has a star")
      try pane.waitFor("the star is at both terminals") {
        $0.matches(of: #/My first words.*[★☆] +1/#).count == 2
      }
      try pane.press("q")
      try Self.expectEnd(of: pane, sandbox)
    }

    @Test("F8 skips a lesson, F7 goes back one, and skipping the last one exits")
    func skipping() throws {
      let sandbox = try Sandbox()
      let pane = try Self.start(in: sandbox, variables: "LC_ALL=C", columns: 50, rows: 16)
      try pane.press("F7")
      try pane.press("F8", until: "2 of 10")
      // A screen that grows has room for the second terminal, drawn as the first one is.
      try pane.resize(columns: 130, rows: 30)
      try pane.waitFor("both terminals are shown") {
        $0.contains("+- you") && $0.contains("+- robin")
      }
      try pane.press("F7", until: "1 of 10")
      for number in 2...10 {
        try pane.press("F8", until: "\(number) of 10")
      }
      try pane.waitFor("write a post")
      try pane.press("F8", until: "? and ^P tell the rest")
      try pane.press("F8")
      try Self.expectEnd(of: pane, sandbox)
    }

    @Test("The learner can quit at any time, even while typing")
    func leaving() throws {
      let sandbox = try Sandbox()
      let pane = try Self.start(in: sandbox, variables: "NO_COLOR=1")
      try pane.press("c", until: "New post")
      try pane.type("Unfinished")
      try pane.press("C-c")
      try Self.expectEnd(of: pane, sandbox)
    }

    @Test("Without a terminal, the tutor says what it needs")
    func noTerminal() throws {
      let outcome = try Sandbox().hearth("tutor")
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains("terminal"))
    }
  }
}
