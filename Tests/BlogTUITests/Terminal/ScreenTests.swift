import TestSupport
import Testing

@testable import BlogTUI

@Suite("Screen")
struct ScreenTests {
  private func screen(_ width: Int, _ height: Int) -> Screen {
    Screen(size: Size(width: width, height: height))
  }

  @Test("Text is drawn at its position, and the number of cells is returned")
  func put() {
    var screen = screen(8, 2)
    #expect(screen.put("a漢b", at: Position(row: 1, column: 2)) == 4)
    #expect(screen.text() == "\n  a漢b")
    #expect(screen.text(trimsTrailingBlanks: false) == "        \n  a漢b  ")
  }

  @Test("Text is clipped at both edges of the clip rectangle")
  func clipping() {
    var screen = screen(8, 1)
    let clip = Rect(row: 0, column: 2, width: 3, height: 1)
    #expect(screen.put("abcdefgh", at: Position(row: 0, column: 0), clip: clip) == 5)
    #expect(screen.text() == "  cde")
    #expect(screen.put("x", at: Position(row: 3, column: 0)) == 0)
    #expect(screen.put("x", at: Position(row: -1, column: 0)) == 0)
  }

  @Test("A wide cluster never straddles an edge")
  func straddling() {
    var right = screen(3, 1)
    #expect(right.put("漢字", at: Position(row: 0, column: 0)) == 3)
    #expect(right.text(trimsTrailingBlanks: false) == "漢 ")
    var left = screen(3, 1)
    left.put("漢字", at: Position(row: 0, column: -1))
    #expect(left.text(trimsTrailingBlanks: false) == " 字")
  }

  @Test("Overwriting one half of a wide cluster blanks the other half")
  func halves() {
    var screen = screen(4, 1)
    screen.put("漢字", at: Position(row: 0, column: 0))
    screen.put("x", at: Position(row: 0, column: 1))
    #expect(screen.text(trimsTrailingBlanks: false) == " x字")
    screen.put("漢", at: Position(row: 0, column: 1))
    #expect(screen.text(trimsTrailingBlanks: false) == " 漢 ")
    screen.put("y", at: Position(row: 0, column: 1))
    #expect(screen.text(trimsTrailingBlanks: false) == " y  ")
  }

  @Test("Text in a rectangle is truncated with an ellipsis and aligned")
  func inRect() {
    var screen = screen(6, 3)
    screen.put("abcdefgh", in: Rect(row: 0, column: 0, width: 6, height: 1))
    screen.put("ab", in: Rect(row: 1, column: 0, width: 6, height: 1), aligned: .trailing)
    screen.put("x", in: Rect(row: 2, column: 0, width: 0, height: 1))
    #expect(screen.text() == "abcde…\n    ab\n")
  }

  @Test("A box has corners, a title and an inner rectangle", arguments: [GlyphSet.unicode, .ascii])
  func box(glyphs: GlyphSet) {
    var screen = screen(9, 3)
    let inside = screen.box(in: screen.bounds, glyphs: glyphs, title: "Hi")
    #expect(inside == Rect(row: 1, column: 1, width: 7, height: 1))
    let expected =
      glyphs == .unicode
      ? "┌─ Hi ──┐\n│       │\n└───────┘" : "+- Hi --+\n|       |\n+-------+"
    #expect(screen.text() == expected)
  }

  @Test("Filling and restyling change styles and keep wide clusters whole")
  func styles() {
    var screen = screen(4, 1)
    screen.put("漢a", at: Position(row: 0, column: 0))
    screen.restyle(screen.bounds) { $0.with(.bold) }
    #expect(screen.text() == "漢a")
    #expect(screen[Position(row: 0, column: 2)]?.style.attributes == .bold)
    screen.fill(Rect(row: 0, column: 1, width: 1, height: 1), style: Style(foreground: .red))
    #expect(screen.text() == "  a")
    #expect(screen[Position(row: 0, column: 1)]?.style.foreground == .red)
    #expect(screen[Position(row: 1, column: 1)] == nil)
  }

  @Test("An unchanged screen has no differences")
  func sameScreen() {
    var screen = screen(10, 3)
    screen.put("abc", at: Position(row: 1, column: 1))
    #expect(screen.diff(from: screen).isEmpty)
  }

  @Test("A difference is a run of cells that begins and ends with whole clusters")
  func runs() {
    let old = screen(10, 2)
    var new = old
    new.put("ab", at: Position(row: 0, column: 1))
    new.put("漢", at: Position(row: 0, column: 6))
    let changes = new.diff(from: old)
    #expect(changes.map(\.column) == [1, 6])
    #expect(changes.map(\.cells.count) == [2, 2])
  }

  @Test("A screen of another size is redrawn completely")
  func otherSize() {
    #expect(screen(3, 2).diff(from: screen(2, 2)).map(\.cells.count) == [3, 3])
    #expect(screen(0, 2).diff(from: screen(2, 2)).isEmpty)
  }

  @Test("Applying the differences to the old screen gives the new one", arguments: 0..<40)
  func differencesAreComplete(seed: Int) {
    var generator = SplitMix64(seed: UInt64(seed))
    let size = Size(
      width: Int.random(in: 0...12, using: &generator),
      height: Int.random(in: 0...4, using: &generator)
    )
    var old = Screen(size: size)
    scribble(&old, using: &generator)
    var new = old
    scribble(&new, using: &generator)
    var cells = (0..<size.height).map { Array(old.row($0)) }
    for change in new.diff(from: old) {
      #expect(change.cells.first?.isContinuation == false)
      let range = change.column..<(change.column + change.cells.count)
      cells[change.row].replaceSubrange(range, with: change.cells)
    }
    #expect(cells == (0..<size.height).map { Array(new.row($0)) })
    for row in 0..<size.height { checkWhole(Array(new.row(row))) }
  }

  private func scribble(_ screen: inout Screen, using generator: inout SplitMix64) {
    for _ in 0..<12 {
      let rect = Rect(
        row: Int.random(in: -2...5, using: &generator),
        column: Int.random(in: -3...13, using: &generator),
        width: Int.random(in: -1...9, using: &generator),
        height: Int.random(in: -1...4, using: &generator)
      )
      let style = Style(
        attributes: Style.Attributes(rawValue: UInt8.random(in: 0...15, using: &generator))
      )
      let input = HostileText.corpus.randomElement(using: &generator) ?? ""
      let text = SafeText(untrusted: input, mode: .multiLine)
      switch Int.random(in: 0...5, using: &generator) {
      case 0: screen.fill(rect, style: style)
      case 1: screen.box(in: rect, glyphs: .unicode, title: text, style: style)
      case 2: screen.put(text, in: rect, style: style, aligned: .center)
      case 3: screen.put(lines: text.wrapped(width: rect.width), in: rect, style: style)
      case 4: screen.put(text, at: rect.origin, style: style, clip: rect)
      default: screen.put(text, at: rect.origin, style: style)
      }
    }
  }

  private func checkWhole(_ row: [Cell]) {
    for (index, cell) in row.enumerated() {
      if cell.width == 2 { #expect(index + 1 < row.count && row[index + 1].isContinuation) }
      if cell.isContinuation { #expect(index > 0 && row[index - 1].width == 2) }
    }
    #expect(row.reduce(0) { $0 + $1.width } == row.count)
  }
}
