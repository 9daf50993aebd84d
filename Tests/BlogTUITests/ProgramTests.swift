import Foundation
import Testing

@testable import BlogModel
@testable import BlogTUI

/// A terminal whose user follows a script.
@MainActor
private final class ScriptedTerminal: TerminalDevice {
  let size = Size(width: 80, height: 24)
  let glyphs = GlyphSet.unicode
  var script: [[TerminalEvent]]
  var timeouts: [Duration?] = []
  var screens: [Screen] = []
  var calls: [String] = []
  var settings: [Settings] = []
  var whenWaiting: ((Int) -> Void)?

  init(_ script: [[TerminalEvent]]) { self.script = script }

  func nextEvents(timeout: Duration?) -> [TerminalEvent] {
    timeouts.append(timeout)
    whenWaiting?(timeouts.count)
    return script.isEmpty ? [.hangUp] : script.removeFirst()
  }

  func render(_ screen: Screen) { screens.append(screen) }
  func withSuspendedScreen<Result>(_ body: () -> Result) -> Result {
    calls.append("suspended")
    return body()
  }
  func apply(_ settings: Settings) { self.settings.append(settings) }
  func redraw() { calls.append("redraw") }
  func suspend() { calls.append("suspend") }
  func bell() { calls.append("bell") }
  func notify(_ text: String) { calls.append("notify \(text)") }
}

/// A blog in memory that records the calls it receives.
// Safety: the program and the tests use it on the main actor only.
private final class RecordingRepository: BlogRepository, @unchecked Sendable {
  let me = Fixture.alice
  let databaseName = "test"
  var now = Fixture.now
  private(set) var calls: [Effect] = []
  private var handler: (@Sendable (BlogEvent) -> Void)?
  private var posts = Fixture.posts

  func emit(_ event: BlogEvent) { handler?(event) }

  func start(_ handler: @escaping @Sendable (BlogEvent) -> Void) { self.handler = handler }
  func request(_ request: BlogRequest) {
    calls.append(.request(request))
    if case .follow(let feed) = request { emit(.feed(feed, posts: posts)) }
  }
  func mark(_ change: ReadChange) { calls.append(.mark(change)) }
  func perform(_ action: BlogAction) -> BlogAction {
    calls.append(.write(action))
    switch action {
    case .post(_, let title, let body):
      let new = Post(id: "new", uid: "alice", author: "alice", title: title, body: body)
      posts.insert(new, at: 0)
      emit(.feed(.recent, posts: posts))
      return .post("new", title: title, body: body)
    case .comment(let post, _, let text, let answered):
      return .comment(post, commentID: "c9", text: text, answering: answered)
    case .star, .edit, .editComment, .deletePost, .deleteComment, .follow, .mute, .block, .bookmark,
      .saveSearch, .rename:
      return action
    }
  }
  func probe() {}
  func search(
    _ number: Int,
    in feed: FeedKind,
    withComments: Bool,
    matching matches: @escaping @Sendable (Post, [BlogComment]) -> Bool
  ) {}
  func stopSearching() { calls.append(.search(nil)) }
}

@Suite("Program loop")
@MainActor
struct ProgramTests {
  private func keys(_ text: String) -> [TerminalEvent] {
    text.map { .key($0 == "\n" ? .enter : $0 == "\t" ? .tab : .character($0)) }
  }

  private func program(
    _ terminal: ScriptedTerminal,
    _ repository: RecordingRepository = RecordingRepository(),
    history: [String] = [],
    _ environment: Environment = Environment()
  ) -> Program<ScriptedTerminal> {
    Program(
      terminal: terminal,
      repository: repository,
      wake: {},
      history: history,
      environment: environment
    )
  }

  private func run(
    _ script: [[TerminalEvent]],
    _ repository: RecordingRepository = RecordingRepository()
  ) -> (ending: Ending, terminal: ScriptedTerminal, program: Program<ScriptedTerminal>) {
    let terminal = ScriptedTerminal(script)
    let program = program(terminal, repository)
    return (program.run(), terminal, program)
  }

  @Test("The first screen shows the loading state, the second the posts")
  func firstScreens() {
    let (ending, terminal, _) = run([[.woken], keys("q")])
    #expect(ending == .quit)
    #expect(terminal.screens.count == 2)
    #expect(terminal.screens.first?.text().contains("Loading…") == true)
    #expect(terminal.screens.last?.text().contains("The hearth is lit") == true)
  }

  @Test("A post typed in one burst is written and selected on the next screen")
  func posting() {
    let repository = RecordingRepository()
    let script = [[.woken], keys("cHello\nWorld") + [.key(.control("s"))], keys("q")]
    let (_, terminal, program) = run(script, repository)
    let calls = repository.calls.filter {
      if case .request(.watchComments) = $0 { false } else { true }
    }
    #expect(
      calls == [
        .request(.shareReading(true)), .request(.follow(.recent)), .request(.hearNotices(true)),
        .write(.post(title: "Hello", body: "World")), .request(.stopFollowing(.recent)),
      ]
    )
    #expect(program.model.feed.list.selection == "new")
    #expect(terminal.screens.last?.text().contains("▌·Hello") == true)
  }

  @Test("Each key takes effect in the next frame while a search delivers pages")
  func keysDuringSearch() {
    let repository = RecordingRepository()
    let terminal = ScriptedTerminal([])
    let program = program(terminal, repository)
    program.begin()
    _ = program.turn([.woken])
    repository.emit(.extent(.recent, FeedExtent(hasOlder: true)))
    _ = program.turn(keys("/zebra\n"))
    for page in 0..<40 {
      let found = (0..<40).map { number in
        let id = "a\(String(format: "%05d", 99_999 - page * 40 - number))"
        return Post(id: id, uid: "zoe", author: "zoe", title: "A zebra \(id)", body: "b")
      }
      let searched = (page + 1) * 2_000
      repository.emit(.found(SearchProgress(number: 1, found: found, searched: searched)))
      let drawn = terminal.screens.count
      _ = program.turn([.woken, .key(.character("j"))])
      // One frame shows both the search result and the new selection.
      #expect(terminal.screens.count == drawn + 1)
      #expect(program.model.feed.list.ids.count == (page + 1) * 40)
      #expect(program.model.feed.list.selectedIndex == page + 1)
    }
    _ = program.turn([.key(.escape)])
    #expect(repository.calls.last == .search(nil))
  }

  @Test("An open post is closed at exit, whatever the cause")
  func hangUp() {
    let repository = RecordingRepository()
    let (ending, _, program) = run([[.woken], keys("\ncHm"), [.terminate(signal: 15)]], repository)
    #expect(ending == .terminated(signal: 15))
    #expect(repository.calls.last == .request(.close("p12")))
    #expect(program.model.unsentComments == ["Hm"])
  }

  @Test(
    "However the program ends, pending deletions are carried out",
    arguments: [TerminalEvent.key(.character("q")), .hangUp, .terminate(signal: 15)]
  )
  func deletions(end: TerminalEvent) {
    let repository = RecordingRepository()
    let (_, _, program) = run([[.woken], keys("jdy"), [end]], repository)
    #expect(repository.calls.count { $0 == .write(.deletePost("p11")) } == 1)
    #expect(program.unanswered == 1)
  }

  @Test("A refused write counts as the failure of the command that made it, not of a later one")
  func failureOfCommand() {
    let repository = RecordingRepository()
    let program = program(ScriptedTerminal([]), repository)
    program.begin()
    _ = program.turn([.woken])
    _ = program.turn(keys("s"))
    program.add(.command("set motion"))
    _ = program.turn([.woken])
    repository.emit(.failed(.star("p12", false), reason: "no"))
    _ = program.turn([.woken])
    #expect(program.model.messages.entries.last?.message.kind == .failure)
    #expect(repository.calls.contains(.write(.star("p12", false))))
    #expect(program.commandFailure == nil)
    program.add(.command("star"))
    _ = program.turn([.woken])
    repository.emit(.failed(.star("p12", false), reason: "no"))
    _ = program.turn([.woken])
    #expect(program.commandFailure != nil)
    #expect(program.unanswered == 0)
  }

  @Test("A hung-up terminal ends the program")
  func goneTerminal() {
    #expect(run([]).ending == .hangUp)
  }

  @Test("Nothing is drawn if nothing has changed")
  func noNeedlessDrawing() {
    let (_, terminal, _) = run([[.woken], [], [], [], keys("q")])
    #expect(terminal.screens.count == 2)
  }

  @Test("An idle program wakes every 30 seconds, or never without posts")
  func timeouts() {
    let terminal = ScriptedTerminal([[.woken], keys("q")])
    let repository = RecordingRepository()
    terminal.whenWaiting = { _ in repository.now += 1_000 }
    _ = program(terminal, repository).run()
    #expect(terminal.timeouts == [nil, .seconds(30)])
  }

  @Test("Redraw, suspend and the bell reach the terminal")
  func terminalEffects() {
    let repository = RecordingRepository()
    let terminal = ScriptedTerminal([
      [.key(.control("l"))], [.key(.control("z"))], [.woken], keys("q"),
    ])
    terminal.whenWaiting = { count in
      if count == 3 { repository.emit(.failed(.star("p12", true), reason: "no")) }
    }
    let program = program(terminal, repository)
    #expect(program.run() == .quit)
    #expect(terminal.calls == ["redraw", "suspend", "redraw", "bell"])
  }

  @Test("Typed text is saved within a quarter of a second and cleared once it is sent")
  func drafts() {
    let script = [keys("cT"), [], keys("\tB"), [], [.key(.control("s"))], [], keys("q")]
    let terminal = ScriptedTerminal(script)
    let repository = RecordingRepository()
    // Each wait takes as long as it may.
    terminal.whenWaiting = { count in
      if count == 2 { #expect(terminal.timeouts[1] == .milliseconds(250)) }
      if count > 1 { repository.now += 250 }
    }
    var kept: [[Draft]] = []
    var environment = Environment()
    environment.keep = { unsent, _ in
      kept.append(unsent.posts)
      return nil
    }
    let program = program(terminal, repository, environment)
    #expect(program.run() == .quit)
    #expect(kept == [[Draft(title: "T", body: "")], [Draft(title: "T", body: "B")], []])
  }

  @Test("A failed save is reported at once and again before quitting")
  func keepProblem() {
    var isFull = true
    var saves: [Bool] = []
    var environment = Environment()
    environment.keep = { _, isDurable in
      saves.append(isDurable)
      return isFull ? EnvironmentError("The disk is full.") : nil
    }
    let script = [keys("cT"), [.key(.escape)], keys("y"), [], keys("q"), keys("x"), [], keys("x")]
    let terminal = ScriptedTerminal(script)
    let repository = RecordingRepository()
    let program = program(terminal, repository, environment)
    var messages: [String?] = []
    terminal.whenWaiting = { count in
      repository.now += 1_000
      messages.append(program.model.message?.text.string)
      if count == 6 {
        #expect(program.model.rows.contains { $0.contains("cannot be saved and will be lost") })
        #expect(program.model.rows.last?.contains("not saved") == true)
        isFull = false
      }
    }
    #expect(program.run() == .hangUp)
    #expect(program.model.rows.last?.contains("not saved") == false)
    #expect(messages.contains("What you type is not saved: The disk is full."))
    #expect(!messages.contains("The draft is kept; c opens it"))
    #expect(messages.contains("What you type is saved again"))
    #expect(saves.contains(true))
  }

  @Test("Escape followed at once by a key is Alt if bound, otherwise two keys")
  func escapedKeys() {
    let script: [[TerminalEvent]] = [
      keys("cone two"), [.escaped(.backspace)], [.escaped(.character("b"))],
      [.escaped(.character("n"))],
    ]
    let terminal = ScriptedTerminal(script)
    let program = program(terminal)
    terminal.whenWaiting = { count in
      if count == 4 { #expect(program.model.composer?.title.text == "one ") }
    }
    #expect(program.run() == .hangUp)
    // Alt-n is bound to nothing: Escape asks about the draft, n throws it away.
    #expect(program.model.composer == nil && program.model.unsentDrafts.isEmpty)
  }

  @Test(
    "Unreadable input rings the bell in every field, and is explained while one types on",
    arguments: UnreadableInput.allCases
  )
  func unreadableInput(_ input: UnreadableInput) {
    // A new post, a comment, a search and the command line.
    for opening in ["c", "\nc", "/", ":"] {
      let terminal = ScriptedTerminal([
        [.woken], keys(opening), [.unreadable(input), .key(.paste("x"))], keys("yz"),
        [.key(.backspace)],
      ])
      let program = program(terminal)
      var told = 0
      terminal.whenWaiting = { count in
        let message = program.model.message
        if count == 4 { told = program.model.session.messages.failureCount }
        if count == 4 || count == 5 { #expect(message == .unreadable(input), "\(opening)") }
        if count == 6 { #expect(message == nil, "\(opening)") }
      }
      #expect(program.run() == .hangUp)
      #expect(terminal.calls.count { $0 == "bell" } == 1)
      #expect(program.model.session.messages.failureCount == told, "\(opening)")
    }
  }

  @Test("A started comment is also saved, with its post")
  func commentDrafts() {
    var kept = Unsent()
    var environment = Environment()
    environment.keep = { unsent, _ in
      kept = unsent
      return nil
    }
    let program = program(
      ScriptedTerminal([[.woken], keys("\ncHm")]),
      RecordingRepository(),
      environment
    )
    #expect(program.run() == .hangUp)
    #expect(kept == Unsent(comments: ["p12": ["Hm"]]))
  }

  @Test("The external editor edits the draft or reports why it failed")
  func externalEditor() {
    let terminal = ScriptedTerminal([keys("cT\tB"), [.key(.control("e"))], [], keys("")])
    var given: [Draft] = []
    var environment = Environment()
    environment.edit = { draft in
      given.append(draft)
      return .success(Draft(title: "New", body: "Text\nof two lines"))
    }
    let program = program(terminal, RecordingRepository(), environment)
    _ = program.run()
    #expect(given == [Draft(title: "T", body: "B")])
    #expect(program.model.composer?.draft == Draft(title: "New", body: "Text\nof two lines"))
    #expect(terminal.calls == ["suspended", "redraw"])
  }

  @Test("A chosen setting is saved and applied to the terminal")
  func settings() {
    let terminal = ScriptedTerminal([keys(":set mouse false\n"), keys("q")])
    var kept: [String] = []
    var environment = Environment()
    environment.keepSetting = { setting, value in
      kept.append("\(setting.rawValue) \(value)")
      return .success(())
    }
    environment.keepHistory = { kept += $0 }
    let program = program(terminal, RecordingRepository(), environment)
    #expect(program.run() == .quit)
    #expect(kept == ["set mouse false", "mouse false"])
    #expect(terminal.settings.last?.isOn(.mouse) == false)
  }

  @Test("Only the last state of each list in a burst of events is processed")
  func bursts() {
    let events: [BlogEvent] = [
      .feed(.recent, posts: []), .pendingWrites(1), .feed(.top, posts: []),
      .failed(.deletePost("a"), reason: "x"), .feed(.recent, posts: Fixture.posts),
      .pendingWrites(0),
    ]
    let left = Program<ScriptedTerminal>.withoutOvertaken(events.map { .blog($0) })
    #expect(left == [events[2], events[3], events[4], events[5]].map { .blog($0) })
  }

  @Test("Replaying a recorded session gives the same screen")
  func recorded() throws {
    let terminal = ScriptedTerminal([
      keys("jsc"), keys("Hi there"), [.key(.enter)],
      [.key(.resize(Size(width: 60, height: 20)))], keys("q"),
    ])
    let repository = RecordingRepository()
    var writer = RecordingWriter()
    var file = ""
    var environment = Environment()
    environment.record = { file += writer.lines(for: $0) }
    let program = program(terminal, repository, history: ["theme light"], environment)
    terminal.whenWaiting = { repository.now += Int64($0) * 700 }
    _ = program.run()
    var replay = Replay(try Recording(Array((file + writer.finish()).utf8)))
    replay.move(to: replay.count)
    #expect(replay.screen == view(program.model))
    #expect(terminal.screens.contains(replay.screen))
  }

  @Test("Keys are remembered once their result is on the screen, or when a report is written")
  func remembered() {
    let terminal = ScriptedTerminal([keys("j"), keys(":report"), [.key(.enter)], keys("q")])
    var remembered: [RecordingEntry] = []
    var atReport: RecordingEntry?
    var environment = Environment()
    environment.remember = { entries, model in
      remembered += entries
      guard entries.last != .event(.key(.enter)) else { return }
      #expect(terminal.screens.last == view(model))
    }
    environment.report = { _, _ in
      atReport = remembered.last
      return .success("report.txt")
    }
    let program = program(terminal, RecordingRepository(), environment)
    #expect(remembered.isEmpty)
    _ = program.run()
    #expect(atReport == .event(.key(.enter)))
    let typed = "j:report".map { RecordingEntry.event(.key(.character($0))) }
    #expect(remembered.filter(typed.contains) == typed)
  }
}
