import BlogModel
import Testing

@testable import BlogTUI

@Suite("Display density and layout")
struct LooksTests {
  @Test("v cycles the density; the densest shows at least twenty posts in 25 rows")
  func density() {
    var model = Fixture.loaded(Size(width: 80, height: 25))
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...60))))
    #expect(model.feed.list.capacity >= 20)
    model.type("jj")
    model.type("v")
    #expect(model.feed.list.capacity == model.listRect.height / 2)
    #expect(model.feed.list.selection == "n58")
    #expect(model.rows[6].hasPrefix("▌ Post 58"))
    #expect(model.rows[7].hasPrefix("▌ Text 58"))
    model.type("v")
    // A title, a line of text and a blank one.
    #expect(model.feed.list.visibleRange.count == model.listRect.height / 3 + 1)
    model.type("v")
    #expect(model.feed.list.capacity >= 20)
  }

  @Test("At full density, a post takes only the lines that its text needs")
  func full() {
    var posts = Fixture.numbered(1...60)
    posts[0].body = Array(repeating: "word", count: 60).joined(separator: " ")
    posts[1].body = Array(repeating: "word", count: 5_000).joined(separator: " ")
    var model = Fixture.loaded(Size(width: 80, height: 40))
    model.send(.blog(.feed(.recent, posts: posts)))
    model.type("vv")
    func lines(_ first: Int, _ next: Int) -> Int? {
      let rows = model.rows
      guard let start = rows.firstIndex(where: { $0.contains("Post \(first)") }),
        let end = rows.firstIndex(where: { $0.contains("Post \(next)") })
      else { return nil }
      return end - start
    }
    // Sixty words of five columns take four lines of 77; eight lines of the long text are shown.
    #expect(lines(60, 59) == 6)
    #expect(lines(59, 58) == 10)
    #expect(lines(58, 57) == 3)
    model.resize(40, 40)
    #expect(lines(60, 59) == 11 - 1)
    for _ in 0..<59 {
      model.type("j")
      let row = model.rows.first { $0.hasPrefix("▌") }
      #expect(row?.contains("Post") == true, "the title of the selected post is in view")
    }
  }
}
