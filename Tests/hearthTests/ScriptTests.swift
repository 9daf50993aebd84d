import Foundation
import FoundationXML
import Testing

extension EndToEnd {
  /// Scripts: a user that is a file.
  @Suite("Script mode")
  struct ScriptTests {
    private func run(_ script: String, in sandbox: Sandbox) throws -> Sandbox.Outcome {
      try sandbox.hearth("--script", sandbox.write(script, to: "script.txt"))
    }

    @Test("A script checks the server's data, and its results name the failed step")
    func data() throws {
      let sandbox = try Sandbox()
      let script = """
        wait-for No posts yet
        as bob post A post | Text
        wait-for A post
        key s
        wait-for-data /users/bob/username "bob"
        :wait-idle
        clock 3h
        expect 3h
        expect-data /nothing null

        """
      let passed = try run(script, in: sandbox)
      #expect(passed.status == 0, "\(passed.errors)")
      #expect(passed.output.hasSuffix("passed, 9 steps, 6 of them checks\n"), "\(passed.output)")
      let file = try sandbox.write(
        script + "expect-data /users/bob/username 7\nkey q\n",
        to: "script.txt"
      )
      let failed = try sandbox.hearth("--script", file, "--results", "tap")
      #expect(failed.status == 1)
      let points = "ok 9 - line 9: expect-data /nothing null\nnot ok 10 - line 10"
      #expect(failed.output.contains(points))
      #expect(failed.output.contains(#"the server has \"bob\" at /users/bob/username"#))
      #expect(failed.output.contains("    |") && failed.output.contains("# SKIP not reached"))
      let junit = try sandbox.hearth("--script", file, "--results", "junit")
      let parser = XMLParser(data: Data(junit.output.utf8))
      #expect(parser.parse(), "\(junit.output)")
      for line in ["expect-data /a b", "expect-data /a.b 1", "wait-for-data / {\"$\":1}"] {
        let refused = try run("size 80x24\n" + line, in: sandbox)
        #expect(refused.status == 2 && refused.errors.contains("line 2: "), "\(refused.errors)")
      }
    }

    @Test(
      "An impossible step says why",
      arguments: [
        ("start server", "the server runs already"),
        ("kill server\nkill server", "the server does not run"),
        ("kill terminal\nkill terminal", "no terminal is in use"),
        ("kill terminal\nkey q", "\"terminal NAME\" starts one"),
        ("terminal bob\nterminal alice of bob", "alice is a terminal of alice"),
      ]
    )
    func impossibleChanges(script: String, reason: String) throws {
      let outcome = try run("wait-for No posts yet\n" + script, in: try Sandbox())
      #expect(outcome.status == 1 && outcome.errors.contains(reason), "\(outcome.errors)")
    }

    @Test(
      "A failing command fails its step, even if the same failure was reported before",
      arguments: [
        "stra", "dump-screen", "dump-screen /nope/x", "dump-screen /dev/full",
        "save-messages /nope/x", "report x", "theme nope", "quit now", "pipe true",
      ]
    )
    func failedCommand(command: String) throws {
      let sandbox = try Sandbox()
      let posting = "as bob post A post | Text\nwait-for A post\n"
      let typing = "key :\ntype \(command)\nkey Enter\n"
      let outcome = try run(posting + typing + ":\(command)\n:quit\n", in: sandbox)
      #expect(outcome.status == 1, "\(outcome.output)")
      #expect(outcome.errors.contains("line 6: "), "\(outcome.errors)")
      let quit = try run("wait-for No posts yet\n:net off\n:quit\n", in: sandbox)
      #expect(quit.output.hasSuffix("passed, 3 steps, 1 of them a check\n"), "\(quit.output)")
    }

    @Test(
      "A command that does nothing, or fails after its turn, is a failed step",
      arguments: [
        ("star", "There is nothing here for star."), ("undo", "Nothing to undo"),
        ("next-unread", "No unread posts in this list"), ("open-post nope", "no post"),
        ("pipe true", "There is no post here"),
      ]
    )
    func idleCommand(command: String, reason: String) throws {
      let outcome = try run("wait-for No posts yet\n:\(command)", in: try Sandbox())
      #expect(outcome.status == 1, "\(outcome.output)")
      #expect(outcome.errors.contains("line 2: "), "\(outcome.errors)")
      #expect(outcome.errors.contains(reason), "\(outcome.errors)")
    }

    @Test(
      "An invalid user name is rejected before the script starts",
      arguments: ["terminal ", "terminal window of ", "as "]
    )
    func unusableUser(step: String) throws {
      let name = String(repeating: "n", count: 41)
      let act = step == "as " ? " join" : ""
      let outcome = try run("wait-for nothing\n\(step)\(name)\(act)", in: try Sandbox())
      #expect(outcome.status == 2 && outcome.errors.contains("line 2: "), "\(outcome.errors)")
    }

    @Test(
      "A recording becomes a script that ends with the same screen",
      arguments: ["find", "write", "comments", "undo"]
    )
    func recorded(name: String) throws {
      let sandbox = try Sandbox()
      let recording = sandbox.directory + "/r.jsonl"
      let first = try sandbox.run([
        "--script", "\(Sandbox.package)/assets/demos/\(name).txt", "--record", recording,
      ])
      #expect(first.status == 0, "\(first.errors)")
      let script = try sandbox.hearth("replay", recording, "--script")
      #expect(script.status == 0 && script.lines.count > 8, "\(script.output)")
      let again = sandbox.directory + "/again.jsonl"
      let file = try sandbox.write(script.output, to: "again.txt")
      try sandbox.succeed("--script", file, "--record", again)
      let expected = try [recording, again].map { path in
        try sandbox.hearth("replay", path, "--script").lines.filter { $0.hasPrefix("expect ") }
      }
      #expect(expected[0] == expected[1] && !expected[0].isEmpty, "\(script.output)")
    }

    @Test(
      "The inspector shows frames, listeners, writes and transactions from before it opened",
      arguments: ["key F12\nkey Esc\n", ""]
    )
    func inspector(first: String) throws {
      let sandbox = try Sandbox()
      let file = sandbox.directory + "/screen"
      let outcome = try run(
        """
        size 120x70
        wait-for No posts yet
        \(first)key c
        type Hello
        key Tab
        type World
        key ^S
        :wait-idle
        key F12
        :dump-screen \(file)
        """,
        in: sandbox
      )
      #expect(outcome.errors == "")
      #expect(outcome.status == 0)
      let screen = try String(contentsOfFile: file, encoding: .utf8)
      for word in ["sent", "received", "event", "listener", "write", "child_added /posts"] {
        #expect(screen.contains(word), "\(word)")
      }
      #expect(!screen.contains(" 0 listeners"))
    }

    /// Runs a script with an inspector, and returns the events that it showed, with their texts.
    private func told(_ script: String, in sandbox: Sandbox) throws -> [String] {
      let file = try sandbox.write(script, to: "script.txt")
      let recording = sandbox.directory + "/\(UUID().uuidString).jsonl"
      let outcome = try sandbox.hearth("--script", file, "--record", recording)
      #expect(outcome.errors == "")
      #expect(outcome.status == 0)
      let lines = try String(contentsOfFile: recording, encoding: .utf8).split(separator: "\n")
      return lines.filter { $0.contains("\"wire\"") }.map(String.init)
    }

    @Test("A closed inspector receives nothing, and a reopened one catches up and continues")
    func closedInspector() throws {
      let closing = """
        size 120x40
        wait-for No posts yet
        key F12
        expect Inspector
        key Esc
        as bob post While it is closed | Text
        wait-for While it is closed

        """
      let closed = try told(closing, in: Sandbox())
      #expect(!closed.isEmpty)
      #expect(!closed.contains { $0.contains("While it is closed") })
      let again = """
        key F12
        key x
        expect 0 events
        as bob post While it is open | Text
        wait-for child_added
        """
      let opened = try told(closing + again, in: Sandbox())
      let missed = opened.firstIndex { $0.contains("While it is closed") }
      let live = opened.firstIndex { $0.contains("While it is open") }
      #expect(try #require(missed) < #require(live))
    }

    @Test("Listeners and writes are counted correctly while the inspector is closed")
    func missedEvents() throws {
      let looks = ["key F12\nexpect Inspector\nkey Esc\n", ""]
      let counts = try looks.map { look -> Substring? in
        let sandbox = try Sandbox()
        let file = sandbox.directory + "/screen"
        // The listeners of a post end while the inspector is closed, long before the events still
        // recorded at the end.
        let outcome = try run(
          """
          size 120x40
          as bob post A post | Text
          wait-for A post
          key Enter
          wait-for No comments yet
          :wait-idle
          \(look)key Esc
          \(String(repeating: "key s\n", count: 300)):wait-idle
          key F12
          :dump-screen \(file)
          """,
          in: sandbox
        )
        #expect(outcome.errors == "")
        #expect(outcome.status == 0)
        let screen = try String(contentsOfFile: file, encoding: .utf8)
        return screen.split(separator: "\n").first { $0.contains(" listeners ") }
      }
      // With the first look the older events are listed as well, none of which is in progress.
      let going = counts.map { $0?.split(separator: "·").prefix(2) }
      #expect(going[0] != nil)
      #expect(going[0] == going[1])
    }

    @Test("A failed step is reported with its line and the exit status")
    func failing() throws {
      let sandbox = try Sandbox()
      let outcome = try run("# x\nwait-for No posts yet\nexpect Goodbye\n", in: sandbox)
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("line 3: \"Goodbye\" is not on the screen"))
      // The step and the screen on which it failed.
      #expect(outcome.errors.contains("\n3: expect Goodbye\n"))
      #expect(outcome.errors.contains("No posts yet"))
      let bad = try run("dance\n", in: sandbox)
      #expect(bad.status == 2)
      #expect(bad.errors.contains("line 1: there is no step \"dance\""))
    }
  }
}
