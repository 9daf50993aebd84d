import Testing

@testable import BlogTUI

@MainActor
@Suite("Script terminal")
struct ScriptTerminalTests {
  /// Records the calls to the world.
  @MainActor
  private final class Notes {
    var looks: [Int64] = []
    var passed: [Int64] = []
    var acts: [Bool] = []
    var end: TerminalEvent?
    var progress: [Script.Progress] = []
  }

  private func terminal(_ text: String, pace: Int64 = 0) throws -> (ScriptTerminal, Notes) {
    let terminal = ScriptTerminal(try Script(text), pace: pace)
    let notes = Notes()
    var world = ScriptTerminal.World(
      wait: {},
      pass: { notes.passed.append($0) },
      isIdle: { true },
      send: { _ in },
      isLate: { _ in false },
      act: { _, _, isFirst in
        notes.acts.append(isFirst)
        return notes.progress.isEmpty ? .done : notes.progress.removeFirst()
      },
      data: { _, _, _ in .done }
    )
    world.look = { time in
      notes.looks.append(time)
      return notes.end
    }
    terminal.world = world
    return (terminal, notes)
  }

  @Test("Actions of other users are parsed with title and text")
  func others() throws {
    let script = try Script(
      """
      as bob post A title | A text | with a bar
      as bob comment A title | Hello
      as bob star A title
      as eve unstar A title
      as eve delete A title
      as eve type A title
      as eve join
      as eve leave
      """
    )
    let acts: [Script.Act] = [
      .post(title: "A title", body: "A text | with a bar"),
      .comment(title: "A title", text: "Hello"), .star(title: "A title", true),
      .star(title: "A title", false), .delete(title: "A title"), .type(title: "A title"), .join,
      .leave,
    ]
    let names = ["bob", "bob", "bob", "eve", "eve", "eve", "eve", "eve"]
    #expect(script.lines.map(\.step) == zip(names, acts).map { .other($0, $1) })
  }

  @Test(
    "An invalid action of another user is rejected",
    arguments: [
      "as bob", "as bob post only a title", "as bob star", "as bob dance", "as bob join x",
    ]
  )
  func mistakes(line: String) {
    #expect(throws: Script.Failure.self) { try Script(line) }
  }

  @Test("With a pace, each key is delayed for the viewer, and a pause lasts its time")
  func pace() throws {
    let (terminal, notes) = try terminal("type ab\npause 500", pace: 40)
    #expect(terminal.nextEvents(timeout: nil) == [.woken])
    #expect(terminal.nextEvents(timeout: nil) == [.key(.character("a"))])
    #expect(terminal.nextEvents(timeout: nil) == [.key(.character("b"))])
    _ = terminal.nextEvents(timeout: nil)
    #expect(notes.looks == [0, 40, 40, 0, 500])
    #expect(notes.passed == [500])
    #expect(terminal.nextEvents(timeout: nil) == [.terminate(signal: 0)])
  }

  @Test("Without a pace nothing waits, and with one a long pause is shortened")
  func pauses() throws {
    let (fast, fastNotes) = try terminal("pause 60000")
    _ = fast.nextEvents(timeout: nil)
    #expect(fastNotes.looks == [0, 0])
    let (slow, slowNotes) = try terminal("pause 60000", pace: 40)
    _ = slow.nextEvents(timeout: nil)
    #expect(slowNotes.looks == [0, 3_000])
    #expect(fastNotes.passed == [60_000] && slowNotes.passed == [60_000])
  }

  @Test("The viewer can end the script without a failure")
  func leaving() throws {
    let (terminal, notes) = try terminal("type ab")
    _ = terminal.nextEvents(timeout: nil)
    notes.end = .hangUp
    #expect(terminal.nextEvents(timeout: nil) == [.hangUp])
    #expect(terminal.failure == nil)
  }

  @Test("The script waits for actions of other users, and a refused one ends it")
  func waiting() throws {
    let (terminal, notes) = try terminal("as bob join\nas bob star x")
    notes.progress = [.underWay, .underWay, .done, .refused("permission denied")]
    for _ in 0..<3 { #expect(terminal.nextEvents(timeout: nil) == [.woken]) }
    #expect(terminal.nextEvents(timeout: nil) == [.terminate(signal: 0)])
    #expect(notes.acts == [true, false, false, true])
    #expect(terminal.failure?.description == "line 2: bob was refused: permission denied")
  }

  @Test("A clock moves by seconds, minutes, hours or days, without a pause for a spectator")
  func clock() throws {
    let (terminal, notes) = try terminal("clock 90s\nclock 5m\nclock 3h\nclock 2d", pace: 40)
    for _ in 0..<4 { _ = terminal.nextEvents(timeout: nil) }
    #expect(notes.passed == [90_000, 300_000, 10_800_000, 172_800_000])
    #expect(notes.looks.allSatisfy { $0 == 0 })
    for line in ["clock", "clock 5", "clock h", "clock -1s", "clock 100001d", "clock 1.5h"] {
      #expect(throws: Script.Failure.self) { try Script(line) }
    }
  }

  @Test("Data is compared at once, or until it is as expected")
  func data() throws {
    let (terminal, _) = try terminal("wait-for-data /x 1\nexpect-data /x 2")
    var answers: [Script.Progress] = [
      .underWay, .refused("0"), .underWay, .done, .underWay, .refused("the server has 1 at /x"),
    ]
    var looks: [Bool] = []
    terminal.world?.data = { _, _, isFirst in
      looks.append(isFirst)
      return answers.removeFirst()
    }
    for _ in 0..<5 { #expect(terminal.nextEvents(timeout: nil) == [.woken]) }
    #expect(terminal.nextEvents(timeout: nil) == [.terminate(signal: 0)])
    #expect(terminal.failure == Script.Failure(line: 2, reason: "the server has 1 at /x"))
    #expect(looks == [true, false, false, false, true, false])
    for line in ["expect-data", "expect-data /x", "wait-for-data x 1", "expect-data  1"] {
      #expect(throws: Script.Failure.self) { try Script(line) }
    }
  }

  @Test("A result is a line for people, and a point for each step in TAP and JUnit")
  func results() throws {
    let script = try Script("# A comment\nkey q\n\nexpect a <b> & \"c\" # d\nsize 80x24\n")
    let passed = ScriptResult(of: "x.txt", script, playedSteps: 3, failure: nil, screen: "")
    #expect(passed.text(in: .text) == "x.txt: passed, 3 steps, 1 of them a check\n")
    #expect(passed.text(in: .tap).hasPrefix("TAP version 14\n1..3\nok 1 - line 2: key q\n"))
    let left = ScriptResult(of: "x.txt", script, playedSteps: 2, failure: nil, screen: "")
    #expect(left.text(in: .text) == "x.txt: the app was left after 2 of 3 steps\n")
    #expect(left.text(in: .tap).hasSuffix("ok 3 - line 5: size 80x24 # SKIP not reached\n"))
    let failure = Script.Failure(line: 4, reason: "\"a\\\" is not there\u{1B}")
    let screen = "first <row>\n\n  last ]]>\n\n\n"
    let failed = ScriptResult(
      of: "x.txt",
      script,
      playedSteps: 1,
      failure: failure,
      screen: screen
    )
    #expect(failed.text(in: .text) == "")
    #expect(
      failed.text(in: .tap) == """
        TAP version 14
        1..3
        ok 1 - line 2: key q
        not ok 2 - line 4: expect a <b> & "c" \\# d
          ---
          message: "\\"a\\\\\\" is not there␛"
          screen: |
            |first <row>
            |
            |  last ]]>
          ...
        ok 3 - line 5: size 80x24 # SKIP not reached

        """
    )
    let junit = failed.text(in: .junit)
    #expect(junit.contains(#"tests="3" failures="1" skipped="1""#))
    #expect(junit.contains(#"name="line 4: expect a &lt;b&gt; &amp; &quot;c&quot; # d"><failure"#))
    #expect(junit.contains("first &lt;row&gt;"))
    #expect(!junit.contains("\u{1B}") && !junit.contains("\u{0}"))
  }
}
