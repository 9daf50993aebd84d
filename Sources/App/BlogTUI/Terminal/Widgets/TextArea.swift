/// The state of a multi-line editor with soft wrapping: its text, the cursor and the view.
///
/// Lines are stored separately, and of the cursor's line only the rows around a change are broken
/// anew, so that a key costs no more in a long text, and a paste no more than its own length. The
/// top of the view is stored as a line and a row within that line.
package struct TextArea: Hashable, Sendable {
  /// A location between characters: before the character with that index in the line.
  struct Location: Hashable, Comparable, Sendable {
    var line: Int
    var column: Int

    static func < (left: Location, right: Location) -> Bool {
      (left.line, left.column) < (right.line, right.column)
    }
  }

  /// The largest number of characters that the editor accepts, including newlines.
  package let limit: Int
  /// The number of characters, including newlines.
  package private(set) var count = 0
  /// The length of the text in UTF-16 code units, including newlines.
  package private(set) var utf16Count = 0

  var lines: [[Character]] = [[]]
  var cursor = Location(line: 0, column: 0)
  var size = Size(width: 1, height: 1)
  var topLine = 0
  var topRow = 0
  /// Where the rows of a line begin: that of the cursor, except during a change.
  private var wrapped: Wrapped?
  private var killed: [Character] = []
  private var goalColumn: Int?
  private var history = UndoHistory<Snapshot>()

  private struct Wrapped: Hashable, Sendable {
    let line: Int
    var starts: [Int]
  }

  /// What an editing step can change; unchanged lines are shared.
  private struct Snapshot: Hashable, Sendable {
    let lines: [[Character]]
    let cursor: Location
    let count: Int
    let utf16Count: Int
  }

  /// Makes an editor with the cursor at the end of its text.
  package init(text: String = "", limit: Int = .max) {
    self.limit = max(0, limit)
    setText(text)
  }

  private var snapshot: Snapshot {
    Snapshot(lines: lines, cursor: cursor, count: count, utf16Count: utf16Count)
  }

  package var text: String { lines.map { String($0) }.joined(separator: "\n") }
  package var isEmpty: Bool { count == 0 }

  /// Replaces the text and puts the cursor at its end.
  package mutating func setText(_ text: String) { setText(EditorText.characters(of: text)) }

  mutating func setText(_ characters: [Character]) {
    lines = [[]]
    wrapped = nil
    count = 0
    utf16Count = 0
    cursor = Location(line: 0, column: 0)
    topLine = 0
    topRow = 0
    goalColumn = nil
    history = UndoHistory()
    _ = insert(characters)
    reveal()
  }

  /// Replaces the text by one from elsewhere, as a step that can be undone.
  mutating func replaceText(with text: String) {
    replaceText(with: EditorText.characters(of: text))
  }

  mutating func replaceText(with characters: [Character]) {
    let before = snapshot
    var steps = history
    setText(characters)
    if lines != before.lines { steps.record(before, as: .whole) }
    history = steps
  }

  /// Sets the size of the editor; the cursor stays in view.
  package mutating func resize(to size: Size) {
    let new = Size(width: max(1, size.width), height: max(1, size.height))
    guard new != self.size else { return }
    if new.width != self.size.width { (topRow, wrapped) = (0, nil) }
    self.size = new
    reveal()
  }

  /// Edits with the usual keys, including those of readline; Enter begins a new line.
  ///
  /// Pasted text is cut off at the limit.
  package mutating func handle(_ key: KeyEvent) -> EditOutcome {
    EditCommand(key).map { handle($0) } ?? .ignored
  }

  /// Carries out a command, which inserts these characters instead of its own if there are any.
  mutating func handle(_ command: EditCommand, with typed: [Character]? = nil) -> EditOutcome {
    // A state that nothing keeps would only make each key copy its line.
    let before = command.step.map { history.begins($0) } == true ? snapshot : nil
    let outcome = perform(command, with: typed)
    if outcome == .changed, let step = command.step {
      history.record(before, as: step)
    } else if outcome == .moved {
      history.interrupt()
    }
    reveal()
    return outcome
  }

  /// Puts the cursor before the character that is drawn in a cell, or as near to it as possible.
  ///
  /// The position counts from the top left of the text.
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
    cursor = Location(line: line, column: column)
    reveal()
  }

  /// Replaces the characters between one of the cursor's line and the cursor, in one step.
  ///
  /// Nothing happens if the text would become longer than the limit.
  mutating func replace(from column: Int, with text: String) {
    guard column <= cursor.column, count - (cursor.column - column) + text.count <= limit else {
      return
    }
    let before = snapshot
    goalColumn = nil
    _ = remove(to: location(column), keeps: false)
    _ = insert(EditorText.characters(of: text))
    history.record(before, as: .whole)
    reveal()
  }

  private mutating func perform(
    _ command: EditCommand,
    with typed: [Character]?
  ) -> EditOutcome {
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
      return insert(typed ?? EditorText.characters(of: text))
    case .newline:
      return insert(["\n"])
    case .yank:
      return insert(killed)
    case .undo:
      return restore(history.undo(from: snapshot))
    case .redo:
      return restore(history.redo(from: snapshot))
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

  private func destination(of command: EditCommand) -> Location {
    let line = lines[cursor.line]
    let column = cursor.column
    switch command {
    case .left, .deleteBefore:
      return column > 0 ? location(column - 1) : endOfPreviousLine
    case .right, .deleteAfter:
      return column < line.count ? location(column + 1) : startOfNextLine
    case .wordLeft, .killWordBefore:
      return column > 0
        ? location(EditorText.wordStart(before: column, in: line)) : endOfPreviousLine
    case .killBlankSeparatedBefore:
      return column > 0
        ? location(EditorText.blankSeparatedStart(before: column, in: line)) : endOfPreviousLine
    case .wordRight, .killWordAfter:
      return column < line.count
        ? location(EditorText.wordEnd(after: column, in: line)) : startOfNextLine
    case .killToLineEnd:
      return column < line.count ? location(line.count) : startOfNextLine
    case .lineStart, .killToLineStart:
      return location(0)
    case .lineEnd:
      return location(line.count)
    case .textStart:
      return Location(line: 0, column: 0)
    case .textEnd:
      return Location(line: lines.count - 1, column: lines[lines.count - 1].count)
    case .insert, .newline, .up, .down, .pageUp, .pageDown, .yank, .undo, .redo:
      return cursor
    }
  }

  private static func units(of characters: some Sequence<Character>) -> Int {
    characters.reduce(0) { $0 + $1.utf16.count }
  }

  /// Replaces a range of the cursor's line, and puts the cursor behind the new characters.
  private mutating func replace(_ range: Range<Int>, with new: some Collection<Character>) {
    let old = lines[cursor.line].count
    // The characters beside the range may be joined with others; those further away stay.
    let first = max(0, range.lowerBound - 1)
    let rest = old - min(old, range.upperBound + 1)
    utf16Count -= Self.units(of: lines[cursor.line][first..<old - rest])
    cursor.column = EditorText.replace(range, of: &lines[cursor.line], with: new)
    let shift = lines[cursor.line].count - old
    utf16Count += Self.units(of: lines[cursor.line][first..<old + shift - rest])
    count += shift
    rewrap(from: first, shift: shift)
  }

  /// Breaks the cursor's line anew, from the row above a change to where its rows are as before.
  private mutating func rewrap(from column: Int, shift: Int) {
    guard let old = wrapped, old.line == cursor.line else { return wrapped = nil }
    wrapped = nil
    // A word that has become shorter may fit into the row above.
    let row = max(0, row(of: column, in: old.starts) - 1)
    let end = cursor.column
    var next = row + 1
    var same: ArraySlice<Int> = []
    let new = rowStarts(of: cursor.line, from: old.starts[row]) { start in
      while next < old.starts.count, old.starts[next] + shift < start { next += 1 }
      guard start >= end, next < old.starts.count, old.starts[next] + shift == start else {
        return false
      }
      same = old.starts[(next + 1)...]
      return true
    }
    let starts = old.starts[..<row] + new + same.map { $0 + shift }
    wrapped = Wrapped(line: cursor.line, starts: Array(starts))
  }

  private mutating func restore(_ snapshot: Snapshot?) -> EditOutcome {
    guard let snapshot else { return .moved }
    lines = snapshot.lines
    wrapped = nil
    cursor = snapshot.cursor
    count = snapshot.count
    utf16Count = snapshot.utf16Count
    return .changed
  }

  private func location(_ column: Int) -> Location { Location(line: cursor.line, column: column) }

  private var endOfPreviousLine: Location {
    guard cursor.line > 0 else { return cursor }
    return Location(line: cursor.line - 1, column: lines[cursor.line - 1].count)
  }

  private var startOfNextLine: Location {
    guard cursor.line + 1 < lines.count else { return cursor }
    return Location(line: cursor.line + 1, column: 0)
  }

  private mutating func insert(_ characters: [Character]) -> EditOutcome {
    let accepted = characters.prefix(max(0, limit - count))
    guard !accepted.isEmpty else { return .moved }
    let pieces = accepted.split(separator: "\n", omittingEmptySubsequences: false)
    if pieces.count > 1, let first = pieces.first, let last = pieces.last {
      let old = lines[cursor.line]
      var begun = Array(old[..<cursor.column])
      _ = EditorText.replace(begun.count..<begun.count, of: &begun, with: first)
      var ended = Array(old[cursor.column...])
      let column = EditorText.replace(0..<0, of: &ended, with: last)
      let new = [begun] + pieces.dropFirst().dropLast().map { Array($0) } + [ended]
      count += new.reduce(new.count - 1) { $0 + $1.count } - old.count
      utf16Count += new.reduce(new.count - 1) { $0 + Self.units(of: $1) } - Self.units(of: old)
      lines.replaceSubrange(cursor.line...cursor.line, with: new)
      wrapped = nil
      cursor = Location(line: cursor.line + new.count - 1, column: column)
    } else {
      replace(cursor.column..<cursor.column, with: accepted)
    }
    return .changed
  }

  private mutating func remove(to location: Location, keeps: Bool) -> EditOutcome {
    let start = min(cursor, location)
    let end = max(cursor, location)
    guard start < end else { return .moved }
    cursor = start
    guard start.line < end.line else {
      if keeps { killed = Array(lines[start.line][start.column..<end.column]) }
      replace(start.column..<end.column, with: EmptyCollection())
      cursor.column = min(start.column, lines[start.line].count)
      return .changed
    }
    // Only adjacent lines are ever joined, since no key removes more than one newline.
    let below = lines.remove(at: end.line)
    wrapped = nil
    let range = start.column..<lines[start.line].count
    if keeps { killed = Array(lines[start.line][range]) + ["\n"] + below[..<end.column] }
    // The characters of the line below are counted already; the newline is gone.
    count -= below.count + 1
    utf16Count -= Self.units(of: below) + 1
    replace(range, with: below[end.column...])
    cursor.column = min(start.column, lines[start.line].count)
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
    cursor = Location(
      line: line,
      column: self.column(of: line, row: row, starts: here, cells: column)
    )
    goalColumn = column
    return .moved
  }
}

extension TextArea {
  func rowStarts(of line: Int) -> [Int] {
    if let wrapped, wrapped.line == line { return wrapped.starts }
    return rowStarts(of: line, from: 0) { _ in false }
  }

  /// Where rows begin, from one of them to the first for which the closure returns true.
  private func rowStarts(of line: Int, from first: Int, until isLast: (Int) -> Bool) -> [Int] {
    let characters = lines[line]
    return LineBreaker.lineStarts(
      in: first..<characters.count,
      width: size.width,
      until: isLast
    ) { index in
      (TextWidth.width(of: characters[index]), characters[index] == " ")
    }
  }

  /// The row of a line that shows the cursor when it is before that character.
  func row(of column: Int, in starts: [Int]) -> Int {
    (starts.firstIndex { $0 > column } ?? starts.count) - 1
  }

  /// The number of cells between two locations in one line.
  func cells(of line: Int, from start: Int, to end: Int) -> Int {
    lines[line][start..<max(start, end)].reduce(0) { $0 + TextWidth.width(of: $1) }
  }

  /// The character of a row that is nearest to that many cells from the left edge.
  func column(of line: Int, row: Int, starts: [Int], cells goal: Int) -> Int {
    let isLast = row + 1 == starts.count
    let end = isLast ? lines[line].count : starts[row + 1] - 1
    var column = starts[row]
    var used = 0
    while column < end {
      used += TextWidth.width(of: lines[line][column])
      if used > goal { break }
      column += 1
    }
    return column
  }

  /// Scrolls as little as needed to keep the cursor in view and no space unused below the text.
  mutating func reveal() {
    wrapped = Wrapped(line: cursor.line, starts: rowStarts(of: cursor.line))
    let cursorRow = row(of: cursor.column, in: rowStarts(of: cursor.line))
    if (cursor.line, cursorRow) < (topLine, topRow) || topLine >= lines.count {
      (topLine, topRow) = (cursor.line, cursorRow)
    }
    // The view may begin no earlier than a screenful above the cursor.
    let first = topLine(rows: size.height - 1, above: (cursor.line, cursorRow))
    if first > (topLine, topRow) { (topLine, topRow) = first }
    let missing = size.height - rowCount(upTo: size.height, from: (topLine, topRow))
    if missing > 0 { (topLine, topRow) = topLine(rows: missing, above: (topLine, topRow)) }
  }

  /// The row that is the given number of rows above another, or the first one.
  private func topLine(rows: Int, above start: (Int, Int)) -> (Int, Int) {
    var (line, row) = start
    var left = rows
    while left > row && line > 0 {
      left -= row + 1
      line -= 1
      row = rowStarts(of: line).count - 1
    }
    return (line, max(0, row - left))
  }

  /// The number of rows that the text takes at the current width, up to a limit.
  ///
  /// - Complexity: O(n) in the length of the lines up to that limit
  func height(upTo limit: Int) -> Int { min(limit, rowCount(upTo: limit, from: (0, 0))) }

  /// The number of rows from the given one to the end; counting stops at about the limit.
  private func rowCount(upTo limit: Int, from start: (Int, Int)) -> Int {
    var line = start.0
    var count = -start.1
    while count < limit, line < lines.count {
      count += rowStarts(of: line).count
      line += 1
    }
    return count
  }

  /// The text of the lines in view, and of some lines before them.
  ///
  /// Both are cut so that a long text takes no longer than a short one.
  func excerpt(of rows: Int) -> (before: String, shown: String) {
    var (first, left) = (topLine, 4_000)
    while first > 0, lines[first - 1].count < left {
      first -= 1
      left -= lines[first].count + 1
    }
    var (shown, room) = ([String](), 5_000)
    for line in lines[topLine...].prefix(max(0, rows)) where room > 0 {
      shown.append(String(line.prefix(room)))
      room -= line.count + 1
    }
    let before = lines[first..<topLine].map { String($0) }
    return (before.joined(separator: "\n"), shown.joined(separator: "\n"))
  }

  /// Draws the rows in view from the top of a rectangle of the size given to ``resize(to:)``.
  ///
  /// The style is that of the whole rectangle. The placeholder is shown while the text is empty,
  /// and the screen's cursor is placed at the editor's if that is focused.
  package func draw(
    on screen: inout Screen,
    in rect: Rect,
    style: Style = .plain,
    placeholder: SafeText = .empty,
    isFocused: Bool = true
  ) {
    screen.fill(rect, style: style)
    if isEmpty { screen.put(placeholder, in: rect.line(0), style: style.with(.dim)) }
    var offset = 0
    var line = topLine
    while offset < rect.height, line < lines.count {
      let starts = rowStarts(of: line)
      for row in starts.indices where line > topLine || row >= topRow {
        guard offset < rect.height else { break }
        let end = row + 1 < starts.count ? starts[row + 1] : lines[line].count
        let shown = EditorText.shown(lines[line][starts[row]..<end])
        let area = rect.line(offset)
        screen.put(shown, at: area.origin, style: style, clip: area)
        if isFocused, !area.isEmpty, line == cursor.line,
          row == self.row(of: cursor.column, in: starts)
        {
          let column = cells(of: line, from: starts[row], to: cursor.column)
          let cell = area.column + min(column, area.width - 1)
          screen.cursor = Position(row: area.row, column: cell)
        }
        offset += 1
      }
      line += 1
    }
  }
}
