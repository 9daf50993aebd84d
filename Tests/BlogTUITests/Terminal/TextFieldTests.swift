import TestSupport
import Testing

@testable import BlogTUI

@Suite("TextField")
struct TextFieldTests {
  private func type(_ keys: [KeyEvent], into text: String = "") -> TextField {
    var field = TextField(text: text)
    field.resize(to: Size(width: 20, height: 1))
    for key in keys { _ = field.handle(key) }
    return field
  }

  @Test("Characters are inserted at the cursor")
  func typing() {
    let field = type(
      [.left, .character("X"), .home, .character("Y"), .end, .character("Z")],
      into: "ab"
    )
    #expect(field.text == "YaXbZ")
    #expect(field.cursor == 5)
  }

  @Test("Backspace and Delete remove whole grapheme clusters")
  func deleting() {
    #expect(type([.backspace], into: "a👨‍👩‍👧").text == "a")
    #expect(type([.home, .delete], into: "e\u{301}x").text == "x")
    #expect(type([.home, .backspace], into: "x").text == "x")
    #expect(type([.delete], into: "x").text == "x")
  }

  @Test("An accent typed after its letter combines with it")
  func joining() {
    let field = type([.character("e"), .character("\u{301}"), .character("x")])
    #expect(field.cursor == 2)
    #expect(field.cursorColumn == 2)
    #expect(field.text == "e\u{301}x")
  }

  @Test("Readline keys delete words and parts of the line and yank them back")
  func readline() {
    #expect(type([.control("w")], into: "one two-three").text == "one ")
    #expect(type([.alt(.backspace)], into: "one two-three").text == "one two-")
    #expect(type([.control("u")], into: "one two").text == "")
    #expect(
      type([.control("a"), .control("k"), .control("y"), .control("y")], into: "ab").text == "abab"
    )
    #expect(type([.home, .alt(.character("d"))], into: "one two").text == " two")
    #expect(type([.controlLeft, .character("X")], into: "one two").text == "one Xtwo")
    #expect(type([.home, .controlRight, .character("X")], into: "one two").text == "oneX two")
    #expect(type([.control("e"), .control("b"), .control("d")], into: "ab").text == "a")
  }

  @Test("Enter submits, and unhandled keys are ignored")
  func outcomes() {
    var field = TextField(text: "a")
    #expect(field.handle(.enter) == .submitted)
    #expect(field.handle(.escape) == .ignored)
    #expect(field.handle(.up) == .ignored)
    #expect(field.handle(.left) == .moved)
    #expect(field.handle(.character("b")) == .changed)
    #expect(field.handle(.control("r")) == .ignored)
  }

  @Test("Pasted text drops controls and line breaks and is truncated at the limit")
  func pasting() {
    #expect(type([.paste("a\u{1B}[31m\r\nb\tc\u{202E}\r\n\n")]).text == "a[31m b    c")
    var field = TextField(limit: 3)
    #expect(field.handle(.paste("abcdef")) == .changed)
    #expect(field.text == "abc")
    #expect(field.handle(.character("x")) == .moved)
  }

  @Test("Text wider than the field scrolls to keep the cursor in view")
  func scrolling() {
    var field = TextField(text: "abc漢字")
    var screen = Screen(size: Size(width: 5, height: 1))
    field.resize(to: screen.size)
    field.draw(on: &screen, in: screen.bounds)
    #expect(screen.text() == "漢字")
    #expect(screen.cursor == Position(row: 0, column: 4))
    _ = field.handle(.home)
    field.draw(on: &screen, in: screen.bounds)
    #expect(screen.text() == "abc漢")
    #expect(screen.cursor == Position(row: 0, column: 0))
  }

  @Test("A field that becomes wider, or whose text becomes shorter, leaves no space unused")
  func unusedSpace() {
    var field = TextField(text: "abcdefgh")
    var narrow = Screen(size: Size(width: 4, height: 1))
    field.resize(to: narrow.size)
    _ = field.handle(.backspace)
    field.draw(on: &narrow, in: narrow.bounds)
    #expect(narrow.text() == "efg")
    #expect(narrow.cursor == Position(row: 0, column: 3))
    var wide = Screen(size: Size(width: 12, height: 1))
    field.resize(to: wide.size)
    field.draw(on: &wide, in: wide.bounds)
    #expect(wide.text() == "abcdefg")
    #expect(wide.cursor == Position(row: 0, column: 7))
  }

  @Test("An empty field shows its placeholder")
  func placeholder() {
    var screen = Screen(size: Size(width: 8, height: 1))
    TextField().draw(on: &screen, in: screen.bounds, placeholder: "Title", isFocused: false)
    #expect(screen.text() == "Title")
    #expect(screen.cursor == nil)
  }

  @Test("Random keys at any width keep the field valid", arguments: 0..<12 as Range<UInt64>)
  func random(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var field = TextField(limit: Int.random(in: -1...80, using: &generator))
    var wide = TextField(limit: field.limit)
    wide.resize(to: Size(width: 1_000, height: 1))
    for _ in 0..<200 {
      let size = Size(
        width: Int.random(in: 0...12, using: &generator),
        height: Int.random(in: 0...2, using: &generator)
      )
      field.resize(to: size)
      let key = RandomKeys.next(using: &generator)
      _ = field.handle(key)
      _ = wide.handle(key)
      // Read as a whole, the text may have other characters: flags and joined emoji.
      if wide.text.count == wide.count, !wide.text.unicodeScalars.contains("🇩") {
        let before = wide.text.prefix(wide.cursor).reduce(0) { $0 + TextWidth.width(of: $1) }
        #expect(wide.cursorColumn == before)
      }
      var screen = Screen(size: size)
      field.draw(on: &screen, in: screen.bounds)
      #expect(field.cursorColumn >= 0 && field.cursorColumn < max(1, size.width))
      #expect(!field.text.contains("\n"))
      if let cursor = screen.cursor { #expect(screen.bounds.contains(cursor)) }
    }
  }
}
