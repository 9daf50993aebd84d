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
      let (new, before) = (row(number), old.row(number))
      if new == before { continue }
      // Both screens have the same size, so a cell has the same index in both.
      var index = new.startIndex
      while index < new.endIndex {
        guard new[index] != before[index] else {
          index += 1
          continue
        }
        let start = new[index].isContinuation ? index - 1 : index
        while index < new.endIndex, new[index] != before[index] || new[index].isContinuation {
          index += 1
        }
        let change = ScreenChange(
          row: number,
          column: start - new.startIndex,
          cells: Array(new[start..<index])
        )
        changes.append(change)
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
