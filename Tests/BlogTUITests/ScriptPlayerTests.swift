import Testing

@testable import BlogTUI

@MainActor
@Suite("Script player")
struct ScriptPlayerTests {
  /// Records what the script asks of the world.
  @MainActor
  private final class World: ScriptWorld {
    var terminal: ScriptTerminal? = ScriptTerminal()
    var wasLeft = false
    var isIdle = true
    var isOnline: Bool { terminal != nil }
    var isPatient = true
    var commandFailure: String?
    var looks: [Int64] = []
    var passed: [Int64] = []
    /// For each look at another user's act or at data, whether it was the first.
    var firstLooks: [Bool] = []
    /// How acts and comparisons go, in order.
    var progress: [Script.Progress] = []
    var changes: [Script.Change] = []
    /// Why a change cannot be made.
    var refusal: String?
    var isWatched = true

    func wait() {}
    func pass(_ milliseconds: Int64) { passed.append(milliseconds) }
    func send(_ event: Event) {}
    func isLate(isFirstLook: Bool) -> Bool { !isPatient }

    func act(_ act: Script.Act, by name: String, isFirstLook: Bool) -> Script.Progress {
      proceed(isFirstLook)
    }

    func data(at path: String, comparedWith json: String, isFirstLook: Bool) -> Script.Progress {
      proceed(isFirstLook)
    }

    private func proceed(_ isFirstLook: Bool) -> Script.Progress {
      firstLooks.append(isFirstLook)
      return progress.isEmpty ? .done : progress.removeFirst()
    }

    func make(_ change: Script.Change) async -> String? {
      changes.append(change)
      return refusal
    }

    func look(_ milliseconds: Int64) -> Bool {
      looks.append(milliseconds)
      return isWatched
    }
  }

  private func player(_ text: String, pace: Int64 = 0) throws -> (ScriptPlayer, World) {
    let world = World()
    return (ScriptPlayer(try Script(text), in: world, pace: pace), world)
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
  func pace() async throws {
    let (player, world) = try player("type ab\npause 500", pace: 40)
    #expect(await player.next() == [.woken])
    #expect(await player.next() == [.key(.character("a"))])
    #expect(await player.next() == [.key(.character("b"))])
    _ = await player.next()
    #expect(world.looks == [0, 40, 40, 0, 500])
    #expect(world.passed == [500])
    #expect(await player.next() == nil)
  }

  @Test("Without a pace nothing waits, and with a pace long pauses are shortened")
  func pauses() async throws {
    let (fast, fastWorld) = try player("pause 60000")
    _ = await fast.next()
    #expect(fastWorld.looks == [0, 0])
    let (slow, slowWorld) = try player("pause 60000", pace: 40)
    _ = await slow.next()
    #expect(slowWorld.looks == [0, 3_000])
    #expect(fastWorld.passed == [60_000] && slowWorld.passed == [60_000])
  }

  @Test("The viewer can end the script without a failure")
  func leaving() async throws {
    let (player, world) = try player("type ab")
    _ = await player.next()
    world.isWatched = false
    #expect(await player.next() == nil)
    #expect(player.failure == nil)
  }

  @Test("The script waits for actions of other users, and a refused one ends it")
  func waiting() async throws {
    let (player, world) = try player("as bob join\nas bob star x")
    world.progress = [.underWay, .underWay, .done, .refused("permission denied")]
    for _ in 0..<3 { #expect(await player.next() == [.woken]) }
    #expect(await player.next() == nil)
    #expect(world.firstLooks == [true, false, false, true])
    #expect(player.failure?.description == "line 2: bob was refused: permission denied")
  }

  @Test("An action of another user that takes too long says what it waits for")
  func slowAction() async throws {
    let (player, world) = try player("as bob star Tea")
    world.progress = [.underWay]
    world.isPatient = false
    while await player.next() != nil {}
    #expect(player.failure?.reason == "bob sees no post \"Tea\", or the server does not answer")
  }

  @Test("A command is done once what it has caused is answered, or may fail until then")
  func lateFailures() async throws {
    let (player, world) = try player(":star\nexpect x")
    world.isIdle = false
    for _ in 0..<5 { #expect(await player.next() == [.woken]) }
    #expect(player.playedSteps == 0)
    world.commandFailure = "The star was not saved."
    #expect(await player.next() == nil)
    #expect(player.failure?.description == "line 1: The star was not saved.")
    let (late, slow) = try self.player(":star\npause 0")
    slow.isIdle = false
    _ = await late.next()
    slow.isPatient = false
    _ = await late.next()
    #expect(late.playedSteps == 2)
  }

  @Test("A command that failed is a failed step, and one that ends the app is done")
  func commands() async throws {
    let (player, world) = try player(":theme light\n:quit\nterminal bob\n:stra")
    for _ in 0..<4 { #expect(await player.next() == [.woken]) }
    world.terminal = nil
    world.wasLeft = true
    #expect(await player.next() == [.woken])
    #expect(world.changes == [.terminal("bob", user: nil)])
    world.terminal = ScriptTerminal()
    #expect(await player.next() == [.woken])
    world.commandFailure = "There is no command \"stra\"."
    #expect(await player.next() == nil)
    #expect(player.playedSteps == 3)
    #expect(player.failure?.description == "line 4: There is no command \"stra\".")
  }

  @Test("A clock moves by seconds, minutes, hours or days, without a pause for a spectator")
  func clock() async throws {
    let (player, world) = try player("clock 90s\nclock 5m\nclock 3h\nclock 2d", pace: 40)
    for _ in 0..<4 { _ = await player.next() }
    #expect(world.passed == [90_000, 300_000, 10_800_000, 172_800_000])
    #expect(world.looks.allSatisfy { $0 == 0 })
    for line in ["clock", "clock 5", "clock h", "clock -1s", "clock 100001d", "clock 1.5h"] {
      #expect(throws: Script.Failure.self) { try Script(line) }
    }
  }

  @Test("Data is compared at once, or until it is as expected")
  func data() async throws {
    let (player, world) = try player("wait-for-data /x 1\nexpect-data /x 2")
    world.progress = [
      .underWay, .refused("0"), .underWay, .done, .underWay, .refused("the server has 1 at /x"),
    ]
    for _ in 0..<5 { #expect(await player.next() == [.woken]) }
    #expect(await player.next() == nil)
    #expect(player.failure == Script.Failure(line: 2, reason: "the server has 1 at /x"))
    #expect(world.firstLooks == [true, false, false, false, true, false])
    for line in ["expect-data", "expect-data /x", "wait-for-data x 1", "expect-data  1"] {
      #expect(throws: Script.Failure.self) { try Script(line) }
    }
  }

  @Test("Terminals, server and network change as the script says")
  func changes() async throws {
    let text = """
      terminal bob
      terminal window of bob
      kill terminal
      kill server
      start server
      cut network
      slow network 300
      mend network
      """
    let (player, world) = try player(text)
    while await player.next() != nil {}
    #expect(player.failure == nil && player.playedSteps == 8)
    #expect(
      world.changes == [
        .terminal("bob", user: nil), .terminal("window", user: "bob"), .killTerminal, .killServer,
        .startServer, .network(.cut), .network(.slow(300)), .network(.slow(0)),
      ]
    )
    let (refused, other) = try self.player("size 80x24\nstart server")
    other.refusal = "the server runs already"
    while await refused.next() != nil {}
    #expect(refused.failure?.description == "line 2: the server runs already")
  }

  @Test(
    "An invalid change is rejected with the valid ones",
    arguments: [
      "terminal", "terminal a b", "terminal a of", "terminal a of b c", "kill", "kill bob",
      "kill server now", "start", "start terminal", "cut", "cut server", "slow network",
      "slow network -1", "slow network 10001", "slow network 1s", "mend", "mend server",
    ]
  )
  func unknownChanges(line: String) {
    let failure = #expect(throws: Script.Failure.self) { try Script(line) }
    #expect(failure?.reason.contains("slow network N") == true)
  }

  @Test(
    "A step that needs a terminal fails after a kill, and ends the script after the user has left",
    arguments: [
      "type a", "key q", "paste a", ":wait-idle", ":top", "size 9x9", "expect a", "refuse a",
    ]
  )
  func nobodyThere(line: String) async throws {
    for wasLeft in [false, true] {
      let (player, world) = try player("as bob join\nclock 1s\n" + line)
      world.terminal = nil
      world.wasLeft = wasLeft
      while await player.next() != nil {}
      #expect(player.playedSteps == 2)
      #expect(wasLeft == (player.failure == nil))
      if !wasLeft { #expect(player.failure?.reason.hasPrefix("no terminal is in use") == true) }
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
