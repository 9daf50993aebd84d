import BlogModel
import Foundation
import TestSupport
import Testing

@testable import BlogTUI

@Suite("Recordings and replay")
struct RecordingTests {
  static let start = RecordingStart(
    me: Fixture.alice,
    databaseName: "local",
    size: Size(width: 80, height: 24),
    now: Fixture.now,
    unsent: Unsent(posts: [Draft(title: "kept", body: "text")], comments: ["p1": ["c"]]),
    history: ["set theme light"]
  )

  /// Generates events of any kind, and the model that has received them.
  static func run(seed: UInt64, count: Int) -> (file: String, model: Model) {
    var events = RandomEvents(seed: seed)
    var writer = RecordingWriter()
    var model = Model(start)
    var file = writer.lines(for: .start(start))
    for _ in 0..<count {
      let event = events.next()
      file += writer.lines(for: .event(event))
      _ = update(&model, with: event)
    }
    return (file + writer.finish(), model)
  }

  @Test("Every kind of event round-trips through the file", arguments: 1...8)
  func roundTrip(seed: Int) throws {
    var events = RandomEvents(seed: UInt64(seed))
    var writer = RecordingWriter()
    var file = writer.lines(for: .start(Self.start))
    var sent: [Event] = []
    for _ in 0..<400 {
      sent.append(events.next())
      file += writer.lines(for: .event(sent[sent.count - 1]))
    }
    file += writer.finish()
    let recording = try Recording(Array(file.utf8))
    #expect(recording.start == Self.start)
    #expect(!recording.isTorn)
    #expect(recording.steps.flatMap(\.events) == sent)
  }

  @Test("A replay ends with the program's final screen", arguments: Thoroughness.third(of: 1...8))
  func sameScreen(seed: Int) throws {
    let (file, model) = Self.run(seed: UInt64(seed), count: 600)
    var replay = Replay(try Recording(Array(file.utf8)))
    replay.move(to: replay.count)
    #expect(replay.screen == view(model))
  }

  @Test(
    "A position shows the same screen when reached forward, backward or by a jump",
    arguments: Thoroughness.seeds(4)
  )
  func backwardIsForward(seed: UInt64) throws {
    let (file, _) = Self.run(seed: seed, count: 300)
    let recording = try Recording(Array(file.utf8))
    var forward = Replay(recording, interval: 16)
    var screens = [forward.screen]
    while !forward.isAtEnd {
      forward.move(by: 1)
      screens.append(forward.screen)
    }
    for position in stride(from: recording.steps.count, through: 0, by: -1) {
      forward.move(to: position)
      guard forward.screen == screens[position]
      else { throw Unexpected("seed \(seed): back at \(position) the screen is another") }
    }
    var random = SplitMix64(seed: seed)
    for _ in 0..<100 {
      let position = Int.random(in: 0...recording.steps.count, using: &random)
      forward.move(to: position)
      #expect(forward.screen == screens[position])
    }
  }

  @Test("A step back replays only the events since the last snapshot")
  func quickSteps() throws {
    let (file, _) = Self.run(seed: 3, count: 2_000)
    var replay = Replay(try Recording(Array(file.utf8)))
    replay.move(to: replay.count)
    for _ in 0..<10 {
      let before = replay.carriedOut
      replay.move(by: -1)
      #expect(replay.carriedOut - before < 64)
    }
  }

  @Test("A truncated last line is skipped and reported")
  func torn() throws {
    let (file, _) = Self.run(seed: 5, count: 50)
    let bytes = Array(file.utf8)
    let whole = try Recording(bytes)
    let cut = try Recording(Array(bytes.dropLast(9)))
    #expect(cut.isTorn)
    #expect(cut.steps == Array(whole.steps.dropLast()))
    let player = ReplayPlayer(cut, size: Size(width: 80, height: 30))
    #expect(player.view().text().contains("was cut off"))
    // Only the newline is missing, so nothing is lost.
    #expect(try Recording(Array(bytes.dropLast())).steps == whole.steps)
  }

  @Test("A damaged file is rejected with the line, and other files as no recording")
  func damaged() throws {
    let (file, _) = Self.run(seed: 6, count: 20)
    var lines = file.split(separator: "\n").map(String.init)
    lines[4] = "{\"event\":{\"dance\":{}}}"
    #expect {
      try Recording(Array((lines.joined(separator: "\n") + "\n").utf8))
    } throws: { ($0 as? RecordingError)?.line == 5 }
    lines[4] = "{\"feed\":{\"recent\":{}},\"posts\":[[7,500]]}"
    #expect {
      try Recording(Array((lines.joined(separator: "\n") + "\n").utf8))
    } throws: { "\($0)" == "line 5: it restores posts that did not exist" }
    for text in ["", "\n", "hello\n", "{}\n", "[1]\n"] {
      #expect {
        try Recording(Array(text.utf8))
      } throws: { "\($0)" == "line 1: this is not a recording of hearth" }
    }
    let newer = file.replacing("\"version\":1", with: "\"version\":2")
    #expect {
      try Recording(Array(newer.utf8))
    } throws: { "\($0)".hasPrefix("line 1: recording format 2 is not supported") }
  }

  @Test("A size in a recording is one that can be drawn")
  func sizes() throws {
    let json = #"{"width":9223372036854775807,"height":-1}"#
    let size = try JSONDecoder().decode(Size.self, from: Data(json.utf8))
    #expect(size == Size(width: 2_000, height: 0))
  }

  @Test("One changed star in a list of 500 posts is recorded as a short line")
  func smallChanges() throws {
    var posts = Fixture.numbered(1...500)
    var writer = RecordingWriter()
    _ = writer.lines(for: .start(Self.start))
    let first = writer.lines(for: .event(.blog(.feed(.recent, posts: posts))))
    posts[250].starCount += 1
    let second = writer.lines(for: .event(.blog(.feed(.recent, posts: posts))))
    #expect(first.utf8.count > 20_000)
    #expect(second.utf8.count < 250)
    posts.insert(Fixture.posts[0], at: 0)
    posts.remove(at: 100)
    #expect(writer.lines(for: .event(.blog(.feed(.recent, posts: posts)))).utf8.count < 500)
  }

  // MARK: Steering

  /// Alice watches while Bob writes, stars and comments, and the connection is lost.
  static func story() throws -> Recording {
    var writer = RecordingWriter()
    var file = writer.lines(for: .start(start))
    var posts = Fixture.posts
    func tell(_ event: Event) { file += writer.lines(for: .event(event)) }
    tell(.configured(Configuration()))
    tell(.started)
    tell(.blog(.connection(.online)))
    tell(.blog(.feed(.recent, posts: posts)))
    tell(.tick(now: Fixture.now + 1_000))
    tell(.key(.character("j")))
    tell(.tick(now: Fixture.now + 5_000))
    posts[2].stars.insert("bob")
    posts[2].starCount += 1
    tell(.blog(.feed(.recent, posts: posts)))
    tell(.tick(now: Fixture.now + 65_000))
    posts.insert(
      Post(
        id: "z1",
        uid: "bob",
        author: "bob",
        title: "News",
        body: "b",
        createdAt: Fixture.now + 65_000
      ),
      at: 0
    )
    tell(.blog(.feed(.recent, posts: posts)))
    tell(.tick(now: Fixture.now + 130_000))
    tell(.blog(.connection(.offline(retryInSeconds: nil))))
    tell(.tick(now: Fixture.now + 131_000))
    tell(.blog(.failed(.star("p12", true), reason: "Permission denied")))
    return try Recording(Array((file + writer.finish()).utf8))
  }

  @Test("Each step describes who did what")
  func facts() throws {
    var replay = Replay(try Self.story())
    var facts: [String] = []
    while !replay.isAtEnd {
      replay.move(by: 1)
      facts += replay.lastFacts.map(\.text.string)
    }
    #expect(
      facts == [
        "the connection is there", "9 posts of the list recent came", "alice pressed j",
        "bob starred “漢字と絵文字 🎉 line up”", "bob wrote “News”", "the connection is gone",
        "refused: Permission denied",
      ]
    )
  }

  @Test("Keys step and jump in both directions: by minutes, to the ends and by kind of event")
  func steering() throws {
    var player = ReplayPlayer(try Self.story(), size: Size(width: 80, height: 30))
    #expect(player.view().text().contains("The beginning."))
    player.handle(.character("]"))
    #expect(player.replay.position == 1)
    player.handle(.character("["))
    #expect(player.replay.position == 0)
    player.handle(.character("s"))
    #expect(player.view().text().contains("bob starred"))
    let star = player.replay.position
    player.handle(.character("o"))
    #expect(player.view().text().contains("the connection is gone"))
    player.handle(.character("S"))
    #expect(player.replay.position == star)
    player.handle(.character("S"))
    #expect(player.view().text().contains("None of that kind before."))
    player.handle(.character("}"))
    #expect(player.replay.elapsed == 65_000)
    player.handle(.character("{"))
    #expect(player.replay.elapsed == 5_000)
    player.handle(.end)
    #expect(player.replay.isAtEnd)
    #expect(player.view().text().contains("refused: Permission denied"))
    player.handle(.home)
    #expect(player.replay.position == 0)
    player.handle(.character("q"))
    #expect(player.hasEnded)
  }

  @Test("Playback follows the recorded times, at a multiple of the speed, up to the end")
  func playing() throws {
    var player = ReplayPlayer(try Self.story(), size: Size(width: 80, height: 30))
    #expect(player.pause == nil)
    player.handle(.character("s"))
    player.handle(.character("["))
    player.handle(.character(" "))
    // Bob's star came four seconds after the key, but no wait lasts longer than two.
    #expect(player.pause == .seconds(2))
    player.handle(.character("f"))
    #expect(player.pause == .milliseconds(500))
    player.play()
    #expect(player.view().text().contains("bob starred"))
    for _ in 0..<20 { player.play() }
    #expect(player.replay.isAtEnd)
    #expect(!player.isPlaying)
    #expect(player.pause == nil)
  }

  @Test("A replay fits terminals of any size", arguments: [1, 2, 5, 20, 79, 80, 81, 200])
  func sizes(width: Int) throws {
    var player = ReplayPlayer(try Self.story(), size: Size(width: width, height: 24))
    for height in [1, 2, 3, 4, 10, 24, 27, 60] {
      player.handle(.resize(Size(width: width, height: height)))
      player.handle(.character("]"))
      let screen = player.view()
      #expect(screen.size == Size(width: width, height: height))
      for row in 0..<height {
        #expect(screen.row(row).reduce(0) { $0 + $1.width } == width)
      }
    }
  }

  // MARK: Exports

  @Test("Goldens contain every distinct screen with its time and cause")
  func golden() throws {
    var text = ""
    ReplayGolden.write(try Self.story()) { text += $0 }
    let headings = text.split(separator: "\n").filter { $0.hasPrefix("--- ") }
    #expect(headings.contains("--- 6 at 0:05.000: bob starred “漢字と絵文字 🎉 line up”"))
    #expect(headings.last?.contains("refused: Permission denied") == true)
  }

  @Test("An asciicast has a header, JSON lines and shortened pauses")
  func cast() throws {
    var lines: [String] = []
    Cast.write(try Self.story(), idleLimit: 2_000) { lines.append($0) }
    let objects = try lines.map { line in
      try JSONSerialization.jsonObject(with: Data(line.utf8))
    }
    let header = try #require(objects.first as? [String: Any])
    #expect(header["version"] as? Int == 2)
    #expect(header["width"] as? Int == 80)
    #expect(header["height"] as? Int == 24)
    let events = objects.dropFirst().compactMap { $0 as? [Any] }
    #expect(events.count == objects.count - 1)
    let times = events.compactMap { $0[0] as? Double }
    #expect(times == times.sorted())
    #expect(times.last.map { $0 <= 8 } == true)
    #expect(events.allSatisfy { $0[1] as? String == "o" && $0[2] is String })
    #expect(events.contains { ($0[2] as? String)?.contains("News") == true })
  }
}
