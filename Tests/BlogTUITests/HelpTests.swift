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

  @Test("The first page has ten keys of the screen, and Enter shows all")
  func fewKeys() {
    var model = Fixture.loaded()
    model.type("?")
    let lines = model.help?.scroll.lines.map(\.string) ?? []
    for part in ["open the post", "write a post", "star or unstar", "quit", "Enter shows all"] {
      #expect(lines.contains { $0.contains(part) }, "\(part)")
    }
    // Two columns, one text of which needs two lines, with a heading and a line about the others.
    #expect(lines.count == 9)
    #expect(model.rows.contains { $0.contains("Enter all keys") })
    model.type(.enter)
    #expect(model.help?.title == "All keys")
    #expect(model.help?.scroll.lines.contains { $0.string.contains("F12") } == true)
    #expect(!model.rows.contains { $0.contains("Enter all keys") })
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

  @Test("The hints of every context name the help key", arguments: [20, 40, 80])
  func hints(width: Int) {
    var model = Fixture.loaded(Size(width: width, height: 6))
    #expect(model.rows[4].contains("? help"))
    model.type(.enter)
    #expect(model.rows[4].contains("? help"))
    model.type("?")
    #expect(model.rows[4].contains("? back"))
    model.type("?", "c")
    #expect(model.rows[4].contains("F1 help"))
  }

  @Test("A search narrows the page, and Esc shows all of it again")
  func searching() {
    var model = Fixture.loaded()
    model.type("?", "/", "suspend")
    #expect(model.context == .find)
    let lines = model.help?.scroll.lines.map(\.string) ?? []
    #expect(lines.contains { $0.contains("^Z") })
    #expect(!lines.contains { $0.contains("unstar") })
    model.type(.enter)
    #expect(model.context == .help)
    model.type(.escape)
    #expect(model.help?.scroll.lines.contains { $0.string.contains("unstar") } == true)
    model.type(.escape)
    #expect(model.help == nil)
  }

  @Test("The hints name :help if the help keys are unbound")
  func unboundHelp() {
    var model = Fixture.loaded(Size(width: 20, height: 6))
    var configuration = Configuration()
    configuration.keys = ["?", "F1"].map {
      KeyOverride(context: "list", keys: $0, action: "none", line: 1)
    }
    model.send(.configured(configuration))
    #expect(model.rows[4].contains(":help help"))
  }

  @Test("A question mark can be typed into text")
  func questionMark() {
    var model = Fixture.loaded()
    model.type("c?")
    #expect(model.composer?.title.text == "?")
    #expect(model.help == nil)
  }
}
