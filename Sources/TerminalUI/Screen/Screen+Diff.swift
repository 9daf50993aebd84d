extension Screen {
  /// The runs of cells that differ from an older screen; everything if the sizes differ.
  ///
  /// - Complexity: O(n) in the number of cells.
  package func diff(from old: Screen) -> [ScreenChange] {
    guard old.size == size else {
      return (0..<size.height).compactMap { number in
        let cells = row(number)
        return cells.isEmpty ? nil : ScreenChange(row: number, column: 0, cells: Array(cells))
      }
    }
    var changes: [ScreenChange] = []
    for number in 0..<size.height {
      let new = Array(row(number))
      let before = Array(old.row(number))
      if new == before { continue }
      var column = 0
      while column < size.width {
        guard new[column] != before[column] else {
          column += 1
          continue
        }
        let start = new[column].isContinuation ? column - 1 : column
        while column < size.width, new[column] != before[column] || new[column].isContinuation {
          column += 1
        }
        let cells = Array(new[start..<column])
        changes.append(ScreenChange(row: number, column: start, cells: cells))
      }
    }
    return changes
  }

  /// The screen as lines of text, for comparing it with a text kept in a file.
  ///
  /// - Parameter trimsTrailingBlanks: Whether blanks at the end of each row are left out.
  /// - Returns: One line for each row, separated by newlines, without styles.
  package func text(trimsTrailingBlanks: Bool = true) -> String {
    var lines: [String] = []
    for number in 0..<size.height {
      var cells = row(number)
      while trimsTrailingBlanks, let last = cells.last, last.text == " " { cells.removeLast() }
      lines.append(cells.reduce(into: "") { $0 += $1.text })
    }
    return lines.joined(separator: "\n")
  }
}
