import Testing

@testable import BlogTUI

@Suite("Cursor placement by click")
struct CursorPlaceTests {
  @Test("A click places the cursor in a line, even if it is scrolled or has wide characters")
  func line() {
    var field = TextField(text: "漢字 and so on")
    field.resize(to: Size(width: 40, height: 1))
    for (column, cursor) in [(-3, 0), (0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (5, 3), (39, 12)] {
      field.moveCursor(toColumn: column)
      #expect(field.cursor == cursor, "column \(column)")
    }
    field.resize(to: Size(width: 6, height: 1))
    _ = field.handle(.end)
    // Five characters and the cursor are in view.
    field.moveCursor(toColumn: 0)
    #expect(field.cursor == 7)
    #expect(field.cursorColumn == 0)
  }

  @Test("A click places the cursor in wrapped text, beside a line and below the last one")
  func area() {
    var area = TextArea(text: "one two three\n\nfour")
    area.resize(to: Size(width: 8, height: 10))
    func typed(_ row: Int, _ column: Int) -> String {
      var copy = area
      copy.moveCursor(to: Position(row: row, column: column))
      _ = copy.handle(.character("|"))
      return copy.text
    }
    #expect(typed(0, 4) == "one |two three\n\nfour")
    #expect(typed(1, 2) == "one two th|ree\n\nfour")
    #expect(typed(1, 7) == "one two three|\n\nfour")
    #expect(typed(2, 5) == "one two three\n|\nfour")
    #expect(typed(3, 0) == "one two three\n\n|four")
    #expect(typed(9, 2) == "one two three\n\nfo|ur")
    #expect(typed(-1, -1) == "|one two three\n\nfour")
  }
}
