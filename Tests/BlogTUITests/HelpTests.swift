import Foundation
import Testing

@testable import BlogTUI

@Suite("Help")
struct HelpTests {
  @Test("No key has two actions in one context", arguments: Context.allCases)
  func conflicts(context: Context) {
    #expect(KeyTable.standard.conflicts(in: context) == [])
  }

  @Test("The help screen lists every binding of every context")
  func complete() {
    var page = Page(title: "All keys", content: .keys(.list))
    page.layout(keys: .standard, size: Size(width: 110, height: 20), glyphs: .unicode)
    let text = page.scroll.lines.map(\.string).joined(separator: "\n")
    for binding in KeyTable.standard.bindings {
      let keys = binding.keys.isEmpty ? ":\(binding.action.name)" : binding.keysText.string
      #expect(text.contains(keys))
      #expect(text.contains(binding.help.string))
    }
  }

  @Test("The current context comes first", arguments: ["", "\n", "\nc", "c", "/"])
  func order(keys: String) {
    var model = Fixture.loaded()
    for key in keys { model.send(.key(key == "\n" ? .enter : .character(key))) }
    let context = model.context
    model.type(.key(.function(1)))
    #expect(model.help?.scroll.lines.first == context.title)
    model.type(.enter)
    #expect(model.help?.scroll.lines.first == context.title)
    model.type(.escape)
    #expect(model.context == context)
  }

  @Test(
    "All keys stand in as many columns as there is room for",
    arguments: [(78, 1), (118, 2), (198, 3)]
  )
  func columns(width: Int, count: Int) throws {
    var page = Page(title: "All keys", content: .keys(.list))
    page.layout(keys: .standard, size: Size(width: width, height: 20), glyphs: .unicode)
    let rows = page.scroll.lines
    #expect(rows.allSatisfy { $0.width <= width })
    // Each action of a list is in exactly one place.
    let end = try #require(rows.firstIndex(of: .empty))
    let all = rows[1..<end].map(\.string).joined(separator: "\n")
    #expect(all.components(separatedBy: "half a page down").count == 2)
    let actions = KeyTable.standard.bindings(in: .list).count
    #expect(end - 1 >= actions / count && end - 1 <= actions / count + 8)
  }

  @Test("The whole page can be scrolled at the smallest size")
  func smallest() {
    var model = Fixture.loaded(Size(width: 20, height: 6))
    model.type("?", .enter)
    var seen: Set<String> = []
    for _ in 0..<1_500 {
      seen.formUnion(model.rows)
      model.type("j")
    }
    #expect(seen.contains { $0.contains("suspend") })
    #expect(model.help.map { $0.scroll.visibleRange.upperBound == $0.scroll.lines.count } == true)
  }
}
