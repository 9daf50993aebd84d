/// The state of a single-line editor: its text, the cursor, and how far it is scrolled.
///
/// The cursor moves by whole characters, as the user sees them. Newlines in pasted text become
/// blanks, except at its end, where a text that was copied as a line has one.
package struct TextField: Hashable, Sendable {
  /// The text as the only line of an editor that never wraps it.
  private var area: TextArea
  private var width = 1
  private var scroll = 0
  /// The size of what keys leave alone: the characters before the last one before the cursor.
  private var measured = Measured()

  private struct Measured: Hashable, Sendable {
    var count = 0
    var cells = 0
  }

  /// Makes a field with the cursor at the end of its text.
  package init(text: String = "", limit: Int = SafeText.lineLimit) {
    area = TextArea(limit: limit)
    area.resize(to: Size(width: .max, height: 1))
    area.setText(Self.line(of: text))
  }

  /// The largest number of characters that the field accepts.
  package var limit: Int { area.limit }
  /// The number of characters before the cursor.
  package var cursor: Int { area.cursor.column }
  package var text: String { area.text }
  var count: Int { area.count }
  package var isEmpty: Bool { area.isEmpty }

  /// Replaces the text and puts the cursor at its end.
  package mutating func setText(_ text: String) {
    area.setText(Self.line(of: text))
    (scroll, measured) = (0, Measured())
    reveal()
  }

  /// Replaces the text by one from elsewhere, as a step that can be undone.
  mutating func replaceText(with text: String) {
    area.replaceText(with: Self.line(of: text))
    (scroll, measured) = (0, Measured())
    reveal()
  }

  /// Sets the number of cells of the field; the cursor stays in view.
  package mutating func resize(to size: Size) {
    width = max(1, size.width)
    reveal()
  }

  /// Edits with the usual keys, including those of readline; Enter submits.
  ///
  /// Pasted text is cut off at the limit.
  package mutating func handle(_ key: KeyEvent) -> EditOutcome {
    guard let command = EditCommand(key) else { return .ignored }
    defer { reveal() }
    switch command {
    case .newline: return .submitted
    case .up, .down, .pageUp, .pageDown: return .ignored
    case .insert(let text):
      let reversed = text.reversed().drop(while: \.isNewline)
      return area.handle(command, with: Self.line(of: String(reversed.reversed())))
    case .left, .right, .wordLeft, .wordRight, .lineStart, .lineEnd, .textStart, .textEnd,
      .deleteBefore, .deleteAfter, .killToLineStart, .killToLineEnd, .killWordBefore,
      .killBlankSeparatedBefore, .killWordAfter, .yank:
      return area.handle(command)
    case .undo, .redo:
      measured = Measured()
      return area.handle(command)
    }
  }

  /// Puts the cursor before the character that is drawn in a column of the field, or at the end.
  ///
  /// - Complexity: O(n) in the number of characters
  package mutating func moveCursor(toColumn column: Int) {
    area.moveCursor(to: Position(row: 0, column: column + scroll))
    reveal()
  }

  /// The column of the cursor in cells, counted from the left edge of the field.
  package var cursorColumn: Int { column - scroll }

  /// The number of cells before the cursor.
  private var column: Int {
    measured.cells + area.cells(of: 0, from: measured.count, to: cursor)
  }

  /// Draws the text into the first row of a rectangle of the size given to ``resize(to:)``.
  ///
  /// The style is that of the whole row. The placeholder is shown while the text is empty, and the
  /// screen's cursor is placed at the field's if that is focused.
  package func draw(
    on screen: inout Screen,
    in rect: Rect,
    style: Style = .plain,
    placeholder: SafeText = .empty,
    isFocused: Bool = true
  ) {
    let line = rect.line(0)
    screen.fill(line, style: style)
    guard !line.isEmpty else { return }
    if isEmpty {
      screen.put(placeholder, in: line, style: style.with(.dim))
    } else {
      // Making text of all characters would cost much more than finding those in view.
      var start = line.column - scroll
      let rest = area.lines[0].drop { character in
        let width = TextWidth.width(of: character)
        guard start + width <= line.column else { return false }
        start += width
        return true
      }
      var end = start
      let inView = rest.prefix { character in
        guard end < line.endColumn else { return false }
        end += TextWidth.width(of: character)
        return true
      }
      let position = Position(row: line.row, column: start)
      screen.put(EditorText.shown(inView), at: position, style: style, clip: line)
    }
    guard isFocused else { return }
    let column = min(max(0, cursorColumn), line.width - 1)
    screen.cursor = Position(row: line.row, column: line.column + column)
  }

  private static func line(of text: String) -> [Character] {
    EditorText.characters(of: text).map { $0 == "\n" ? " " : $0 }
  }

  /// Scrolls as little as keeps the cursor in view and no space unused behind the text.
  private mutating func reveal() {
    if measured.count > max(0, cursor - 1) { measured = Measured() }
    measured.cells += area.cells(of: 0, from: measured.count, to: max(0, cursor - 1))
    measured.count = max(0, cursor - 1)
    scroll = max(column - width + 1, min(scroll, column))
    // The last cell is that of a cursor behind the text; of a long rest, it does not matter.
    var end = column + 1
    for character in area.lines[0][cursor...] {
      guard end - width < scroll else { break }
      end += TextWidth.width(of: character)
    }
    scroll = max(0, min(scroll, end - width))
  }
}
