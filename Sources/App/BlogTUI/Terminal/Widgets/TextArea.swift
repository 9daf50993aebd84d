/// The state of a multi-line editor with soft wrapping: its text, the cursor and the view.
///
/// Lines are kept apart, so a key costs no more than the line it happens in, and a paste costs no
/// more than its own length. The view is kept as a line and a row of that line.
package struct TextArea: Hashable, Sendable {
  /// A place between characters: before the character of that number in the line.
  struct Place: Hashable, Comparable, Sendable {
    var line: Int
    var column: Int

    static func < (left: Place, right: Place) -> Bool {
      (left.line, left.column) < (right.line, right.column)
    }
  }

  /// The number of characters that the editor takes at most, newlines included.
  package let limit: Int
  /// The number of characters typed so far, newlines included.
  package private(set) var count = 0
  /// The length of the text in UTF-16 code units, newlines included.
  package private(set) var utf16Count = 0

  var lines: [[Character]] = [[]]
  var cursor = Place(line: 0, column: 0)
  var size = Size(width: 1, height: 1)
  var topLine = 0
  var topRow = 0
  private var killed = ""
  private var goalColumn: Int?
  private var history = UndoHistory<Snapshot>()

  /// What a step of editing changes; lines that it leaves alone are shared.
  private struct Snapshot: Hashable, Sendable {
    let lines: [[Character]]
    let cursor: Place
    let count: Int
    let utf16Count: Int
  }

  /// Makes an editor with the cursor at the end of its text.
  package init(text: String = "", limit: Int = SafeText.bodyLimit) {
    self.limit = max(0, limit)
    setText(text)
  }

  /// What the user has typed so far.
  package var text: String { lines.map { String($0) }.joined(separator: "\n") }
  /// Whether nothing was typed.
  package var isEmpty: Bool { count == 0 }

  /// Replaces the text and puts the cursor at its end.
  package mutating func setText(_ text: String) {
    lines = [[]]
    count = 0
    utf16Count = 0
    cursor = Place(line: 0, column: 0)
    topLine = 0
    topRow = 0
    goalColumn = nil
    history = UndoHistory()
    _ = insert(text)
    reveal()
  }

  /// Tells the editor how much room it has; the cursor stays in view.
  package mutating func resize(to size: Size) {
    let new = Size(width: max(1, size.width), height: max(1, size.height))
    guard new != self.size else { return }
    if new.width != self.size.width { topRow = 0 }
    self.size = new
    reveal()
  }

  /// Edits by the usual keys, those of readline included; Enter begins a new line.
  ///
  /// Pasted text is cut where the limit is reached.
  package mutating func handle(_ key: KeyEvent) -> EditOutcome {
    guard let command = EditCommand(key) else { return .ignored }
    let before = Snapshot(lines: lines, cursor: cursor, count: count, utf16Count: utf16Count)
    let outcome = perform(command, before)
    if outcome == .changed, let step = command.step {
      history.record(before, step)
    } else if outcome == .moved {
      history.interrupt()
    }
    reveal()
    return outcome
  }

  /// Puts the cursor before the character that is drawn in a cell, or as near as the text goes.
  ///
  /// - Parameter position: The cell, counted from the top left of the room for the text.
  package mutating func moveCursor(to position: Position) {
    history.interrupt()
    goalColumn = nil
    var line = topLine
    var row = topRow + max(0, position.row)
    var starts = rowStarts(of: line)
    while row >= starts.count, line + 1 < lines.count {
      row -= starts.count
      line += 1
      starts = rowStarts(of: line)
    }
    row = min(row, starts.count - 1)
    let column = column(of: line, row: row, starts: starts, cells: max(0, position.column))
    cursor = Place(line: line, column: column)
    reveal()
  }

  private mutating func perform(_ command: EditCommand, _ now: Snapshot) -> EditOutcome {
    let goal = goalColumn
    goalColumn = nil
    switch command {
    case .up:
      return moveVertically(by: -1, goal: goal)
    case .down:
      return moveVertically(by: 1, goal: goal)
    case .pageUp:
      return moveVertically(by: -size.height, goal: goal)
    case .pageDown:
      return moveVertically(by: size.height, goal: goal)
    case .insert(let text):
      return insert(text)
    case .newline:
      return insert("\n")
    case .yank:
      return insert(killed)
    case .undo:
      return restore(history.undo(from: now))
    case .redo:
      return restore(history.redo(from: now))
    case .left, .right, .wordLeft, .wordRight, .lineStart, .lineEnd, .textStart, .textEnd:
      cursor = destination(of: command)
      return .moved
    case .deleteBefore, .deleteAfter:
      return remove(to: destination(of: command), keeps: false)
    case .killToLineStart, .killToLineEnd, .killWordBefore, .killBlankSeparatedBefore,
      .killWordAfter:
      return remove(to: destination(of: command), keeps: true)
    }
  }

  private func destination(of command: EditCommand) -> Place {
    let line = lines[cursor.line]
    let column = cursor.column
    switch command {
    case .left, .deleteBefore:
      return column > 0 ? place(column - 1) : endOfPreviousLine
    case .right, .deleteAfter:
      return column < line.count ? place(column + 1) : startOfNextLine
    case .wordLeft, .killWordBefore:
      return column > 0
        ? place(EditorText.wordStart(before: column, in: line)) : endOfPreviousLine
    case .killBlankSeparatedBefore:
      return column > 0
        ? place(EditorText.blankSeparatedStart(before: column, in: line)) : endOfPreviousLine
    case .wordRight, .killWordAfter:
      return column < line.count
        ? place(EditorText.wordEnd(after: column, in: line)) : startOfNextLine
    case .killToLineEnd:
      return column < line.count ? place(line.count) : startOfNextLine
    case .lineStart, .killToLineStart:
      return place(0)
    case .lineEnd:
      return place(line.count)
    case .textStart:
      return Place(line: 0, column: 0)
    case .textEnd:
      return Place(line: lines.count - 1, column: lines[lines.count - 1].count)
    case .insert, .newline, .up, .down, .pageUp, .pageDown, .yank, .undo, .redo:
      return cursor
    }
  }

  private static func units(of line: [Character]) -> Int {
    line.reduce(0) { $0 + $1.utf16.count }
  }

  private mutating func restore(_ snapshot: Snapshot?) -> EditOutcome {
    guard let snapshot else { return .moved }
    lines = snapshot.lines
    cursor = snapshot.cursor
    count = snapshot.count
    utf16Count = snapshot.utf16Count
    return .changed
  }

  private func place(_ column: Int) -> Place { Place(line: cursor.line, column: column) }

  private var endOfPreviousLine: Place {
    guard cursor.line > 0 else { return cursor }
    return Place(line: cursor.line - 1, column: lines[cursor.line - 1].count)
  }

  private var startOfNextLine: Place {
    guard cursor.line + 1 < lines.count else { return cursor }
    return Place(line: cursor.line + 1, column: 0)
  }

  private mutating func insert(_ text: String) -> EditOutcome {
    let accepted = EditorText.characters(of: text).prefix(max(0, limit - count))
    guard !accepted.isEmpty else { return .moved }
    let pieces = accepted.split(separator: "\n", omittingEmptySubsequences: false)
    let old = lines[cursor.line].count
    var units = -Self.units(of: lines[cursor.line])
    var added = 0
    if pieces.count > 1, let first = pieces.first, let last = pieces.last {
      var begun = Array(lines[cursor.line][..<cursor.column])
      _ = EditorText.replace(begun.count..<begun.count, of: &begun, with: first)
      var ended = Array(lines[cursor.line][cursor.column...])
      let column = EditorText.replace(0..<0, of: &ended, with: last)
      let new = [begun] + pieces.dropFirst().dropLast().map { Array($0) } + [ended]
      added = new.reduce(new.count - 1) { $0 + $1.count } - old
      units += new.reduce(new.count - 1) { $0 + Self.units(of: $1) }
      lines.replaceSubrange(cursor.line...cursor.line, with: new)
      cursor = Place(line: cursor.line + new.count - 1, column: column)
    } else {
      let range = cursor.column..<cursor.column
      cursor.column = EditorText.replace(range, of: &lines[cursor.line], with: accepted)
      added = lines[cursor.line].count - old
      units += Self.units(of: lines[cursor.line])
    }
    count += added
    utf16Count += units
    return .changed
  }

  private mutating func remove(to place: Place, keeps: Bool) -> EditOutcome {
    let start = min(cursor, place)
    let end = max(cursor, place)
    guard start < end else { return .moved }
    let old = lines[start.line...end.line].reduce(end.line - start.line) { $0 + $1.count }
    let oldUnits = lines[start.line...end.line].reduce(end.line - start.line) {
      $0 + Self.units(of: $1)
    }
    var removed = ""
    var range = start.column..<lines[start.line].count
    var rest: [Character] = []
    if start.line == end.line {
      range = start.column..<end.column
      removed = String(lines[start.line][range])
    } else {
      // Only neighbouring lines are ever joined: no key removes more than one newline.
      removed = String(lines[start.line][range]) + "\n" + String(lines[end.line][..<end.column])
      rest = Array(lines[end.line][end.column...])
      lines.remove(at: end.line)
    }
    _ = EditorText.replace(range, of: &lines[start.line], with: rest)
    count -= old - lines[start.line].count
    utf16Count -= oldUnits - Self.units(of: lines[start.line])
    if keeps { killed = removed }
    cursor = Place(line: start.line, column: min(start.column, lines[start.line].count))
    return .changed
  }

  private mutating func moveVertically(by rows: Int, goal: Int?) -> EditOutcome {
    let starts = rowStarts(of: cursor.line)
    var row = row(of: cursor.column, in: starts)
    let column = goal ?? cells(of: cursor.line, from: starts[row], to: cursor.column)
    var line = cursor.line
    var here = starts
    for _ in 0..<abs(rows) {
      if rows > 0, row + 1 < here.count {
        row += 1
      } else if rows > 0, line + 1 < lines.count {
        line += 1
        here = rowStarts(of: line)
        row = 0
      } else if rows < 0, row > 0 {
        row -= 1
      } else if rows < 0, line > 0 {
        line -= 1
        here = rowStarts(of: line)
        row = here.count - 1
      } else {
        break
      }
    }
    cursor = Place(line: line, column: self.column(of: line, row: row, starts: here, cells: column))
    goalColumn = column
    return .moved
  }
}
