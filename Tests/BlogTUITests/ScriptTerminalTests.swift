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
      }
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
}
