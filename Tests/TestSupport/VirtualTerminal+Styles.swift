extension VirtualTerminal {
  /// The column ranges of each run of a row that is not plain, with the parameters that produce it.
  ///
  /// Of an empty cell, only what one sees counts; between two words in one style, it is part of
  /// their run.
  package static func styles(of row: [Cell]) -> String {
    let pens = visiblePens(of: row)
    var text = ""
    var start = 0
    for column in 1...row.count where column == row.count || pens[column] != pens[start] {
      if pens[start] != Pen() { text += " \(start)-\(column - 1)[\(pens[start])]" }
      start = column
    }
    return text
  }

  private static func visiblePens(of row: [Cell]) -> [Pen] {
    var pens = row.map(\.pen)
    var column = 0
    while column < row.count {
      var end = column
      while end < row.count, row[end].isEmpty, pens[end].erased == pens[column].erased { end += 1 }
      let empty = pens[column].erased
      let before = column > 0 ? pens[column - 1] : empty
      let isInside = end < row.count && before == pens[end] && before.erased == empty
      for index in column..<end { pens[index] = isInside && !before.isVisible ? before : empty }
      column = max(end, column + 1)
    }
    return pens
  }
}

extension VirtualTerminal.Cell {
  /// Whether one sees nothing in it but its background.
  fileprivate var isEmpty: Bool { text == " " && !pen.isVisible }
}
