import BlogModel
import Testing

@testable import BlogTUI

@Suite("Search")
struct SearchTests {
  @Test(
    "URLs, times, quotes and words ending in a colon are plain text",
    arguments: ["https://x.org", "12:30", "std::string", "\"foo:bar\"", "tea:", ":x", "a: b"]
  )
  func colons(text: String) {
    #expect(SearchPattern.problem(in: text) == nil)
  }

  @Test("A part in which something is missing is not searched for as text")
  func missing() {
    #expect(SearchPattern.problem(in: "tea title:\"\"") == "title: needs a text.")
    #expect(SearchPattern.problem(in: "Author:") == "author: needs a name.")
    #expect(SearchPattern.problem(in: "\"author:\"") == nil)
  }

  @Test("A long search stays on its line with the cursor visible", arguments: [20, 40, 80])
  func longSearch(width: Int) {
    var model = Fixture.loaded(Size(width: width, height: 10))
    model.type("/", .text(String(repeating: "漢字 and more ", count: 12)))
    let screen = view(model)
    let frame = Frame(model.size)
    #expect(screen.cursor.map { frame.searchField.contains($0) } == true)
    #expect(model.rows[8].hasSuffix("no match") == (width >= 36))
  }
}
