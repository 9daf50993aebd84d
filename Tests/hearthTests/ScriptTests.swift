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

    @Test("The results of a failed script are well-formed XML")
    func junit() throws {
      let sandbox = try Sandbox()
      let file = try sandbox.write("wait-for No posts yet\nexpect <&>\"\nkey q\n", to: "script.txt")
      let failed = try sandbox.hearth("--script", file, "--results", "junit")
      #expect(failed.status == 1 && failed.output.contains("&lt;&amp;&gt;"), "\(failed.output)")
      #expect(XMLParser(data: Data(failed.output.utf8)).parse(), "\(failed.output)")
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
  }
}
