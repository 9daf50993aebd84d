/// The state of a single-line editor: its text, the cursor, and how far it is scrolled.
///
/// The cursor moves by whole characters, as the user sees them. Newlines in pasted text become
/// blanks, except at its end, where a text that was copied as a line has one.
package struct TextField: Hashable, Sendable {
  /// The largest number of characters that the field accepts.
  package let limit: Int
  /// The number of characters before the cursor.
  package private(set) var cursor: Int

  private var characters: [Character]
  private var history = UndoHistory<Snapshot>()
  private var killed: [Character] = []
  private var width = 1
  private var scroll = 0

  /// What an editing step can change.
  private struct Snapshot: Hashable, Sendable {
    let characters: [Character]
    let cursor: Int
  }

  /// Makes a field with the cursor at the end of its text.
  package init(text: String = "", limit: Int = SafeText.lineLimit) {
    self.limit = max(0, limit)
    characters = Array(Self.line(of: text).prefix(self.limit))
    cursor = characters.count
  }

  package var text: String { String(characters) }
  var count: Int { characters.count }
  package var isEmpty: Bool { characters.isEmpty }

  /// Replaces the text and puts the cursor at its end.
  package mutating func setText(_ text: String) {
    history = UndoHistory()
    characters = Array(Self.line(of: text).prefix(limit))
    cursor = characters.count
    scroll = 0
    reveal()
  }

  /// Replaces the text by one from elsewhere, as a step that can be undone.
  mutating func replaceText(with text: String) {
    let before = Snapshot(characters: characters, cursor: cursor)
    var steps = history
    setText(text)
    if characters != before.characters { steps.record(before, as: .whole) }
    history = steps
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
    let before = Snapshot(characters: characters, cursor: cursor)
    let outcome = perform(command, from: before)
    if outcome == .changed, let step = command.step {
      history.record(before, as: step)
    } else if outcome == .moved {
      history.interrupt()
    }
    reveal()
    return outcome
  }

  /// Puts the cursor before the character that is drawn in a column of the field, or at the end.
  ///
  /// - Complexity: O(n) in the number of characters
  package mutating func moveCursor(toColumn column: Int) {
    var end = -scroll
    let index = characters.firstIndex { character in
      end += TextWidth.width(of: character)
      return end > column
    }
    history.interrupt()
    _ = move(to: index ?? characters.count)
    reveal()
  }

  private mutating func perform(_ command: EditCommand, from now: Snapshot) -> EditOutcome {
    switch command {
    case .newline:
      return .submitted
    case .insert(let text):
      let reversed = text.reversed().drop(while: \.isNewline)
      return insert(Self.line(of: String(reversed.reversed())))
    case .yank:
      return insert(killed)
    case .up, .down, .pageUp, .pageDown:
      return .ignored
    case .left:
      return move(to: cursor - 1)
    case .right:
      return move(to: cursor + 1)
    case .wordLeft:
      return move(to: EditorText.wordStart(before: cursor, in: characters))
    case .wordRight:
      return move(to: EditorText.wordEnd(after: cursor, in: characters))
    case .lineStart, .textStart:
      return move(to: 0)
    case .lineEnd, .textEnd:
      return move(to: characters.count)
    case .undo:
      return restore(history.undo(from: now))
    case .redo:
      return restore(history.redo(from: now))
    case .deleteBefore:
      return remove(from: cursor - 1, to: cursor, keeps: false)
    case .deleteAfter:
      return remove(from: cursor, to: cursor + 1, keeps: false)
    case .killToLineStart:
      return remove(from: 0, to: cursor, keeps: true)
    case .killToLineEnd:
      return remove(from: cursor, to: characters.count, keeps: true)
    case .killWordBefore:
      let start = EditorText.wordStart(before: cursor, in: characters)
      return remove(from: start, to: cursor, keeps: true)
    case .killBlankSeparatedBefore:
      let start = EditorText.blankSeparatedStart(before: cursor, in: characters)
      return remove(from: start, to: cursor, keeps: true)
    case .killWordAfter:
      let end = EditorText.wordEnd(after: cursor, in: characters)
      return remove(from: cursor, to: end, keeps: true)
    }
  }

  /// The column of the cursor in cells, counted from the left edge of the field.
  package var cursorColumn: Int {
    characters[..<cursor].reduce(0) { $0 + TextWidth.width(of: $1) } - scroll
  }

  /// Draws the text into the first row of the rectangle.
  ///
  /// - Parameters:
  ///   - screen: The screen.
  ///   - rect: A rectangle with the size given to ``resize(to:)``.
  ///   - style: The style of the text and of the rest of the row.
  ///   - placeholder: What is shown while the text is empty.
  ///   - isFocused: Whether the screen's cursor is placed at the field's cursor.
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
    if characters.isEmpty {
      screen.put(placeholder, in: line, style: style.with(.dim))
    } else {
      let shown = EditorText.shown(characters)
      let start = Position(row: line.row, column: line.column - scroll)
      screen.put(shown, at: start, style: style, clip: line)
    }
    guard isFocused else { return }
    let column = min(max(0, cursorColumn), line.width - 1)
    screen.cursor = Position(row: line.row, column: line.column + column)
  }

  private static func line(of text: String) -> [Character] {
    EditorText.characters(of: text).map { $0 == "\n" ? " " : $0 }
  }

  private mutating func move(to index: Int) -> EditOutcome {
    cursor = min(max(0, index), characters.count)
    return .moved
  }

  private mutating func restore(_ snapshot: Snapshot?) -> EditOutcome {
    guard let snapshot else { return .moved }
    characters = snapshot.characters
    cursor = snapshot.cursor
    return .changed
  }

  private mutating func insert(_ new: [Character]) -> EditOutcome {
    let accepted = new.prefix(max(0, limit - characters.count))
    guard !accepted.isEmpty else { return .moved }
    cursor = EditorText.replace(cursor..<cursor, of: &characters, with: accepted)
    return .changed
  }

  private mutating func remove(from start: Int, to end: Int, keeps: Bool) -> EditOutcome {
    let start = max(0, start)
    let end = min(end, characters.count)
    guard start < end else { return .moved }
    if keeps { killed = Array(characters[start..<end]) }
    cursor = EditorText.replace(start..<end, of: &characters, with: [])
    return .changed
  }

  private mutating func reveal() {
    let column = cursorColumn
    if column < 0 {
      scroll += column
    } else if column >= width {
      scroll += column - width + 1
    }
  }
}
