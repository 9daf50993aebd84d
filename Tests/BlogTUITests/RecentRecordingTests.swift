import BlogModel
import Testing

@testable import BlogTUI

@Suite("Recordings of the last minutes")
struct RecentRecordingTests {
  private struct Session {
    var recent = RecentRecording()
    var model = Model(RecordingTests.start)
    var largest = 0

    init() { recent.add([.start(RecordingTests.start)], after: model) }

    mutating func send(_ event: Event) {
      _ = update(&model, with: event)
      recent.add([.event(event)], after: model)
    }

    /// The screen at the end of the replay, and that at its beginning.
    func replayed() throws -> (first: Screen, last: Screen, steps: Int) {
      var replay = Replay(try Recording(Array(recent.text.utf8)))
      let steps = replay.count
      var first = replay.screen
      // The beginning repeats what was known, without time passing.
      while !replay.isAtEnd, replay.elapsed == 0 {
        first = replay.screen
        replay.move(by: 1)
      }
      replay.move(to: steps)
      return (first, replay.screen, steps)
    }
  }

  @Test("A short recording equals that of a file", arguments: 1...4)
  func short(seed: UInt64) throws {
    var events = RandomEvents(seed: seed)
    var session = Session()
    var writer = RecordingWriter()
    var file = writer.lines(for: .start(RecordingTests.start))
    for _ in 0..<300 {
      let event = events.next()
      // Time stands still, so no part ends.
      if case .tick = event { continue }
      session.send(event)
      file += writer.lines(for: .event(event))
    }
    #expect(session.recent.text == file + writer.finish())
    #expect(try session.replayed().last == view(session.model))
  }

  @Test("After hours the recording begins minutes ago, with the lists and the selection of then")
  func long() throws {
    var session = Session()
    session.send(.started)
    session.send(.blog(.connection(.online)))
    session.send(.blog(.feed(.recent, posts: Fixture.posts)))
    session.send(.command("show-top"))
    session.send(.blog(.feed(.top, posts: Fixture.posts)))
    var largest = 0
    for minute in 1...180 {
      session.send(.tick(now: Fixture.now + Int64(minute) * 60_000))
      for key in ["j", "k", "j"] { session.send(.key(.character(Character(key)))) }
      largest = max(largest, session.recent.text.utf8.count)
    }
    let (_, last, steps) = try session.replayed()
    #expect(last == view(session.model))
    #expect(steps < 100)
    #expect(largest < 100_000)
  }

  @Test("Only the newest of very many comments are recorded, with a note of earlier ones")
  func comments() throws {
    var session = Session()
    session.send(.started)
    session.send(.blog(.feed(.recent, posts: Fixture.posts)))
    session.send(.command("open"))
    let id = try #require(session.model.openPost?.id)
    session.send(.blog(.post(id, Fixture.posts[0])))
    let comments = (0..<20_000).map { number in
      BlogComment(id: "c\(100_000 + number)", uid: "bob", author: "bob", text: "Comment \(number)")
    }
    session.send(.blog(.hasEarlierComments(id, false)))
    session.send(.blog(.comments(id, comments)))
    session.send(.command("bottom"))
    #expect(session.recent.text.utf8.count < 200_000)
    let (_, last, _) = try session.replayed()
    #expect(last.text().contains("Comment 19999"))
    #expect(session.model.openPost?.comments.visible?.count == 20_000)
  }

  @Test("The memory is bounded, whatever is open")
  func bounded() throws {
    var session = Session()
    session.send(.started)
    session.send(.command("write"))
    let text = String(repeating: "x", count: 100_000)
    for _ in 0..<100 {
      session.send(.key(.paste(text)))
      session.send(.key(.control("u")))
      #expect(session.recent.text.utf8.count < 2 * RecentRecording.longestPartBytes + 2_000_000)
    }
    #expect(session.recent.text.utf8.count > RecentRecording.longestPartBytes)
    _ = try Recording(Array(session.recent.text.utf8))
  }
}
