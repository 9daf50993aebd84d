import BlogModel
import TestSupport
import Testing

@testable import BlogTUI

@Suite("Random events")
struct PropertyTests {
  @Test(
    """
    Events of any kind never trap, every row is exactly as wide as the screen, and what is \
    drawn again is what is drawn anew
    """,
    arguments: Thoroughness.seeds(4)
  )
  func anything(seed: UInt64) {
    var events = RandomEvents(seed: seed)
    var model = Fixture.started(
      Size(width: 80, height: 24),
      glyphs: seed % 2 == 0 ? .ascii : .unicode
    )
    var rows = DrawnRows()
    for step in 0..<Thoroughness.rounds(6_000) {
      let effects = model.send(events.next())
      // Without this the first q would end the run on a screen that no longer matters.
      if effects.contains(.quit) { model.question = nil }
      let screen = view(model)
      let isAlike = view(model, reusing: &rows) == screen
      let problem = isAlike ? Self.problem(of: screen, model) : "rows drawn before look different"
      guard let problem else { continue }
      Issue.record("seed \(seed), step \(step): \(problem)")
      return
    }
  }

  /// Whether a scalar in a cell does nothing but join emoji.
  private static func joins(_ scalar: Unicode.Scalar, in cell: Cell) -> Bool {
    cell.cluster.isJoined && (scalar == "\u{200D}" || scalar == "\u{FE0F}")
  }

  /// What is wrong with a screen, if anything.
  static func problem(of screen: Screen, _ model: Model) -> String? {
    if screen.size != model.size { return "the screen is \(screen.size)" }
    for row in 0..<screen.size.height {
      let cells = screen.row(row)
      if cells.count != screen.size.width { return "row \(row) has \(cells.count) cells" }
      let width = cells.reduce(0) { $0 + $1.width }
      if width != screen.size.width { return "row \(row) is \(width) wide" }
      for cell in cells where cell.text != " " {
        if cell.text.utf8.count == 1, let byte = cell.text.utf8.first, byte > 0x20, byte < 0x7F {
          continue
        }
        let isUnsafe = cell.text.unicodeScalars.contains { scalar in
          scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            || scalar.properties.isDefaultIgnorableCodePoint && !Self.joins(scalar, in: cell)
            || (0x202A...0x202E).contains(scalar.value)
        }
        if isUnsafe { return "row \(row) shows \(cell.text.debugDescription)" }
      }
    }
    if let cursor = screen.cursor, !screen.bounds.contains(cursor) { return "cursor at \(cursor)" }
    return nil
  }

  @Test(
    "Posts added and removed elsewhere never move the selected one",
    arguments: Thoroughness.seeds(40)
  )
  func anchor(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var model = Fixture.loaded(Size(width: 80, height: 24))
    var numbers = Array(100..<200)
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(numbers))))
    for _ in 0..<50 { model.type("j") }
    let selected = 149
    let row = model.rows.firstIndex { $0.hasPrefix("▌ Post 149 ") }
    #expect(row != nil)
    for _ in 0..<60 {
      if Bool.random(using: &random) {
        numbers.append((numbers.max() ?? 0) + 1)
      } else {
        numbers.remove(at: Int.random(in: 0..<numbers.count, using: &random))
        if !numbers.contains(selected) { numbers.append(selected) }
      }
      model.send(.blog(.feed(.recent, posts: Fixture.numbered(numbers))))
      guard model.feed.list.ids.count > 80 else { break }
      #expect(model.rows.firstIndex { $0.hasPrefix("▌ Post 149 ") } == row)
    }
  }

  @Test("Every view fills the screen at any size")
  func sizes() {
    let places: [[Typed]] = [
      [], ["/train"], [.enter], [.enter, "c", "text"], ["c", "title"], ["?"], ["jd"],
      [":th"], [.control("p"), "st"], [.key(.function(2))], [.key(.function(12))], ["?", "/x"],
      [.key(.function(4))],
    ]
    let widths = Array(0...24) + [35, 36, 59, 60, 71, 99, 100]
    let heights = [0, 1, 2, 5, 6, 7, 9, 10, 11, 30]
    // Four consecutive days try every pair of width and height in every place.
    let today = Int(Thoroughness.seed % 4)
    for (place, keys) in places.enumerated() {
      var model = Fixture.loaded()
      for key in keys { model.type(key) }
      for (x, width) in widths.enumerated() {
        for (y, height) in heights.enumerated()
        where Thoroughness.isFull || (place + x + y) % 4 == today {
          model.resize(width, height)
          let screen = view(model)
          #expect(screen.size == Size(width: width, height: height))
        }
      }
    }
  }

  @Test("10,000 resizes keep the right size, the selected post and the typed text")
  func resizeStorm() {
    var random = SplitMix64(seed: 17)
    var model = Fixture.loaded()
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...200))))
    for _ in 0..<20 { model.type("j") }
    let selected = model.feed.list.selection
    model.type("c", "Half a title", .tab, "and some text")
    for step in 0..<10_000 {
      let width = Int.random(in: 0...220, using: &random)
      let height = Int.random(in: 0...70, using: &random)
      model.resize(width, height)
      guard step.isMultiple(of: 50) else { continue }
      #expect(view(model).size == Size(width: width, height: height))
    }
    model.resize(80, 24)
    #expect(model.composer?.draft == Draft(title: "Half a title", body: "and some text"))
    model.type(.escape, "y")
    #expect(model.feed.list.selection == selected)
    #expect(model.rows.contains { $0.hasPrefix("▌ Post") })
  }
}
