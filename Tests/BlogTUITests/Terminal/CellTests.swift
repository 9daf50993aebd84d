import Testing

@testable import BlogTUI

@Suite("Cell")
struct CellTests {
  private func cells(_ text: SafeText) -> [Cell] {
    var screen = Screen(size: Size(width: text.width, height: 1))
    screen.put(text, at: Position(row: 0, column: 0))
    return Array(screen.row(0))
  }

  @Test("On ASCII terminals a cell shows as many characters as it covers cells")
  func ascii() {
    #expect(cells("a漢é★").map(\.asciiText) == ["a", "??", "", "?", "*"])
  }

  @Test("Cells whose width is in dispute are those with marks, pictures and complex scripts")
  func disputed() {
    #expect(cells("a漢é★─").allSatisfy { !$0.mayBeMisplaced })
    for text in ["e\u{301}", "👍", "न", "ש"] as [SafeText] {
      #expect(cells(text).first?.mayBeMisplaced == true)
    }
  }
}
