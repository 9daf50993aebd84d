import BlogModel
import TerminalUI
import Testing

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
  var whenWaiting: ((Int) -> Void)?

  init(_ script: [[TerminalEvent]]) { self.script = script }

  func nextEvents(timeout: Duration?) -> [TerminalEvent] {
    timeouts.append(timeout)
    whenWaiting?(timeouts.count)
    return script.isEmpty ? [.hangUp] : script.removeFirst()
  }

  func render(_ screen: Screen) { screens.append(screen) }
  func redraw() { calls.append("redraw") }
  func suspend() { calls.append("suspend") }
  func bell() { calls.append("bell") }
}

/// A blog in memory that remembers what was asked of it.
// Safety: the program and the tests use it on the main actor only.
private final class RecordingRepository: BlogRepository, @unchecked Sendable {
  let me = Fixture.alice
  let databaseName = "test"
  let now = Fixture.now
  private(set) var calls: [String] = []
  private var handler: (@Sendable (BlogEvent) -> Void)?
  private var posts = Fixture.posts

  func emit(_ event: BlogEvent) { handler?(event) }
  private func note(_ call: String) { calls.append(call) }

  func start(_ handler: @escaping @Sendable (BlogEvent) -> Void) { self.handler = handler }
  func follow(_ feed: FeedKind) {
    note("follow \(feed)")
    emit(.feed(feed, posts: posts))
  }
  func stopFollowing(_ feed: FeedKind) { note("stop \(feed)") }
  func open(_ post: PostID) { note("open \(post)") }
  func close(_ post: PostID) { note("close \(post)") }
  func post(title: String, body: String) -> PostID {
    note("post \(title): \(body)")
    let new = Post(id: "new", uid: "alice", author: "alice", title: title, body: body)
    posts.insert(new, at: 0)
    emit(.feed(.recent, posts: posts))
    return "new"
  }
  func comment(on post: PostID, text: String) -> String {
    note("comment \(post): \(text)")
    return "c9"
  }
  func setStar(_ post: PostID, _ isStarred: Bool) { note("star \(post) \(isStarred)") }
  func deletePost(_ post: PostID) { note("delete \(post)") }
  func deleteComment(_ comment: String, on post: PostID) { note("delete \(post)/\(comment)") }
}

@Suite("The program's loop")
@MainActor
struct ProgramTests {
  private func keys(_ text: String) -> [TerminalEvent] {
    text.map { .key($0 == "\n" ? .enter : $0 == "\t" ? .tab : .character($0)) }
  }

  private func run(
    _ script: [[TerminalEvent]],
    _ repository: RecordingRepository = RecordingRepository()
  ) -> (ending: Ending, terminal: ScriptedTerminal, program: Program<ScriptedTerminal>) {
    let terminal = ScriptedTerminal(script)
    let program = Program(terminal: terminal, repository: repository, wake: {})
    return (program.run(), terminal, program)
  }

  @Test("The first screen shows loading, the second what was found")
  func firstScreens() {
    let (ending, terminal, _) = run([[.woken], keys("q")])
    #expect(ending == .quit)
    #expect(terminal.screens.count == 2)
    #expect(terminal.screens.first?.text().contains("Loading…") == true)
    #expect(terminal.screens.last?.text().contains("The hearth is lit") == true)
  }

  @Test("A post typed in one go is written, and selected on the next screen")
  func posting() {
    let repository = RecordingRepository()
    let script = [[.woken], keys("cHello\nWorld") + [.key(.control("s"))], keys("q")]
    let (_, terminal, program) = run(script, repository)
    #expect(repository.calls == ["follow recent", "post Hello: World", "stop recent"])
    #expect(program.model.feed.list.selection == "new")
    #expect(terminal.screens.last?.text().contains("▌ Hello") == true)
  }

  @Test("An open post is closed at the end, whatever the end is")
  func hangUp() {
    let repository = RecordingRepository()
    let (ending, _, program) = run([[.woken], keys("\ncHm"), [.terminate(signal: 15)]], repository)
    #expect(ending == .terminated(signal: 15))
    #expect(repository.calls.last == "close p12")
    #expect(program.model.unsentComments == ["Hm"])
  }

  @Test("A terminal that went away ends the program")
  func goneTerminal() {
    #expect(run([]).ending == .hangUp)
  }

  @Test("Nothing is drawn when nothing has changed")
  func noNeedlessDrawing() {
    let (_, terminal, _) = run([[.woken], [], [], [], keys("q")])
    #expect(terminal.screens.count == 2)
  }

  @Test("An idle program sleeps for half a minute, and without any post for ever")
  func timeouts() {
    let (_, terminal, _) = run([[.woken], keys("q")])
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
    let program = Program(terminal: terminal, repository: repository, wake: {})
    #expect(program.run() == .quit)
    #expect(terminal.calls == ["redraw", "suspend", "redraw", "bell"])
  }

  @Test("Drafts are handed over as they are typed, and nothing is once they are sent")
  func drafts() {
    let script = [keys("cT"), [], keys("\tB"), [.key(.control("s"))], keys("q")]
    var kept: [[Draft]] = []
    let program = Program(
      terminal: ScriptedTerminal(script),
      repository: RecordingRepository(),
      wake: {},
      keepDrafts: { kept.append($0) }
    )
    #expect(program.run() == .quit)
    #expect(kept == [[Draft(title: "T", body: "")], [Draft(title: "T", body: "B")], []])
  }

  @Test("Of a burst only the last state of each list is shown")
  func bursts() {
    let events: [BlogEvent] = [
      .feed(.recent, posts: []), .pendingWrites(1), .feed(.top, posts: []),
      .failed(.deletePost("a"), reason: "x"), .feed(.recent, posts: Fixture.posts),
      .pendingWrites(0),
    ]
    let left = Program<ScriptedTerminal>.withoutOvertaken(events)
    #expect(left == [events[2], events[3], events[4], events[5]])
  }
}
