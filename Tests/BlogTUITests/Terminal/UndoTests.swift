import TestSupport
import Testing

@testable import BlogTUI

@Suite("Undo and redo")
struct UndoTests {
  private func type(_ text: String, into area: inout TextArea) {
    for character in text { _ = area.handle(.character(character)) }
  }

  @Test("A word is undone and redone as one step, with the space before it")
  func words() {
    var area = TextArea()
    type("one two three", into: &area)
    _ = area.handle(.control("_"))
    #expect(area.text == "one two")
    _ = area.handle(.alt(.character("z")))
    #expect(area.text == "one")
    _ = area.handle(.alt(.character("Z")))
    #expect(area.text == "one two")
    _ = area.handle(.alt(.character("_")))
    #expect(area.text == "one two three")
    #expect(area.handle(.alt(.character("_"))) == .moved)
  }

  @Test("A deletion or paste is undone as one step")
  func wholes() {
    var area = TextArea(text: "first line")
    _ = area.handle(.paste("\npasted\ntext"))
    _ = area.handle(.control("u"))
    _ = area.handle(.control("_"))
    #expect(area.text == "first line\npasted\ntext")
    _ = area.handle(.control("_"))
    #expect(area.text == "first line")
    #expect(area.utf16Count == 10)
    #expect(area.handle(.control("_")) == .moved)
  }

  @Test("Moving the cursor ends a step, and a new step clears the redo history")
  func steps() {
    var field = TextField()
    for key: KeyEvent in [.character("a"), .left, .character("b")] { _ = field.handle(key) }
    #expect(field.text == "ba")
    _ = field.handle(.control("_"))
    #expect(field.text == "a")
    _ = field.handle(.character("c"))
    #expect(field.handle(.alt(.character("_"))) == .moved)
    #expect(field.text == "ca")
  }

  @Test(
    "Undoing everything restores the first text, and redoing everything the last",
    arguments: 0..<16 as Range<UInt64>
  )
  func thereAndBack(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var area = TextArea(text: "start\nof it")
    area.resize(to: Size(width: 8, height: 3))
    for _ in 0..<150 {
      let key = RandomKeys.next(using: &generator)
      if key == .control("_") || key == .alt(.character("Z")) { continue }
      _ = area.handle(key)
    }
    let end = area.text
    var steps = 0
    while area.handle(.control("_")) == .changed { steps += 1 }
    #expect(area.text == "start\nof it")
    #expect(area.utf16Count == 11)
    for _ in 0..<steps { _ = area.handle(.alt(.character("_"))) }
    #expect(area.text == end)
    #expect(area.utf16Count == end.utf16.count)
  }

  @Test("Alt-< and Alt-> go to the ends of the text")
  func ends() {
    var area = TextArea(text: "a\nb\nc")
    _ = area.handle(.alt(.character("<")))
    _ = area.handle(.character("X"))
    _ = area.handle(.alt(.character(">")))
    _ = area.handle(.character("Y"))
    #expect(area.text == "Xa\nb\ncY")
  }
}
