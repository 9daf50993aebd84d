import TerminalUI
import Testing

@testable import BlogTUI

@Suite("Help")
struct HelpTests {
  @Test("No key has two meanings in one place", arguments: Context.allCases)
  func conflicts(context: Context) {
    #expect(KeyTable.standard.conflicts(in: context) == [])
  }

  @Test("Every binding of every place is on the help screen")
  func complete() {
    let page = HelpPage(
      keys: .standard,
      context: .list,
      size: Size(width: 120, height: 20)
    )
    let text = page.scroll.lines.map(\.string).joined(separator: "\n")
    for binding in KeyTable.standard.bindings {
      #expect(text.contains(binding.keysText.string))
      #expect(text.contains(binding.help.string))
    }
  }

  @Test("The place where the user is comes first", arguments: ["", "\n", "\nc", "c", "/"])
  func order(keys: String) {
    var model = Fixture.loaded()
    for key in keys { model.send(.key(key == "\n" ? .enter : .character(key))) }
    let context = model.context
    model.type(.key(.function(1)))
    #expect(model.help?.scroll.lines.first == context.title)
    model.type(.escape)
    #expect(model.context == context)
  }

  @Test("All of it can be reached at the smallest size")
  func smallest() {
    var model = Fixture.loaded(Size(width: 20, height: 6))
    model.type("?")
    var seen: Set<String> = []
    for _ in 0..<300 {
      seen.formUnion(model.rows)
      model.type("j")
    }
    #expect(seen.contains { $0.contains("suspend") })
    #expect(model.help?.scroll.isAtEnd == true)
  }

  @Test("The way to help is in the hints of every place that reads keys", arguments: [20, 40, 80])
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

  @Test("Text can contain a question mark")
  func questionMark() {
    var model = Fixture.loaded()
    model.type("c?")
    #expect(model.composer?.title.text == "?")
    #expect(model.help == nil)
  }
}
