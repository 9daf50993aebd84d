import Testing

@testable import BlogTUI

@Suite("KeyEvent and KeySequence")
struct KeyEventTests {
  static let keys: [(KeyEvent, String)] = [
    (.character("j"), "j"), (.character("G"), "G"), (.character("?"), "?"), (.character("^"), "^"),
    (.character(" "), "Space"), (.character("漢"), "漢"), (.control("l"), "^L"),
    (.control("["), "^["), (.enter, "Enter"), (.escape, "Esc"), (.pageDown, "PgDn"),
    (.pageUp, "PgUp"), (.tab, "Tab"), (.backTab, "S-Tab"), (.function(12), "F12"),
    (.alt(.character("f")), "Alt-f"), (.alt(.left), "Alt-Left"), (.controlRight, "^Right"),
    (.up, "Up"), (.delete, "Del"), (.backspace, "Backspace"), (.character("F"), "F"),
  ]

  @Test("Keys round-trip through their names", arguments: keys)
  func names(key: KeyEvent, name: String) {
    #expect(key.description == name)
    #expect(KeyEvent(description: name) == key)
  }

  @Test(
    "Invalid key names are rejected",
    arguments: ["", "  ", "\t", "^1", "F0", "F99", "Alt-", "Hm"]
  )
  func noNames(name: String) {
    #expect(KeyEvent(description: name) == nil)
    #expect(KeySequence(description: name) == nil)
  }

  @Test("A sequence is one to four keys separated by spaces")
  func sequences() {
    #expect(KeySequence(description: "g g")?.keys == [.character("g"), .character("g")])
    #expect(("^X Enter" as KeySequence).description == "^X Enter")
    #expect(KeySequence(description: "a b c d")?.keys.count == 4)
    #expect(KeySequence(description: "a b c d e") == nil)
    #expect(KeySequence(description: "a Hm") == nil)
  }
}
