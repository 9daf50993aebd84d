import TestSupport
import Testing

@testable import BlogTUI

@Suite("TextArea")
struct TextAreaTests {
  private func makeArea(_ text: String, width: Int = 20, height: Int = 5) -> TextArea {
    var area = TextArea(text: text)
    area.resize(to: Size(width: width, height: height))
    return area
  }

  private func draw(_ area: TextArea, width: Int = 20, height: Int = 5) -> Screen {
    var screen = Screen(size: Size(width: width, height: height))
    area.draw(on: &screen, in: screen.bounds)
    return screen
  }

  @Test("Enter splits a line, and Backspace and Delete join lines")
  func lines() {
    var area = makeArea("ab")
    _ = area.handle(.left)
    #expect(area.handle(.enter) == .changed)
    #expect(area.text == "a\nb")
    #expect(area.handle(.backspace) == .changed)
    #expect(area.text == "ab")
    _ = area.handle(.enter)
    _ = area.handle(.up)
    _ = area.handle(.end)
    #expect(area.handle(.delete) == .changed)
    #expect(area.text == "ab")
    #expect(area.count == 2)
  }

  @Test("Text wraps between words, and the cursor marks the insertion point")
  func wrapping() {
    let area = makeArea("the quick brown", width: 10)
    let screen = draw(area, width: 10)
    #expect(screen.text() == "the quick\nbrown\n\n\n")
    #expect(screen.cursor == Position(row: 1, column: 5))
  }

  @Test("Up and Down move by screen rows and remember the column")
  func vertically() {
    var area = makeArea("abcdef\nx\nabcdef")
    _ = area.handle(.up)
    #expect(draw(area).cursor == Position(row: 1, column: 1))
    _ = area.handle(.up)
    #expect(draw(area).cursor == Position(row: 0, column: 6))
    _ = area.handle(.down)
    _ = area.handle(.down)
    #expect(draw(area).cursor == Position(row: 2, column: 6))
    var wrapped = makeArea("abcd efgh", width: 5)
    _ = wrapped.handle(.up)
    #expect(draw(wrapped, width: 5).cursor == Position(row: 0, column: 4))
  }

  @Test("The view follows the cursor")
  func scrolling() {
    var area = makeArea("1\n2\n3\n4", height: 2)
    #expect(draw(area, height: 2).text() == "3\n4")
    _ = area.handle(.pageUp)
    #expect(draw(area, height: 2).text() == "2\n3")
    for _ in 0..<5 { _ = area.handle(.up) }
    #expect(draw(area, height: 2).text() == "1\n2")
  }

  @Test("Yank inserts deleted text at the cursor")
  func yanking() {
    var area = makeArea("one\ntwo")
    _ = area.handle(.control("u"))
    _ = area.handle(.up)
    _ = area.handle(.control("y"))
    #expect(area.text == "twoone\n")
    var joined = makeArea("a\nb")
    _ = joined.handle(.up)
    _ = joined.handle(.end)
    _ = joined.handle(.control("k"))
    #expect(joined.text == "ab")
    _ = joined.handle(.control("y"))
    #expect(joined.text == "a\nb")
  }

  @Test("A paste keeps its lines, drops controls and is truncated at the limit")
  func pasting() {
    var area = makeArea("<>")
    _ = area.handle(.left)
    _ = area.handle(.paste("a\r\nb\u{1B}\rc"))
    #expect(area.text == "<a\nb\nc>")
    var limited = TextArea(limit: 4)
    _ = limited.handle(.paste("ab\ncdef"))
    #expect(limited.text == "ab\nc")
    #expect(limited.count == 4)
    #expect(limited.handle(.enter) == .moved)
  }

  @Test("A paste of 100,000 characters is kept whole", .timeLimit(.minutes(1)))
  func longPaste() {
    var area = TextArea(limit: .max)
    area.resize(to: Size(width: 80, height: 24))
    let line = String(repeating: "word ", count: 20_000)
    _ = area.handle(.paste(line))
    #expect(area.count == 100_000)
    _ = area.handle(.paste(String(repeating: "line\n", count: 20_000)))
    #expect(area.count == 200_000)
    #expect(area.text == line + String(repeating: "line\n", count: 20_000))
  }

  /// An oracle for editing: the same commands on a string and an offset, without wrapping.
  private struct Oracle {
    var characters: [Character] = []
    var cursor = 0

    var lineStart: Int { (characters[..<cursor].lastIndex(of: "\n") ?? -1) + 1 }
    var lineEnd: Int { characters[cursor...].firstIndex(of: "\n") ?? characters.count }

    mutating func handle(_ key: KeyEvent) {
      switch key {
      case .character(let character):
        characters.insert(character, at: cursor)
        cursor += 1
      case .enter:
        characters.insert("\n", at: cursor)
        cursor += 1
      case .left: cursor = max(0, cursor - 1)
      case .right: cursor = min(characters.count, cursor + 1)
      case .home: cursor = lineStart
      case .end: cursor = lineEnd
      case .backspace:
        guard cursor > 0 else { return }
        cursor -= 1
        characters.remove(at: cursor)
      case .delete:
        if cursor < characters.count { characters.remove(at: cursor) }
      case .control("u"):
        let start = lineStart
        characters.removeSubrange(start..<cursor)
        cursor = start
      case .control("k"):
        let end = lineEnd
        let next = min(characters.count, cursor + 1)
        characters.removeSubrange(cursor..<(end == cursor ? next : end))
      default:
        break
      }
    }
  }

  @Test("Editing matches a plain string under random keys", arguments: 0..<20 as Range<UInt64>)
  func model(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let keys: [KeyEvent] = [
      .character("a"), .character("漢"), .character(" "), .character("b"), .enter, .left, .right,
      .home, .end, .backspace, .delete, .control("u"), .control("k"), .left, .character("é"),
    ]
    var area = TextArea()
    var oracle = Oracle()
    for _ in 0..<400 {
      let key = keys.randomElement(using: &generator) ?? .left
      let width = Int.random(in: 1...9, using: &generator)
      area.resize(to: Size(width: width, height: Int.random(in: 1...4, using: &generator)))
      _ = area.handle(key)
      oracle.handle(key)
      #expect(area.text == String(oracle.characters))
      #expect(area.count == oracle.characters.count)
      let before = area.lines[..<area.cursor.line].reduce(0) { $0 + $1.count + 1 }
      #expect(before + area.cursor.column == oracle.cursor)
    }
  }

  @Test("A key costs no more at the end of a long line", .timeLimit(.minutes(1)))
  func longLine() {
    var area = makeArea("", width: 70)
    var field = TextField(limit: 100_000)
    for _ in 0..<50_000 {
      _ = area.handle(.character("w"))
      _ = field.handle(.character("w"))
    }
    #expect(area.count == 50_000)
    #expect(field.count == 50_000)
  }

  @Test("Random keys at any size keep the editor valid and the cursor in view", arguments: 0..<16)
  func random(seed: Int) {
    var generator = SplitMix64(seed: UInt64(seed))
    var area = TextArea(limit: Int.random(in: -1...300, using: &generator))
    var size = Size(width: 5, height: 3)
    for step in 0..<200 {
      if step.isMultiple(of: 5) {
        size = Size(
          width: Int.random(in: 0...12, using: &generator),
          height: Int.random(in: 0...5, using: &generator)
        )
        area.resize(to: size)
      }
      _ = area.handle(RandomKeys.next(using: &generator))
      #expect(area.count == area.lines.reduce(area.lines.count - 1) { $0 + $1.count })
      #expect(area.count <= max(0, area.limit))
      #expect(area.utf16Count == area.text.utf16.count)
      let line = area.lines[area.cursor.line]
      let starts = LineBreaker.lineStarts(in: 0..<line.count, width: area.size.width) { index in
        (TextWidth.width(of: line[index]), line[index] == " ")
      }
      #expect(area.rowStarts(of: area.cursor.line) == starts)
      var screen = Screen(size: size)
      area.draw(on: &screen, in: screen.bounds)
      if !screen.bounds.isEmpty {
        #expect(screen.cursor.map(screen.bounds.contains) == true)
      }
    }
  }
}
