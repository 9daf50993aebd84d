import BlogModel
import Testing

@testable import BlogTUI

@Suite("View")
struct ViewTests {
  @Test(
    "Ages are short and become dates after a year",
    arguments: [
      (0, "now"), (59, "now"), (60, "1m"), (3_599, "59m"), (3_600, "1h"), (86_399, "23h"),
      (86_400, "1d"), (86_400 * 364, "364d"), (86_400 * 365, "2022-11-14"),
      (1_700_000_000, "1970-01-01"), (1_700_000_000 - 68_169_600, "1972-02-29"),
      (1_700_000_000 - 951_868_799, "2000-02-29"), (1_700_000_001, "1969-12-31"), (-5, "now"),
    ] as [(Int64, String)]
  )
  func ages(seconds: Int64, text: String) {
    #expect(Age.text(Fixture.now - seconds * 1_000, now: Fixture.now).string == text)
  }

  @Test(
    "An unknown time has no age, and extreme times do not trap",
    arguments: [Int64.min, -1, 0, .max]
  )
  func extremeTimes(time: Int64) {
    #expect(Age.text(nil, now: time) == .empty)
    for other in [Int64.min, -1, 0, .max] {
      #expect(Age.text(time, now: other, isShort: true).width <= 4)
    }
  }

  @Test(
    "Star counts take at most four cells",
    arguments: [
      (0, "0"), (9_999, "9999"), (10_000, "10k"), (999_999, "999k"), (1_000_000, "1M"),
      (5_000_000_000, "5G"), (.max, "999G"), (-1, "0"), (.min, "0"),
    ] as [(Int, String)]
  )
  func counts(number: Int, text: String) {
    #expect(ShortNumber.text(number).string == text)
  }

  @Test("All four tabs fit at every width", arguments: FeedKind.tabs, [20, 23, 30, 57, 58, 80])
  func tabs(kind: FeedKind, width: Int) {
    var model = Fixture.loaded(Size(width: width, height: 6))
    for tab in FeedKind.tabs {
      _ = model.session.select(tab: tab)
      model.send(.blog(.feed(tab, posts: Fixture.numbered(1...100))))
    }
    _ = model.session.select(tab: kind)
    let bar = TabBar(model.session)
    let fits = bar.tabs.allSatisfy { $0.rect.width == $0.text.width && $0.rect.endColumn <= width }
    #expect(fits)
    #expect(
      bar.tabs.first { $0.kind == kind }?.text.string.contains("posts")
        == (kind == .mine
          || kind == .myTop)
    )
  }

  @Test("The selected row is entirely reversed, except its marker")
  func selectedRow() {
    let screen = view(Fixture.loaded())
    let cells = Array(screen.row(2))
    #expect(cells[0].text == "▌")
    #expect(cells.dropFirst().filter { !$0.style.attributes.contains(.reverse) }.isEmpty)
    #expect(screen.row(3).filter { $0.style.attributes.contains(.reverse) }.isEmpty)
    #expect(screen.cursor == Position(row: 2, column: 0))
  }

  @Test("The interface is pure ASCII on a terminal without Unicode")
  func asciiChrome() {
    var model = Fixture.started(Size(width: 80, height: 24), glyphs: .ascii)
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...50))))
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...60))))
    let places: [[Typed]] = [[], [.enter], ["q?"], ["qc"]]
    for keys in places {
      for key in keys { model.type(key) }
      model.send(.blog(.comments("n50", Fixture.comments.filter { $0.uid == "bob" })))
      for row in model.rows { #expect(row.utf8.count == row.count, "\(row)") }
    }
  }
}
