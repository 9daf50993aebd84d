import Foundation
import Testing

extension EndToEnd {
  /// Scripts: a user who is a file.
  @Suite("Script mode")
  struct ScriptTests {
    private func run(_ script: String, in place: Place) throws -> Place.Outcome {
      let file = place.directory + "/script.txt"
      try script.write(toFile: file, atomically: true, encoding: .utf8)
      return try place.hearth("--script", file)
    }

    @Test("The demonstration of assets runs, and shows the same every time")
    func demonstration() throws {
      let demo = try String(
        contentsOfFile: Place.package + "/assets/demos/first-steps.txt",
        encoding: .utf8
      )
      var dumps: Set<String> = []
      for _ in 0..<5 {
        let place = try Place()
        let file = place.directory + "/screen"
        let script = demo.replacing("first-steps.screen", with: file)
        let outcome = try run(script, in: place)
        #expect(outcome.errors == "")
        try #require(outcome.status == 0)
        dumps.insert(try String(contentsOfFile: file, encoding: .utf8))
      }
      #expect(dumps.count == 1)
      #expect(dumps.first?.contains("And so does this comment.") == true)
      #expect(dumps.first?.contains("1m") == true)
    }

    @Test(
      "The inspector shows frames, listeners, writes and transactions, also of before it was opened",
      arguments: ["key F12\nkey Esc\n", ""]
    )
    func inspector(first: String) throws {
      let place = try Place()
      let file = place.directory + "/screen"
      let outcome = try run(
        """
        size 120x40
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
        in: place
      )
      #expect(outcome.errors == "")
      #expect(outcome.status == 0)
      let screen = try String(contentsOfFile: file, encoding: .utf8)
      for word in ["sent", "received", "event", "listener", "write", "child_added /posts"] {
        #expect(screen.contains(word), "\(word)")
      }
      #expect(!screen.contains(" 0 listeners"))
    }

    @Test("A step that fails is named with its line, and the exit status says so")
    func failing() throws {
      let place = try Place()
      let outcome = try run("# x\nwait-for No posts yet\nexpect Goodbye\n", in: place)
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("line 3: \"Goodbye\" is not on the screen"))
      let bad = try run("dance\n", in: place)
      #expect(bad.status == 2)
      #expect(bad.errors.contains("line 1: there is no step \"dance\""))
    }
  }
}
