import BlogModel
import Testing

@testable import BlogTUI

@Suite("Command line")
struct CommandLineTests {
  @Test("Every action of a view can be run by name")
  func names() {
    var model = Fixture.loaded()
    #expect(model.type(":star", .enter).contains(.write(.star("p12", false))))
    model.type(":down", .enter)
    #expect(model.feed.list.selectedIndex == 1)
    #expect(model.type(":quit", .enter).last == .quit)
  }

  @Test(
    "A command without arguments rejects any",
    arguments: ["quit", "star", "down"]
  )
  func surplus(name: String) {
    var model = Fixture.loaded()
    let effects = model.type(.text(":\(name) now"), .enter)
    #expect(!effects.contains(Effect.quit) && !effects.contains(Effect.write(.star("p12", false))))
    #expect(model.message?.text.string == "\(name) takes nothing after its name, not \"now\".")
  }

  @Test("Action names are unique")
  func unique() {
    let names = KeyTable.standard.actions.map(\.name)
    #expect(Set(names).count == names.count)
    for name in names { #expect(KeyTable.standard.action(named: name)?.name == name) }
  }

  @Test("An unambiguous prefix of a name is enough")
  func prefixes() {
    var model = Fixture.loaded()
    model.type(":mess", .enter)
    #expect(model.help?.title.string == "Messages")
    model.type(.escape, ":s", .enter)
    #expect(model.message?.kind == .failure)
  }

  @Test("An unknown command is reported with a suggestion")
  func unknown() {
    var model = Fixture.loaded()
    model.type(":stra", .enter)
    #expect(model.message?.text.string.hasPrefix("There is no command \"stra\".") == true)
    model.type(":qit", .enter)
    #expect(model.message?.text.string == "There is no command \"qit\". Did you mean \"quit\"?")
    model.type(":send", .enter)
    #expect(model.message?.text.string.contains("works only in: comment") == true)
  }

  @Test("Tab cycles through the completions and back to the typed text")
  func completion() {
    var model = Fixture.loaded()
    model.type(":th")
    #expect(model.commandLine?.completions.map(\.line) == ["theme "])
    #expect(model.rows.contains { $0.contains("choose the colours") })
    model.type(.tab)
    #expect(model.commandLine?.field.text == "theme ")
    model.type(.tab)
    #expect(model.commandLine?.field.text == "th")
  }

  @Test("Tab also completes values")
  func values() {
    var model = Fixture.loaded()
    model.type(":set theme li", .tab)
    #expect(model.commandLine?.field.text == "set theme light")
    model.type(.enter)
    #expect(model.settings.word(.theme) == "light")
    #expect(model.theme == .light)
  }

  @Test("Up and Down recall earlier commands")
  func history() {
    var model = Fixture.loaded()
    model.type(":down", .enter, ":up", .enter, ":", .up)
    #expect(model.commandLine?.field.text == "up")
    model.type(.up)
    #expect(model.commandLine?.field.text == "down")
    model.type(.down, .down)
    #expect(model.commandLine?.field.text == "")
    model.type("d", .up)
    #expect(model.commandLine?.field.text == "down")
  }

  @Test("Backspace on an empty line and Esc close the command line")
  func leaving() {
    var model = Fixture.loaded()
    model.type(":", .key(.backspace))
    #expect(model.commandLine == nil)
    model.type(":x", .escape)
    #expect(model.commandLine == nil)
  }

  @Test("dump-screen writes the screen to a file")
  func dump() {
    var model = Fixture.loaded()
    let effects = model.type(":dump-screen a b.txt", .enter)
    guard case .environment(.write(let text, let file))? = effects.last else {
      Issue.record("nothing is written: \(effects)")
      return
    }
    #expect(file == "a b.txt")
    #expect(text.contains("The hearth is lit"))
    #expect(!text.contains("dump-screen"))
  }

  @Test("bind gives a key another action")
  func binding() {
    var model = Fixture.loaded()
    model.type(":bind list x star", .enter)
    #expect(model.type("x") == [.write(.star("p12", false))])
    model.type(":bind list g x star", .enter)
    #expect(model.type("gx") == [.write(.star("p12", true))])
    model.type(":bind list x fly", .enter)
    #expect(model.message?.kind == .failure)
  }

  @Test("The palette finds a command by a few letters and runs it")
  func palette() {
    var model = Fixture.loaded()
    model.type(.control("p"), "unst")
    #expect(model.context == .chooser)
    #expect(Self.firstRow(of: model).contains("star or unstar"))
    #expect(model.type(.enter) == [.write(.star("p12", false))])
    #expect(model.chooser == nil)
  }

  @Test(
    "The palette lists an exact name first, then names that start with the input",
    arguments: [
      ("quit", "quit"), ("up", "▌ up  "), ("set", "choose a value"),
      ("theme", "choose the colours"),
      ("write", "write a post"), ("top", "to the top"), ("edit", "edit what I wrote"),
      ("net", "cut this terminal off"), ("split", "list and post side by side"),
    ]
  )
  func paletteNames(name: String, help: String) {
    var model = Fixture.loaded()
    model.type(.control("p"), .paste(name))
    #expect(Self.firstRow(of: model).contains(help), "\(Self.firstRow(of: model))")
  }

  /// The row below the field of the palette.
  private static func firstRow(of model: Model) -> String {
    let rows = model.rows
    let field = rows.firstIndex { $0.contains("│› ") } ?? rows.count
    return field + 1 < rows.count ? rows[field + 1] : "no palette"
  }

  @Test("The palette is a box over the list, or a screen where there is too little room")
  func paletteBox() {
    var model = Fixture.loaded()
    model.type(.control("p"))
    #expect(model.rows[0].contains("Recent"))
    #expect(model.rows.contains { $0.contains("─ Commands ─") })
    model.send(.key(.resize(Size(width: 40, height: 12))))
    #expect(model.rows[0].contains("Commands"))
    #expect(!model.rows.contains { $0.contains("│") })
  }

  @Test("The palette starts with the commands that were run last, the latest first")
  func paletteRecent() {
    var model = Fixture.loaded()
    model.type(.control("p"), "messages", .enter, .escape, ":down", .enter)
    model.type(":mess", .enter, .escape, .control("p"))
    let names = model.chooser?.items.compactMap(\.name) ?? []
    #expect(names.prefix(2) == ["messages", "down"])
    #expect(model.chooser?.items.prefix(3).map(\.isRecent) == [true, true, false])
    #expect(model.chooser?.selection?.name == "messages")
    #expect(Set(names).count == names.count)
  }

  @Test("The keys of the palette stand in one column")
  func paletteKeys() {
    var model = Fixture.loaded(Size(width: 120, height: 40))
    model.type(.control("p"))
    let columns = ["half-page-up", "show-recent", "show-mine"].compactMap { name -> Int? in
      guard let row = model.rows.first(where: { $0.contains(" \(name) ") }),
        let range = row.firstRange(of: " \(name) ")
      else { return nil }
      return row[..<range.upperBound].count + row[range.upperBound...].prefix { $0 == " " }.count
    }
    #expect(columns.count == 3 && Set(columns).count == 1, "\(columns)")
  }

  @Test("A palette command that takes an argument asks for it")
  func paletteCommand() {
    var model = Fixture.loaded()
    model.type(.control("p"), "choose the colours", .enter)
    #expect(model.commandLine?.field.text == "theme ")
  }

  @Test("The message log keeps past messages, newest first")
  func messages() {
    var model = Fixture.loaded()
    model.send(.failed("First."))
    model.type("j")
    model.send(.succeeded("Second."))
    model.type("j", .key(.function(4)))
    let rows = model.rows
    let first = rows.firstIndex { $0.contains("First.") }
    let second = rows.firstIndex { $0.contains("Second.") }
    #expect(first != nil && second != nil)
    #expect(second ?? 0 < first ?? 0)
  }
}
