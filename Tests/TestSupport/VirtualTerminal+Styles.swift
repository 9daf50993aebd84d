extension VirtualTerminal {
  /// The column ranges of each run of a row that is not plain, with the parameters that produce it.
  package static func styles(of row: [Cell]) -> String {
    var text = ""
    var start = 0
    for column in 1...row.count where column == row.count || row[column].pen != row[start].pen {
      if row[start].pen != Pen() { text += " \(start)-\(column - 1)[\(row[start].pen)]" }
      start = column
    }
    return text
  }
}
