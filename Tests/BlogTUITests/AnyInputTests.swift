import BlogModel
import TestSupport
import Testing

@testable import BlogTUI

@Suite("Random input")
struct AnyInputTests {
  /// Keys that lead from the list to each mode that handles keys itself.
  private static let places: [[Typed]] = [
    [], [.enter], [.enter, "c"], ["c"], ["c", .tab], ["e"], ["/"], ["?"], ["?", "/"], [":"],
    [":set "], [.control("p")], [.key(.function(2))], [.key(.function(2)), "theme", .enter],
    [.key(.function(4))], [.key(.function(12))], [.key(.function(12)), .enter], ["o"], ["w"],
    ["jd"], ["c", "x", .escape], ["a"], ["vv"], ["U"],
  ]

  @Test(
    "Random keys in any view at any size stay on screen and cause few effects each",
    arguments: 0..<24
  )
  func places(number: Int) {
    let seed = Thoroughness.seeds(1)[0] &+ UInt64(number)
    var random = SplitMix64(seed: seed)
    var events = RandomEvents(seed: seed &+ 500)
    let keys = Self.places[number]
    for round in 0..<Thoroughness.rounds(10) {
      var model = Fixture.loaded(
        Self.size(&random),
        glyphs: (number + round).isMultiple(of: 2) ? .unicode : .ascii
      )
      for key in keys { model.type(key) }
      for step in 0..<40 {
        let event: Event = step.isMultiple(of: 9) ? events.next() : .key(Self.key(&random))
        let deletions = model.writing.deletions.count
        let effects = model.send(event)
        // One event causes only a few effects, apart from one for each deletion.
        #expect(effects.count <= 8 + deletions)
        if effects.contains(.quit) { model.question = nil }
        guard let problem = PropertyTests.problem(of: view(model), model) else { continue }
        Issue.record("place \(number), round \(round), step \(step): \(problem)")
        return
      }
    }
  }

  @Test("The sign-in form withstands random keys, answers and sizes", arguments: [UInt64(1), 2, 3])
  func signIn(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let texts = RandomEvents.hostileTexts
    var form = SignIn(
      databaseName: texts[Int.random(in: 0..<texts.count, using: &random)],
      accounts: texts.prefix(9).map { SignIn.Account(uid: $0, title: $0) },
      allowsNobody: true,
      size: Size(width: 80, height: 24),
      glyphs: seed == 2 ? .ascii : .unicode
    )
    for step in 0..<500 {
      let text = texts[Int.random(in: 0..<texts.count, using: &random)]
      switch Int.random(in: 0..<20, using: &random) {
      case 0: _ = form.update(.key(.resize(Self.size(&random))))
      case 1: _ = form.update(.failed(text))
      case 2: _ = form.update(.codeSent)
      case 3: _ = form.update(.nameNeeded(suggestion: text))
      case 4: _ = form.update(.accounts([SignIn.Account(uid: text, title: text)]))
      case 5: _ = form.update(.passwordSet)
      default: _ = form.update(.key(Self.key(&random)))
      }
      let screen = form.view()
      #expect(screen.size == form.size)
      for row in 0..<screen.size.height {
        let cells = screen.row(row)
        guard cells.reduce(0, { $0 + $1.width }) == screen.size.width
        else { throw Unexpected("seed \(seed), step \(step), row \(row)") }
      }
    }
  }

  @Test("Line mode prints a bounded number of lines for any command or event")
  func plain() {
    var random = SplitMix64(seed: 9)
    var events = RandomEvents(seed: 9)
    var plain = PlainBlog(me: Fixture.alice)
    let words = ["list", "open 1", "open 99", "back", "post", "comment", "star", "unstar 2", "."]
    var known = 0
    for _ in 0..<1_500 {
      if Bool.random(using: &random), case .blog(let event) = events.next() {
        if case .feed(.recent, let posts) = event { known = max(known, posts.count) }
        #expect(plain.take(event).count <= 2 * (known + 100))
      } else {
        let isWord = Bool.random(using: &random)
        let texts = RandomEvents.hostileTexts
        let line =
          isWord
          ? words[Int.random(in: 0..<words.count, using: &random)]
          : texts[Int.random(in: 0..<texts.count, using: &random)]
        #expect(plain.run(line, now: 0).effects.count <= 2)
      }
    }
  }

  private static func size(_ random: inout SplitMix64) -> Size {
    Size(
      width: Int.random(in: 0...200, using: &random),
      height: Int.random(in: 0...60, using: &random)
    )
  }

  private static func key(_ random: inout SplitMix64) -> KeyEvent {
    let special: [KeyEvent] = [
      .enter, .escape, .tab, .backTab, .up, .down, .left, .right, .home, .end, .pageUp, .pageDown,
      .backspace, .delete, .insert, .controlLeft, .controlRight, .alt(.character("x")),
      .alt(.backspace), .function(1), .function(2), .function(4), .function(12), .control("p"),
      .control("w"), .control("u"), .control("k"), .control("y"), .control("z"), .control("c"),
    ]
    let texts = RandomEvents.hostileTexts
    switch Int.random(in: 0..<10, using: &random) {
    case 0...3: return special[Int.random(in: 0..<special.count, using: &random)]
    case 4: return .paste(texts[Int.random(in: 0..<texts.count, using: &random)])
    case 5:
      let position = Position(
        row: Int.random(in: -1...61, using: &random),
        column: Int.random(in: -1...201, using: &random)
      )
      return .mouse(MouseEvent(kind: .press, position: position))
    case 6: return .character(Character(Unicode.Scalar(UInt8.random(in: 0...255, using: &random))))
    default:
      return .character(
        Array("jkgGdyncsr/?.qhlN1234ib* axXueamMUFwvt|:opf").randomElement(using: &random) ?? "j"
      )
    }
  }
}
