import Testing

@testable import BlogTUI

@Suite("Cell")
struct CellTests {
  private func cells(_ text: SafeText) -> [Cell] {
    var screen = Screen(size: Size(width: text.width, height: 1))
    screen.put(text, at: Position(row: 0, column: 0))
    return Array(screen.row(0))
  }

  @Test("The ASCII form of a cell is as wide as the cell")
  func ascii() {
    #expect(cells("a漢é★").map(\.asciiText) == ["a", "??", "", "?", "*"])
  }

  @Test("Combining marks, emoji and complex scripts have disputed widths")
  func disputed() {
    #expect(cells("a漢é★─").allSatisfy { !$0.mayBeMisplaced })
    for text in ["e\u{301}", "👍", "न", "ש"] as [SafeText] {
      #expect(cells(text).first?.mayBeMisplaced == true)
    }
  }
}
